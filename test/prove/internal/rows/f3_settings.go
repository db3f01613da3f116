package rows

import "strings"

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

// canaryWord stands in most spoilt values; no message may show it.
const canaryWord = "Xq7Lr0Vb2m"

// always is a value whatever the good settings are.
func always(v string) func(map[string]string) string {
	return func(map[string]string) string { return v }
}

// likeThe is the value of another setting.
func likeThe(other string) func(map[string]string) string {
	return func(good map[string]string) string { return good[other] }
}

const (
	canaryLong = canaryWord + "Zt9Kc4Wn6Yd1Hs8Pf3Ga5J"
	// development is a list with the development issuer alone.
	development = `[{"name":"main","issuer":"privy.io","audience":"signalcast-dev","jwksURL":"https://idp.example/jwks.json"}]`
)

func spoilt() []spoiled { return append(spoiltService(), spoiltPeople()...) }

// spoiltService are settings of the services themselves.
func spoiltService() []spoiled {
	return []spoiled{
		{"hub", "no admin secret", "ADMIN_SECRET", false, always(""), nil},
		{"hub", "a short admin secret", "ADMIN_SECRET", false, always(canaryWord), nil},
		{"hub", "a short cron secret", "CRON_SECRET", false, always(canaryWord), nil},
		{"hub", "a simple secret", "CRON_SECRET", false, always(strings.Repeat("ab", 20)), nil},
		{"hub", "an example for a secret", "LINK_SECRET", true, always("change-me-" + canaryLong), nil},
		{"hub", "the same secret twice", "CRON_SECRET", false, likeThe("ADMIN_SECRET"), nil},
		{"hub", "two equal session secrets", "SESSION_SECRETS", false, always(canaryLong + "," + canaryLong), nil},
		{"hub", "metrics for everybody", "METRICS_ADDR", false, always("0.0.0.0:9100"), nil},
		{"hub", "a plain public address", "HUB_URL", true, always("http://hub.example"), nil},
		{"hub", "a plain address of the live feed", "API_URL", true, always("http://" + canaryWord + ".example"), nil},
		{
			"hub", "a provider over plain http", "IDP_PROVIDERS", true,
			always(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`), nil,
		},
		{"hub", "no provider", "IDP_PROVIDERS", false, always("[]"), nil},
		{"hub", "every peer a proxy", "TRUSTED_PROXIES", false, always("0.0.0.0/0"), nil},
		{"hub", "a database of another kind", "DATABASE_URL", false, always("mysql://root:" + canaryWord + "@db/x"), nil},
		{"hub", "an unknown place", "ENV", false, always("staging-" + canaryWord), nil},
		{"hub", "a limit below none", "RATE_LIMIT_ANON", false, always("-1"), nil},
		{"api", "a short masking secret", "MASK_SECRET", false, always(canaryWord), nil},
		{"api", "no key of webhooks", "WEBHOOK_SECRET_KEY", true, always(""), nil},
		{"api", "a short key of webhooks", "WEBHOOK_SECRET_KEY", false, always(canaryWord), nil},
		{"api", "no second quotes", "QUOTE_CONFIRM_AFTER", true, always("off"), nil},
		{"api", "a tolerance of prices", "PRICE_TOLERANCE_BPS", true, always("100"), nil},
		{"api", "webhooks to private addresses", "WEBHOOK_ALLOW_PRIVATE", true, always("true"), nil},
		{"api", "stations at private addresses", "FEDERATION_ALLOW_PRIVATE", true, always("true"), nil},
		{"hub", "partners at private addresses", "FEDERATION_ALLOW_PRIVATE", true, always("true"), nil},
		{"api", "no link secret", "LINK_SECRET", false, always(""), nil},
		{"api", "every peer a proxy", "TRUSTED_PROXIES", false, always("::/0"), nil},
		{
			"api", "a provider over plain http", "IDP_PROVIDERS", true,
			always(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"http://idp.example/jwks.json"}]`), nil,
		},
		{"clock", "a short link secret", "LINK_SECRET", false, always(canaryWord), nil},
		{"clock", "every peer a proxy", "TRUSTED_PROXIES", false, always("0.0.0.0/0"), nil},
		{"clock", "metrics for everybody", "METRICS_ADDR", false, always("[::]:9100"), nil},
	}
}

