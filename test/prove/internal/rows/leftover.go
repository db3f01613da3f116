package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// tested is what a run of tests has told.
type tested struct {
	packages             map[string]bool
	failed               []string
	passed, races, leaks int
}

func tally(out []byte) (tested, error) {
	t := tested{packages: map[string]bool{}}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(line, &e); err != nil {
			return t, err
		}
		switch {
		case e.Action == "output":
			t.races += strings.Count(e.Output, "WARNING: DATA RACE")
			t.leaks += strings.Count(e.Output, "goroutines are left over") + strings.Count(e.Output, "found unexpected goroutines")
		case e.Test == "" && (e.Action == "pass" || e.Action == "fail"):
			t.packages[e.Package] = true
		case e.Action == "pass":
			t.passed++
		case e.Action == "fail":
			t.failed = append(t.failed, e.Package+" "+e.Test)
		}
	}
	return t, nil
}

// inProduction is what differs from the settings of the running system.
var inProduction = map[string]string{
	"ENV": "production", "WEBHOOK_ALLOW_PRIVATE": "false", "FEDERATION_ALLOW_PRIVATE": "false", "HUB_URL": "https://hub.example", "API_URL": "https://api.example",
	"HLS_URL": "https://video.example", "QUOTE_CONFIRM_AFTER": "5s",
	"IDP_LOGIN_URL": "https://idp.example/login",
	"IDP_PROVIDERS": `[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"https://idp.example/jwks.json"}]`,
}

// spoiled is one setting that must keep a service from starting.
type spoiled struct {
	service, what, setting string
	production             bool
	value                  func(good map[string]string) string
	also                   map[string]string // further settings without which the case would be another one
}

// good are the settings of the running system, moved to production where the case
// is of there.
func (s spoiled) good(env *frame.Env) (map[string]string, error) {
	process := s.service
	if process == "devidp" {
		process = "idp"
	}
	settings, err := stack.Environment(env.Stack.PID(process))
	if err != nil {
		return nil, err
	}
	// An address of another machine: who gets past its settings fails at once,
	// and otherwise.
	settings["HTTP_ADDR"], settings["METRICS_ADDR"] = "192.0.2.1:1", ""
	if s.production {
		maps.Copy(settings, inProduction)
	}
	return settings, nil
}

// startWith runs a service until it ends and gives its exit code and what it said.
func startWith(ctx context.Context, env *frame.Env, service string, settings map[string]string) (code int, out string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(env.Stack.Bin(), service))
	cmd.Env = []string{}
	for name, value := range settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, string(said), nil // it runs
	case errors.As(err, &exit):
		return exit.ExitCode(), string(said), nil
	}
	return 0, string(said), err
}

const (
	abreast       = 4
	generous      = 5
	atLeast       = 200 * time.Millisecond
	recoverWithin = 12 * time.Second
)
