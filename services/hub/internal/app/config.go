package app

import (
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// Config is the configuration of the hub, read from environment variables.
type Config struct {
	Env     config.Env `env:"ENV"`
	HTTP    string     `env:"HTTP_ADDR"    envDefault:"127.0.0.1:8080"`
	Metrics string     `env:"METRICS_ADDR"` // address of the internal server for metrics and health; empty: no internal server

	Database config.Secret `env:"DATABASE_URL"` // connects as role hub_rw
	MaxConns int32         `env:"DB_MAX_CONNS" envDefault:"8"`
	service.Reads
	Redis config.Secret `env:"REDIS_URL"`
	// RedisTime is the time limit of a Redis command. After a timeout, the hub counts requests locally.
	RedisTime time.Duration `env:"REDIS_TIMEOUT" envDefault:"50ms"`

	Link  config.Secret `env:"LINK_SECRET"`
	API   string        `env:"API_ADDR"`   // gRPC address of the ledger
	Clock string        `env:"CLOCK_ADDR"` // gRPC address of the clock; empty: broadcasts are disabled

	HubURL   string          `env:"HUB_URL"`
	APIURL   string          `env:"API_URL"`         // base URL of the live feed for browsers; empty: pages show no live feed
	ClockURL string          `env:"CLOCK_URL"`       // base URL of the clock in the API description; empty: the URL of the hub
	Sessions []config.Secret `env:"SESSION_SECRETS"` // the first secret signs sessions; all of them verify sessions
	// Successors are the secrets from which successors of refresh tokens are derived. The first secret derives new tokens; all of
	// them verify tokens.
	Successors []config.Secret `env:"SUCCESSOR_SECRETS"`
	// RefreshRetry is the time after the first use of a refresh token during which a second use returns the same successor. 0
	// disables such retries.
	RefreshRetry time.Duration `env:"REFRESH_RETRY" envDefault:"10s"`
	// HubKeys are the keys with which the hub signs attestations, in the format of message.ParseHubKeys.
	HubKeys   config.Secret `env:"HUB_KEYS"`
	Admin     config.Secret `env:"ADMIN_SECRET"`
	Cron      config.Secret `env:"CRON_SECRET"`
	Providers config.Secret `env:"IDP_PROVIDERS"`    // contains the secrets for the user APIs of the identity providers
	LoginURL  string        `env:"IDP_LOGIN_URL"`    // sign-in page of the provider; empty: no sign-in link
	Contact   string        `env:"SECURITY_CONTACT"` // https or mailto URL for reports of vulnerabilities; empty: no security.txt
	Social    string        `env:"SOCIAL_SOURCE" envDefault:"farcaster"`
	VenueA    string        `env:"VENUE_A_SLUG"  envDefault:"polymarket"` // slug of the primary venue in URL paths

	// Videos lists the permitted hosts of a stream URL that an operator binds to a market. Empty permits any host.
	Videos []string `env:"VIDEO_HOSTS"`

	Accounts AccountConfig
	Network  NetworkConfig
	Video    VideoConfig

	PerAddr  int            `env:"RATE_LIMIT_ANON" envDefault:"600"` // requests per minute and IP address; 0: no limit
	Replicas int            `env:"REPLICAS"        envDefault:"1"`
	Trusted  []netip.Prefix `env:"TRUSTED_PROXIES"`
	// AnyHost accepts requests of MCP agents with any Host header. It is safe only if a proxy on the same machine is the only
	// client.
	AnyHost bool `env:"AGENT_ANY_HOST"`

	LogLevel string        `env:"LOG_LEVEL"  envDefault:"info"`
	Nonce    string        `env:"INSTANCE_NONCE"`
	Linger   time.Duration `env:"DRAIN_WAIT" envDefault:"500ms"` // time between "not ready" and the closing of the listeners
	Trace    telemetry.TraceConfig
	Limits   httpx.Limits
}

// Check implements config.Checker.
func (c *Config) Check(r *config.Report) {
	r.Addr("HTTP_ADDR", c.HTTP)
	r.PrivateAddr("METRICS_ADDR", c.Metrics)
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.DSN("REDIS_URL", c.Redis, "redis", "rediss")
	if c.RedisTime < 5*time.Millisecond || c.RedisTime > 5*time.Second {
		r.Fail("REDIS_TIMEOUT", "must be from 5ms to 5s")
	}
	r.Addr("API_ADDR", c.API)
	r.OptAddr("CLOCK_ADDR", c.Clock)
	r.PublicURL("HUB_URL", c.HubURL)
	if c.APIURL != "" {
		r.PublicURL("API_URL", c.APIURL)
	}
	if c.ClockURL != "" {
		r.PublicURL("CLOCK_URL", c.ClockURL)
	}
	r.Secret("LINK_SECRET", c.Link)
	r.Secrets("SESSION_SECRETS", c.Sessions)
	r.Secrets("SUCCESSOR_SECRETS", c.Successors)
	if c.RefreshRetry < 0 || c.RefreshRetry > time.Minute {
		r.Fail("REFRESH_RETRY", "must be from 0s to 1m")
	}
	if !c.HubKeys.IsSet() {
		r.Fail("HUB_KEYS", "is not set")
	} else if _, err := message.ParseHubKeys(c.HubKeys.Reveal()); err != nil {
		r.Fail("HUB_KEYS", "is invalid: "+err.Error())
	}
	r.Secret("ADMIN_SECRET", c.Admin)
	r.Secret("CRON_SECRET", c.Cron)
	c.checkProviders(r)
	if r.Env().Production() {
		r.OptURL("IDP_LOGIN_URL", c.LoginURL, "https")
	} else {
		r.OptURL("IDP_LOGIN_URL", c.LoginURL, "https", "http")
	}
	if !strings.HasPrefix(c.Contact, "mailto:") {
		r.OptURL("SECURITY_CONTACT", c.Contact, "https")
	} else if strings.ContainsFunc(c.Contact, func(r rune) bool { return r <= ' ' || r > '~' }) {
		r.Fail("SECURITY_CONTACT", "must be an https or mailto URL")
	}
	r.Proxies("TRUSTED_PROXIES", c.Trusted)
	r.Between("RATE_LIMIT_ANON", c.PerAddr, 0, 1_000_000)
	r.Between("REPLICAS", c.Replicas, 1, 1000)
	r.Between("DB_MAX_CONNS", int(c.MaxConns), 2, 1000)
	if !isWord(c.Social) {
		r.Fail("SOCIAL_SOURCE", "must be 1 to 32 characters of a-z, 0-9 and -")
	}
	if !isWord(c.VenueA) {
		r.Fail("VENUE_A_SLUG", "must be 1 to 32 characters of a-z, 0-9 and -")
	}
	c.checkVideos(r)
	c.Accounts.check(r)
	c.Network.check(r)
	c.Video.check(r)
	if c.Linger < 0 || c.Linger > 5*time.Second {
		r.Fail("DRAIN_WAIT", "must be from 0s to 5s")
	}
}

// NetworkConfig is the configuration of the reader of partner stations.
type NetworkConfig struct {
	Private bool          `env:"FEDERATION_ALLOW_PRIVATE"`                  // permits http and private addresses of partners
	Every   time.Duration `env:"FEDERATION_EVERY"         envDefault:"60s"` // interval of reads of one partner
	Keep    time.Duration `env:"FEDERATION_KEEP"          envDefault:"10m"` // hides a partner this long after its last read
}

// check adds an error to r for each invalid setting of the partner reader.
func (c *NetworkConfig) check(r *config.Report) {
	if c.Private && r.Env().Production() {
		r.Fail("FEDERATION_ALLOW_PRIVATE", "must not be set in production")
	}
	if c.Every < time.Second || c.Every > 10*time.Minute {
		r.Fail("FEDERATION_EVERY", "must be from 1s to 10m")
	}
	if c.Keep < c.Every || c.Keep > 24*time.Hour {
		r.Fail("FEDERATION_KEEP", "must be from FEDERATION_EVERY to 24h")
	}
}

func (c *Config) checkProviders(r *config.Report) {
	if !c.Providers.IsSet() {
		r.Fail("IDP_PROVIDERS", "is not set")
		return
	}
	list, err := oidc.ParseConfig(c.Providers.Reveal())
	if err != nil {
		r.Fail("IDP_PROVIDERS", "is invalid: "+err.Error())
		return
	}
	if r.Env().Production() && list.UsesPlainHTTP() {
		r.Fail("IDP_PROVIDERS", "must use https in production")
	}
	if r.Env().Production() && list.Development() {
		r.Fail("IDP_PROVIDERS",
			"must not have a provider with the audience "+oidc.DevelopmentAudience+" in production: it issues tokens for any user")
	}
}

// checkVideos adds an error to r if VIDEO_HOSTS contains an invalid host. A host must be in lower case and include its port.
// It must omit the default port 443.
func (c *Config) checkVideos(r *config.Report) {
	for _, host := range c.Videos {
		u, err := url.Parse("https://" + host)
		if err != nil || u.Host != host || u.Hostname() == "" || host != strings.ToLower(host) || u.Port() == "443" ||
			strings.ContainsAny(host, " *") {
			r.Fail("VIDEO_HOSTS", "must be a comma-separated list of lower-case hosts; add the port unless it is 443")
			return
		}
	}
}

func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 32
}

// base returns the public URL of the hub without a slash at the end.
func (c *Config) base() string { return strings.TrimSuffix(c.HubURL, "/") }

// origin returns the public URL of the hub in the form of the Origin header: scheme, host, and the port unless it is the
// default port.
func (c *Config) origin() string { return federation.OriginOf(c.base()) }
