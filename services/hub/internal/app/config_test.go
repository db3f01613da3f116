package app

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/config"
)

const canary = "c4narY"

// good returns environment variables with which the hub starts in production.
func good() map[string]string {
	return map[string]string{
		"ENV":               "production",
		"HTTP_ADDR":         "0.0.0.0:8080",
		"METRICS_ADDR":      "10.0.0.7:9100",
		"DATABASE_URL":      "postgres://hub_rw:" + canary + "@db.internal/signalcast",
		"REDIS_URL":         "redis://redis.internal:6379",
		"LINK_SECRET":       "xq7Lr0Vb2mZt9Kc4Wn6Yd1Hs8Pf3Ga5J",
		"API_ADDR":          "api.internal:9081",
		"HUB_URL":           "https://hub.example",
		"SESSION_SECRETS":   "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv,Zy9Xw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe",
		"SUCCESSOR_SECRETS": "Hs4Kd9Lw2Qz7Xv1Bn6Mt3Rf8Yc5Pg0Ja,Tj8Ub3Xe6Vw1Oq9Sk4Dn7Fm2Hr5Gz0Li",
		"HUB_KEYS":          `[{"seed":"4f1c9ad27be03658e1d4a7b09c3f62855d0e7a41b8c9f2e6370d5a4b1c8e9f07","notBefore":"2026-01-01T00:00:00Z"}]`,
		"ADMIN_SECRET":      "Mn3Bv5Cx7Zl9Kj1Hg3Fd5Sa7Po9Iu1Yt",
		"CRON_SECRET":       "Qw2Er4Ty6Ui8Op0As2Df4Gh6Jk8Lz0Xc",
		"IDP_PROVIDERS":     `[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"https://idp.example/jwks.json"}]`,
	}
}

// load reads the configuration from the variables of good with some of them changed.
func load(changes map[string]string) (Config, error) {
	environ := good()
	maps.Copy(environ, changes)
	return config.LoadFrom[Config](environ)
}

