package rows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// f3 starts the programs themselves with one setting spoilt at a time.
var f3 = frame.Row{
	ID: "F3", Title: "unsafe configuration does not start",
	Fault: frame.Fault{What: "a short secret is good enough"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		list := spoilt()
		list = list[:env.Of(4, len(list), len(list))]
		started, refusedN := map[string]bool{}, 0
		for _, s := range list {
			settings, err := s.good(env)
			if err != nil {
				return nil, err
			}
			if kind := fmt.Sprint(s.service, s.production); !started[kind] {
				started[kind] = true
				if code, out, err := startWith(ctx, env, s.service, settings); err != nil || code != 1 {
					return nil, fmt.Errorf("%s with good settings: code %d, %w\n%s", s.service, code, err, out)
				}
			}
			value := s.value(settings)
			settings[s.setting] = value
			maps.Copy(settings, s.also)
			code, out, err := startWith(ctx, env, s.service, settings)
			switch {
			case err != nil:
				return nil, err
			case code != 2 || !strings.Contains(out, s.setting):
				seen.Wrong("%s with %s: code %d: %.200s", s.service, s.what, code, out)
			case len(value) > 3 && strings.Contains(out, value), strings.Contains(out, canaryWord):
				seen.Wrong("%s with %s shows the value of %s", s.service, s.what, s.setting)
			default:
				refusedN++
			}
		}
		seen.Volume("%d configurations", len(list))
		seen.OutOf(len(list), refusedN)
		return seen, nil
	},
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
