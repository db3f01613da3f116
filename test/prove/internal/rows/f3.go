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

// inProduction is what differs from the settings of the running system.
var inProduction = map[string]string{
	"ENV": "production", "HUB_URL": "https://hub.example",
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

// canaryWord stands in most spoilt values; no message may show it.
const canaryWord = "Xq7Lr0Vb2m"

func spoilt() []spoiled {
	is := func(v string) func(map[string]string) string { return func(map[string]string) string { return v } }
	like := func(other string) func(map[string]string) string {
		return func(good map[string]string) string { return good[other] }
	}
	const short, random = canaryWord, canaryWord + "Zt9Kc4Wn6Yd1Hs8Pf3Ga5J"
	const development = `[{"name":"main","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://idp.example/jwks.json"}]`
	return []spoiled{
		{"hub", "no admin secret", "ADMIN_SECRET", false, is(""), nil},
		{"hub", "a short admin secret", "ADMIN_SECRET", false, is(short), nil},
		{"hub", "a short cron secret", "CRON_SECRET", false, is(short), nil},
		{"hub", "a simple secret", "CRON_SECRET", false, is(strings.Repeat("ab", 20)), nil},
		{"hub", "an example for a secret", "LINK_SECRET", true, is("change-me-" + random), nil},
		{"hub", "the same secret twice", "CRON_SECRET", false, like("ADMIN_SECRET"), nil},
		{"hub", "two equal session secrets", "SESSION_SECRETS", false, is(random + "," + random), nil},
		{"hub", "metrics for everybody", "METRICS_ADDR", false, is("0.0.0.0:9100"), nil},
		{"hub", "a plain public address", "HUB_URL", true, is("http://hub.example"), nil},
		{
			"hub", "a provider over plain http", "IDP_PROVIDERS", true,
			is(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`), nil,
		},
		{"hub", "no provider", "IDP_PROVIDERS", false, is("[]"), nil},
		{"hub", "every peer a proxy", "TRUSTED_PROXIES", false, is("0.0.0.0/0"), nil},
		{"hub", "a database of another kind", "DATABASE_URL", false, is("mysql://root:" + short + "@db/x"), nil},
		{"hub", "an unknown place", "ENV", false, is("staging-" + short), nil},
		{"hub", "a limit below none", "RATE_LIMIT_ANON", false, is("-1"), nil},
		{"api", "a short masking secret", "MASK_SECRET", false, is(short), nil},
		{"api", "no link secret", "LINK_SECRET", false, is(""), nil},
		{"api", "every peer a proxy", "TRUSTED_PROXIES", false, is("::/0"), nil},
		{
			"api", "a provider over plain http", "IDP_PROVIDERS", true,
			is(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`), nil,
		},
		{"hub", "no successor secret", "SUCCESSOR_SECRETS", false, is(""), nil},
		{"hub", "one short successor secret", "SUCCESSOR_SECRETS", false, is(random + "," + short), nil},
		{"hub", "successors from the session's secret", "SUCCESSOR_SECRETS", false, like("SESSION_SECRETS"), nil},
		{"hub", "no hub key", "HUB_KEYS", false, is("[]"), nil},
		{"hub", "a hub key that is none", "HUB_KEYS", false, is(`[{"seed":"` + random + `","notBefore":"2026-01-01T00:00:00Z"}]`), nil},
		{"hub", "a partner that is no word", "PARTNER_STATION", false, is("A " + short), nil},
		{"hub", "a partner over plain http", "PARTNER_PROFILE_URL", false, is("http://" + short + ".example/u/"), nil},
		{"hub", "a chain below 0", "PAYOUT_CHAIN_ID", false, is("-8453"), nil},
		{"hub", "a chain without a name", "PAYOUT_CHAIN_ID", false, is("8453"), nil},
		{
			"hub", "a token that is no address", "PAYOUT_USDC_ADDRESS", false, is("0x" + short),
			map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base"},
		},
		{"hub", "a mail server of another kind", "DIGEST_SMTP_URL", false, is("https://user:" + short + "@mail.example"), nil},
		{"hub", "nobody to write to", "DIGEST_SMTP_URL", false, is("smtps://user:" + short + "@mail.example"), nil},
		{
			"hub", "a sender that is no address", "DIGEST_FROM", false, is(short + "@"),
			map[string]string{"DIGEST_SMTP_URL": "smtps://mail.example", "DIGEST_TO": "a@example.org"},
		},
		{
			"hub", "a recipient that is no address", "DIGEST_TO", false, is("a@example.org," + short),
			map[string]string{"DIGEST_SMTP_URL": "smtps://mail.example", "DIGEST_FROM": "a@example.org"},
		},
		{"hub", "the development issuer in production", "IDP_PROVIDERS", true, is(development), nil},
		{"hub", "a provider with an unknown member", "IDP_PROVIDERS", false, is(`[{"name":"main","usersSecret":"` + short + `","` + random + `":1}]`), nil},
		{"hub", "a provider whose secret is no text", "IDP_PROVIDERS", false, is(`[{"name":"main","usersSecret":` + short + `}]`), nil},
		{"hub", "a sign-in page over plain http", "IDP_LOGIN_URL", true, is("http://" + short + ".example/login"), nil},
		{"hub", "a long retry of refresh tokens", "REFRESH_RETRY", false, is("1h"), nil},
		{"api", "the development issuer in production", "IDP_PROVIDERS", true, is(development), nil},
		{"api", "a provider of unknown wallets", "IDP_PROVIDERS", false, is(strings.Replace(development, `"jwks`, `"usersSecret":"`+short+`","walletsFrom":"`+short+`","jwks`, 1)), nil},
		{"devidp", "the issuer itself in production", "ENV", false, is("production"), nil},
		{"devidp", "the issuer beside a real one", "PRIVY_APP_SECRET", false, is(random), nil},
		{"clock", "a short link secret", "LINK_SECRET", false, is(short), nil},
		{"clock", "every peer a proxy", "TRUSTED_PROXIES", false, is("0.0.0.0/0"), nil},
		{"clock", "metrics for everybody", "METRICS_ADDR", false, is("[::]:9100"), nil},
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