func TestGoodConfig(t *testing.T) {
	t.Parallel()
	cfg, err := load(nil)
	must(t, err)
	if len(cfg.Sessions) != 2 || cfg.PerAddr != 600 || cfg.Replicas != 1 || cfg.Social != "farcaster" || len(cfg.Videos) != 0 {
		t.Errorf("%+v", cfg)
	}
	if !cfg.Env.SecureCookies() {
		t.Error("cookies of production are not Secure")
	}
	for name, changes := range map[string]map[string]string{
		"payouts":     {"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base", "PAYOUT_USDC_ADDRESS": wallet},
		"mail":        {"DIGEST_SMTP_URL": "smtps://u:p@mail.example", "DIGEST_FROM": "a@b.example", "DIGEST_TO": "c@d.example,e@f.example"},
		"user mail":   {"MAIL_SMTP_URL": "smtps://u:p@mail.example", "MAIL_FROM": "Signalcast <a@b.example>"},
		"web push":    {"WEBPUSH_PRIVATE_KEY": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAc"},
		"origin":      {"ORIGIN_LISTEN": "127.0.0.1:0", "ORIGIN_DIR": "/x", "HLS_URL": "https://video.example"},
		"rtmp":        {"INGEST_PROVIDER": "rtmp", "RTMP_URL": "rtmp://ingest.example/live"},
		"livepeer":    {"INGEST_PROVIDER": "livepeer", "LIVEPEER_API_KEY": providerKey},
		"mux":         {"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x", "MUX_TOKEN_SECRET": providerKey},
		"no provider": {"INGEST_PROVIDER": "none"},
	} {
		if _, err := load(changes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnsetSettings checks that the error for an unset required setting is that it is not set.
func TestUnsetSettings(t *testing.T) {
	t.Parallel()
	_, err := config.LoadFrom[Config](nil)
	if err == nil {
		t.Fatal("the hub starts without settings")
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.HasSuffix(line, " is not set") {
			t.Errorf("without settings, an error is %q", line)
		}
	}
}

// TestUnsetEnvironmentMeansProduction checks that without ENV the hub refuses settings that only development permits.
func TestUnsetEnvironmentMeansProduction(t *testing.T) {
	t.Parallel()
	environ := good()
	delete(environ, "ENV")
	environ["IDP_PROVIDERS"] = `[{"name":"m","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://i/j"}]`
	if _, err := config.LoadFrom[Config](environ); err == nil || !strings.Contains(err.Error(), "IDP_PROVIDERS") {
		t.Errorf("the development issuer without ENV: %v, want a refusal that names IDP_PROVIDERS", err)
	}
}

const providerKey = "0123456789abcdef0123456789abcdef0123456789abcdef"

// TestUnsafeConfigDoesNotStart checks that each invalid setting is refused with an error that contains its name. The error must
// not contain the value of the setting.
func TestUnsafeConfigDoesNotStart(t *testing.T) {
	t.Parallel()
	short := "short-" + canary
	smtp := map[string]string{"DIGEST_SMTP_URL": "smtps://mail.example", "DIGEST_TO": "a@example.org", "DIGEST_FROM": "b@example.org"}
	for name, change := range map[string]struct {
		setting, value string
		more           map[string]string // other settings that the case needs
	}{
		"no hub keys":                   {"HUB_KEYS", "", nil},
		"a hub key of another form":     {"HUB_KEYS", `[{"seed":"` + canary + `","notBefore":"2026-01-01T00:00:00Z"}]`, nil},
		"a live feed over plain http":   {"API_URL", "http://" + canary + ".example", nil},
		"a clock over plain http":       {"CLOCK_URL", "http://" + canary + ".example", nil},
		"no admin secret":               {"ADMIN_SECRET", "", nil},
		"no cron secret":                {"CRON_SECRET", "", nil},
		"no link secret":                {"LINK_SECRET", "", nil},
		"no session secret":             {"SESSION_SECRETS", "", nil},
		"short admin secret":            {"ADMIN_SECRET", short, nil},
		"short cron secret":             {"CRON_SECRET", short, nil},
		"short link secret":             {"LINK_SECRET", short, nil},
		"one short session secret":      {"SESSION_SECRETS", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv," + short, nil},
		"an empty session secret":       {"SESSION_SECRETS", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv,", nil},
		"no successor secret":           {"SUCCESSOR_SECRETS", "", nil},
		"one short successor secret":    {"SUCCESSOR_SECRETS", "Hs4Kd9Lw2Qz7Xv1Bn6Mt3Rf8Yc5Pg0Ja," + short, nil},
		"successor secret is session's": {"SUCCESSOR_SECRETS", "Zy9Xw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe", nil},
		"a long refresh retry":          {"REFRESH_RETRY", "1h", nil},
		"a negative refresh retry":      {"REFRESH_RETRY", "-1s", nil},
		"simple secret":                 {"ADMIN_SECRET", strings.Repeat("ab", 20), nil},
		"example secret":                {"ADMIN_SECRET", "change-me-change-me-" + canary + "-change-me", nil},
		"same secret twice":             {"CRON_SECRET", good()["ADMIN_SECRET"], nil},
		"session secret is link's":      {"SESSION_SECRETS", good()["LINK_SECRET"], nil},
		"session secrets are equal":     {"SESSION_SECRETS", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv,Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv", nil},
		"plain http base":               {"HUB_URL", "http://" + canary + ".example", nil},
		"base with a path":              {"HUB_URL", "https://hub.example/" + canary, nil},
		"contact without a scheme":      {"SECURITY_CONTACT", canary + "@hub.example", nil},
		"contact over http":             {"SECURITY_CONTACT", "http://" + canary + ".example", nil},
		"no base":                       {"HUB_URL", "", nil},
		"base with a dot at its end":    {"HUB_URL", "https://" + canary + ".example.", nil},
		"metrics on all interfaces":     {"METRICS_ADDR", "0.0.0.0:9100", nil},
		"metrics on any interface":      {"METRICS_ADDR", ":9100", nil},
		"unknown environment":           {"ENV", "staging-" + canary, nil},
		"no database":                   {"DATABASE_URL", "", nil},
		"no time for reads":             {"DB_READ_TIMEOUT", "0s", nil},
		"database of another kind":      {"DATABASE_URL", "mysql://root:" + canary + "@db/x", nil},
		"no redis":                      {"REDIS_URL", "", nil},
		"no ledger":                     {"API_ADDR", "", nil},
		"ledger without a port":         {"API_ADDR", canary, nil},
		"no identity provider":          {"IDP_PROVIDERS", "[]", nil},
		"provider over http":            {"IDP_PROVIDERS", `[{"name":"m","issuer":"privy.io","audience":"a","jwksURL":"http://` + canary + `/j"}]`, nil},
		"the development issuer":        {"IDP_PROVIDERS", `[{"name":"` + canary + `","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://i/j"}]`, nil},
		"provider with a bad member":    {"IDP_PROVIDERS", `[{"name":"m","usersSecret":"` + canary + `","` + canary + `":1}]`, nil},
		"sign-in page over http":        {"IDP_LOGIN_URL", "http://" + canary + ".example/login", nil},
		"no mail address to write to":   {"DIGEST_SMTP_URL", "smtps://u:" + canary + "@mail.example", nil},
		"negative limit":                {"RATE_LIMIT_ANON", "-1", nil},
		"no replicas":                   {"REPLICAS", "0", nil},
		"every address is a proxy":      {"TRUSTED_PROXIES", "10.0.0.0/8,0.0.0.0/0", nil},
		"proxies that are no CIDR":      {"TRUSTED_PROXIES", canary, nil},
		"partners at private addresses": {"FEDERATION_ALLOW_PRIVATE", "true", nil},
		"partner name with a space":     {"PARTNER_STATION", "A " + canary, nil},
		"partner over plain http":       {"PARTNER_PROFILE_URL", "http://" + canary + ".example/u/", nil},
		"chain below 0":                 {"PAYOUT_CHAIN_ID", "-8453", nil},
		"chain without a name":          {"PAYOUT_CHAIN_ID", "8453", map[string]string{"PAYOUT_CHAIN_LABEL": ""}},
		"token address of another form": {"PAYOUT_USDC_ADDRESS", "0x" + canary, map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base"}},
		"mail server of another kind":   {"DIGEST_SMTP_URL", "https://user:" + canary + "@mail.example", smtp},
		"mail without a recipient":      {"DIGEST_SMTP_URL", "smtps://u:" + canary + "@mail.example", map[string]string{"DIGEST_FROM": "a@b.example"}},
		"chain without a label":         {"PAYOUT_CHAIN_LABEL", "", map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_USDC_ADDRESS": wallet}},
		"chain without a token":         {"PAYOUT_USDC_ADDRESS", "", map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base"}},
		"user mail of another kind":     {"MAIL_SMTP_URL", "https://u:" + canary + "@mail.example", nil},
		"user mail without a sender":    {"MAIL_SMTP_URL", "smtps://u:" + canary + "@mail.example", nil},
		"web push key of another form":  {"WEBPUSH_PRIVATE_KEY", canary, nil},
		"unknown video provider":        {"INGEST_PROVIDER", "camera", nil},
		"origin without a directory":    {"ORIGIN_DIR", "", map[string]string{"ORIGIN_LISTEN": "127.0.0.1:0"}},
		"origin without a port":         {"ORIGIN_LISTEN", "here", map[string]string{"ORIGIN_DIR": "/x"}},
		"video base with a path":        {"HLS_URL", "https://video.example/x", nil},
		"short window of the origin":    {"ORIGIN_WINDOW", "89s", nil},
		"little space for clips":        {"CLIP_DISK_BYTES", "1000", nil},
		"little space for a stream":     {"ORIGIN_STREAM_BYTES", "1000", nil},
		"rtmp without an address":       {"RTMP_URL", "", map[string]string{"INGEST_PROVIDER": "rtmp"}},
		"livepeer without a key":        {"LIVEPEER_API_KEY", "", map[string]string{"INGEST_PROVIDER": "livepeer"}},
		"mux without an id":             {"MUX_TOKEN_ID", "", map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_SECRET": providerKey}},
		"mux without a secret":          {"MUX_TOKEN_SECRET", "", map[string]string{"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x"}},
		"mux of another kind": {"MUX_URL", "ftp://x", map[string]string{
			"INGEST_PROVIDER": "mux", "MUX_TOKEN_ID": "x", "MUX_TOKEN_SECRET": providerKey,
		}},
		"sender of another form":          {"DIGEST_FROM", canary + "@", smtp},
		"recipient of another form":       {"DIGEST_TO", "a@example.org," + canary, smtp},
		"provider secret of another type": {"IDP_PROVIDERS", `[{"name":"main","usersSecret":` + canary + `}]`, nil},
	} {
		changes := maps.Clone(change.more)
		if changes == nil {
			changes = map[string]string{}
		}
		changes[change.setting] = change.value
		_, err := load(changes)
		switch {
		case err == nil:
			t.Errorf("%s: accepted; want an error", name)
		case !strings.Contains(err.Error(), change.setting):
			t.Errorf("%s: %q does not name %s", name, err, change.setting)
		case strings.Contains(err.Error(), canary):
			t.Errorf("%s: %q shows the value", name, err)
		}
	}
}

func TestMainRefuses(t *testing.T) {
	for name, value := range good() {
		t.Setenv(name, value)
	}
	t.Setenv("ADMIN_SECRET", "short")
	t.Setenv("CRON_SECRET", "")
	var out bytes.Buffer
	if code := Program().Main(t.Context(), nil, &out, &out); code != 2 {
		t.Errorf("exit code of an invalid configuration: %d", code)
	}
	if got := out.String(); !strings.Contains(got, "ADMIN_SECRET") || !strings.Contains(got, "CRON_SECRET") {
		t.Errorf("the output does not list all invalid settings: %s", got)
	}
	out.Reset()
	if code := Program().Main(t.Context(), []string{"dance"}, &out, &out); code != 2 || !strings.Contains(out.String(), "usage") {
		t.Errorf("unknown command: exit code %d, want 2: %s", code, out.String())
	}
	out.Reset()
	if code := Program().Main(t.Context(), []string{"migrate"}, &out, &out); code != 2 || !strings.Contains(out.String(), "MIGRATE_DATABASE_URL") {
		t.Errorf("migrate without its setting: exit code %d, want 2: %s", code, out.String())
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://Hub.example":      "https://hub.example",
		"https://hub.example:443/": "https://hub.example",
		"http://127.0.0.1:8080":    "http://127.0.0.1:8080",
		"http://localhost:80":      "http://localhost",
	} {
		if got := (&Config{HubURL: base}).origin(); got != want {
			t.Errorf("origin of %s: %s", base, got)
		}
	}
}
