package app

import (
	"maps"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/config"
)

const canary = "c4narY"

// validEnv returns environment variables that are valid with ENV=production.
func validEnv() map[string]string {
	return map[string]string{
		"ENV":                "production",
		"HTTP_ADDR":          "0.0.0.0:8081",
		"METRICS_ADDR":       "10.0.0.7:9100",
		"DATABASE_URL":       "postgres://api_rw:" + canary + "@db.internal/signalcast",
		"REDIS_URL":          "redis://redis.internal:6379",
		"LINK_SECRET":        "xq7Lr0Vb2mZt9Kc4Wn6Yd1Hs8Pf3Ga5J",
		"MASK_SECRET":        "Mn3Bv5Cx7Zl9Kj1Hg3Fd5Sa7Po9Iu1Yt",
		"HUB_URL":            "https://hub.example",
		"CHECKPOINT_KEY":     "Ck7Ls8Rt5Yp1Nc7Xv4Bz9Kd3Hf6Gj0Mb",
		"WEBHOOK_SECRET_KEY": "Wq2Ls8Rt5Yp1Nc7Xv4Bz9Kd3Hf6Gj0Ma",
		"IDP_PROVIDERS":      `[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"https://idp.example/jwks.json"}]`,
	}
}

// TestUnsetSettings checks that the error for an unset required setting is that it is not set.
func TestUnsetSettings(t *testing.T) {
	t.Parallel()
	_, err := config.LoadFrom[Config](nil)
	if err == nil {
		t.Fatal("the api starts without settings")
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.HasSuffix(line, " is not set") {
			t.Errorf("without settings, an error is %q", line)
		}
	}
}

// TestUnsetEnvironmentMeansProduction checks that the rules for production apply if ENV is not set.
func TestUnsetEnvironmentMeansProduction(t *testing.T) {
	t.Parallel()
	environ := validEnv()
	delete(environ, "ENV")
	environ["IDP_PROVIDERS"] = `[{"name":"m","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://i/j"}]`
	if _, err := config.LoadFrom[Config](environ); err == nil || !strings.Contains(err.Error(), "IDP_PROVIDERS") {
		t.Errorf("development issuer without ENV: got error %v, want one that names IDP_PROVIDERS", err)
	}
}

// TestUnsafeConfigDoesNotStart checks that each invalid or unsafe setting is rejected. The error must contain the name of the
// setting but not its value.
func TestUnsafeConfigDoesNotStart(t *testing.T) {
	t.Parallel()
	if _, err := config.LoadFrom[Config](validEnv()); err != nil {
		t.Fatal(err)
	}
	short := "short-" + canary
	for name, change := range map[string]struct{ setting, value string }{
		"no masking secret":         {"MASK_SECRET", ""},
		"short masking secret":      {"MASK_SECRET", short},
		"no checkpoint key":         {"CHECKPOINT_KEY", ""},
		"no webhook key":            {"WEBHOOK_SECRET_KEY", ""},
		"short webhook key":         {"WEBHOOK_SECRET_KEY", short},
		"private webhook address":   {"WEBHOOK_ALLOW_PRIVATE", "true"},
		"private station address":   {"FEDERATION_ALLOW_PRIVATE", "true"},
		"short admin secret":        {"ADMIN_SECRET", short},
		"short link secret":         {"LINK_SECRET", short},
		"same secret twice":         {"MASK_SECRET", validEnv()["LINK_SECRET"]},
		"hub over http":             {"HUB_URL", "http://" + canary + ".example"},
		"public metrics address":    {"METRICS_ADDR", "0.0.0.0:9100"},
		"unknown environment":       {"ENV", "staging-" + canary},
		"no database":               {"DATABASE_URL", ""},
		"read timeout of zero":      {"DB_READ_TIMEOUT", "0s"},
		"redis over http":           {"REDIS_URL", "http://" + canary},
		"redis timeout too long":    {"REDIS_TIMEOUT", "5.001s"},
		"no identity provider":      {"IDP_PROVIDERS", "[]"},
		"provider over http":        {"IDP_PROVIDERS", `[{"name":"m","issuer":"privy.io","audience":"a","jwksURL":"http://` + canary + `/j"}]`},
		"issuer over http":          {"IDP_PROVIDERS", `[{"name":"m","issuer":"http://` + canary + `","audience":"a"}]`},
		"all addresses are proxies": {"TRUSTED_PROXIES", "::/0"},
		"venue without a scheme":    {"POLYMARKET_CLOB_URL", canary},
		"live prices over https":    {"POLYMARKET_WS_URL", "https://" + canary + ".example"},
		"second venue":              {"KALSHI_URL", canary},
		"third venue":               {"LIMITLESS_URL", "ftp://" + canary},
		"fourth venue":              {"MANIFOLD_URL", "https://" + canary + ":pass@venue.example"},
		"no wait for final results": {"MANIFOLD_WAIT", "0s"},
		"no limit for keys":         {"RATE_LIMIT_KEY", "0"},
		"resolve chunk of zero":     {"RESOLVE_CHUNK", "0"},
		"movement too often":        {"MOVEMENT_EVERY", "500ms"},
		"second quotes off":         {"QUOTE_CONFIRM_AFTER", "off"},
		"price tolerance":           {"PRICE_TOLERANCE_BPS", "100"},
		"no link secret":            {"LINK_SECRET", ""},
		"development issuer":        {"IDP_PROVIDERS", `[{"name":"` + canary + `","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://i/j"}]`},
		"unknown wallet source":     {"IDP_PROVIDERS", `[{"name":"m","issuer":"privy.io","audience":"a","jwksURL":"https://i/j","walletsFrom":"` + canary + `"}]`},
		"movement too seldom":       {"MOVEMENT_EVERY", "10m1s"},
	} {
		environ := maps.Clone(validEnv())
		environ[change.setting] = change.value
		_, err := config.LoadFrom[Config](environ)
		switch {
		case err == nil:
			t.Errorf("%s: configuration accepted; want an error", name)
		case !strings.Contains(err.Error(), change.setting):
			t.Errorf("%s: error %q does not name %s", name, err, change.setting)
		case strings.Contains(err.Error(), canary):
			t.Errorf("%s: error %q contains the value", name, err)
		}
	}
}
