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
		refusedN := 0
		for _, s := range list {
			settings, err := stack.Environment(env.Stack.PID(s.service))
			if err != nil {
				return nil, err
			}
			// An address of another machine: who gets past its settings fails at once,
			// and otherwise.
			settings["HTTP_ADDR"], settings["METRICS_ADDR"] = "192.0.2.1:1", ""
			if s.production {
				maps.Copy(settings, inProduction)
			}
			if code, out, err := startWith(ctx, env, s.service, settings); err != nil || code != 1 {
				return nil, fmt.Errorf("%s with good settings: code %d, %w\n%s", s.service, code, err, out)
			}
			value := s.value(settings)
			settings[s.setting] = value
			code, out, err := startWith(ctx, env, s.service, settings)
			switch {
			case err != nil:
				return nil, err
			case code != 2 || !strings.Contains(out, s.setting):
				seen.Wrong("%s with %s: code %d: %.200s", s.service, s.what, code, out)
			case len(value) > 3 && strings.Contains(out, value):
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

// inProduction is what differs from the settings of the running system.
var inProduction = map[string]string{
	"ENV": "production", "WEBHOOK_ALLOW_PRIVATE": "false", "HUB_URL": "https://hub.example",
	"IDP_PROVIDERS": `[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"https://idp.example/jwks.json"}]`,
}

// spoiled is one setting that must keep a service from starting.
type spoiled struct {
	service, what, setting string
	production             bool
	value                  func(good map[string]string) string
}

func spoilt() []spoiled {
	is := func(v string) func(map[string]string) string { return func(map[string]string) string { return v } }
	like := func(other string) func(map[string]string) string {
		return func(good map[string]string) string { return good[other] }
	}
	const short, random = "Xq7Lr0Vb2m", "Xq7Lr0Vb2mZt9Kc4Wn6Yd1Hs8Pf3Ga5J"
	return []spoiled{
		{"hub", "no admin secret", "ADMIN_SECRET", false, is("")},
		{"hub", "a short admin secret", "ADMIN_SECRET", false, is(short)},
		{"hub", "a short cron secret", "CRON_SECRET", false, is(short)},
		{"hub", "a simple secret", "CRON_SECRET", false, is(strings.Repeat("ab", 20))},
		{"hub", "an example for a secret", "LINK_SECRET", true, is("change-me-" + random)},
		{"hub", "the same secret twice", "CRON_SECRET", false, like("ADMIN_SECRET")},
		{"hub", "two equal session secrets", "SESSION_SECRETS", false, is(random + "," + random)},
		{"hub", "metrics for everybody", "METRICS_ADDR", false, is("0.0.0.0:9100")},
		{"hub", "a plain public address", "HUB_URL", true, is("http://hub.example")},
		{
			"hub", "a provider over plain http", "IDP_PROVIDERS", true,
			is(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`),
		},
		{"hub", "no provider", "IDP_PROVIDERS", false, is("[]")},
		{"hub", "every peer a proxy", "TRUSTED_PROXIES", false, is("0.0.0.0/0")},
		{"hub", "a database of another kind", "DATABASE_URL", false, is("mysql://root:" + short + "@db/x")},
		{"hub", "an unknown place", "ENV", false, is("staging-" + short)},
		{"hub", "a limit below none", "RATE_LIMIT_ANON", false, is("-1")},
		{"api", "a short masking secret", "MASK_SECRET", false, is(short)},
		{"api", "a short key of webhooks", "WEBHOOK_SECRET_KEY", false, is(short)},
		{"api", "webhooks to private addresses", "WEBHOOK_ALLOW_PRIVATE", true, is("true")},
		{"api", "no link secret", "LINK_SECRET", false, is("")},
		{"api", "every peer a proxy", "TRUSTED_PROXIES", false, is("::/0")},
		{
			"api", "a provider over plain http", "IDP_PROVIDERS", true,
			is(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`),
		},
		{"clock", "a short link secret", "LINK_SECRET", false, is(short)},
		{"clock", "every peer a proxy", "TRUSTED_PROXIES", false, is("0.0.0.0/0")},
		{"clock", "metrics for everybody", "METRICS_ADDR", false, is("[::]:9100")},
	}
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