// spoiltPeople are settings of who signs in, is paid and written to.
func spoiltPeople() []spoiled {
	return []spoiled{
		{"hub", "no successor secret", "SUCCESSOR_SECRETS", false, always(""), nil},
		{"hub", "one short successor secret", "SUCCESSOR_SECRETS", false, always(canaryLong + "," + canaryWord), nil},
		{"hub", "successors from the session's secret", "SUCCESSOR_SECRETS", false, likeThe("SESSION_SECRETS"), nil},
		{"hub", "no hub key", "HUB_KEYS", false, always("[]"), nil},
		{"hub", "a hub key that is none", "HUB_KEYS", false, always(`[{"seed":"` + canaryLong + `","notBefore":"2026-01-01T00:00:00Z"}]`), nil},
		{"hub", "a partner that is no word", "PARTNER_STATION", false, always("A " + canaryWord), nil},
		{"hub", "a partner over plain http", "PARTNER_PROFILE_URL", false, always("http://" + canaryWord + ".example/u/"), nil},
		{"hub", "a chain below 0", "PAYOUT_CHAIN_ID", false, always("-8453"), nil},
		{"hub", "a chain without a name", "PAYOUT_CHAIN_ID", false, always("8453"), map[string]string{"PAYOUT_CHAIN_LABEL": ""}},
		{
			"hub", "a token that is no address", "PAYOUT_USDC_ADDRESS", false, always("0x" + canaryWord),
			map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base"},
		},
		{"hub", "a mail server of another kind", "DIGEST_SMTP_URL", false, always("https://user:" + canaryWord + "@mail.example"), nil},
		{"hub", "nobody to write to", "DIGEST_SMTP_URL", false, always("smtps://user:" + canaryWord + "@mail.example"), map[string]string{"DIGEST_TO": ""}},
		{
			"hub", "a sender that is no address", "DIGEST_FROM", false, always(canaryWord + "@"),
			map[string]string{"DIGEST_SMTP_URL": "smtps://mail.example", "DIGEST_TO": "a@example.org"},
		},
		{
			"hub", "a recipient that is no address", "DIGEST_TO", false, always("a@example.org," + canaryWord),
			map[string]string{"DIGEST_SMTP_URL": "smtps://mail.example", "DIGEST_FROM": "a@example.org"},
		},
		{"hub", "the development issuer in production", "IDP_PROVIDERS", true, always(development), nil},
		{"hub", "a provider with an unknown member", "IDP_PROVIDERS", false, always(`[{"name":"main","usersSecret":"` + canaryWord + `","` + canaryLong + `":1}]`), nil},
		{"hub", "a provider whose secret is no text", "IDP_PROVIDERS", false, always(`[{"name":"main","usersSecret":` + canaryWord + `}]`), nil},
		{"hub", "a sign-in page over plain http", "IDP_LOGIN_URL", true, always("http://" + canaryWord + ".example/login"), nil},
		{"hub", "a long retry of refresh tokens", "REFRESH_RETRY", false, always("1h"), nil},
		{"api", "the development issuer in production", "IDP_PROVIDERS", true, always(development), nil},
		{"api", "a provider of unknown wallets", "IDP_PROVIDERS", false, always(strings.Replace(development, `"jwks`, `"usersSecret":"`+canaryWord+`","walletsFrom":"`+canaryWord+`","jwks`, 1)), nil},
		{"devidp", "the issuer itself in production", "ENV", false, always("production"), nil},
		{"devidp", "the issuer beside a real one", "PRIVY_APP_SECRET", false, always(canaryLong), nil},
	}
}
