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

// Config of the hub, all from the environment.
type Config struct {
	Env     config.Env `env:"ENV"`
	HTTP    string     `env:"HTTP_ADDR"    envDefault:"127.0.0.1:8080"`
	Metrics string     `env:"METRICS_ADDR"` // empty: none

	Database config.Secret `env:"DATABASE_URL"` // as hub_rw
	MaxConns int32         `env:"DB_MAX_CONNS" envDefault:"8"`
	service.Reads
	Redis config.Secret `env:"REDIS_URL"`
	// RedisTime is the time limit of a Redis command. After it the hub counts locally.
	RedisTime time.Duration `env:"REDIS_TIMEOUT" envDefault:"50ms"`

	Link  config.Secret `env:"LINK_SECRET"`
	API   string        `env:"API_ADDR"`   // gRPC of the ledger
	Clock string        `env:"CLOCK_ADDR"` // gRPC of the clock; empty: there is none

	HubURL   string          `env:"HUB_URL"`
	APIURL   string          `env:"API_URL"`         // where browsers find the live feed; empty: pages show none
	Sessions []config.Secret `env:"SESSION_SECRETS"` // the first signs, all verify
	// Successors derive refresh tokens: the first makes them, all recognise them.
	Successors []config.Secret `env:"SUCCESSOR_SECRETS"`
	// RefreshRetry is how long a used refresh token gives its successor again; 0: never.
	RefreshRetry time.Duration `env:"REFRESH_RETRY" envDefault:"10s"`
	// HubKeys are the keys that the hub attests with, as message.ParseHubKeys reads them.
	HubKeys   config.Secret `env:"HUB_KEYS"`
	Admin     config.Secret `env:"ADMIN_SECRET"`
	Cron      config.Secret `env:"CRON_SECRET"`
	Providers config.Secret `env:"IDP_PROVIDERS"` // holds the secrets of their users interfaces
	LoginURL  string        `env:"IDP_LOGIN_URL"` // sign-in page of the provider; empty: none
	Social    string        `env:"SOCIAL_SOURCE" envDefault:"farcaster"`
	VenueA    string        `env:"VENUE_A_SLUG"  envDefault:"polymarket"` // the primary venue's word in paths

	// Videos are the hosts that streams may be bound to; empty: any.
	Videos []string `env:"VIDEO_HOSTS"`

	Accounts AccountConfig
	Network  NetworkConfig
	Video    VideoConfig

	PerAddr  int            `env:"RATE_LIMIT_ANON" envDefault:"600"` // 0: none
	Replicas int            `env:"REPLICAS"        envDefault:"1"`
	Trusted  []netip.Prefix `env:"TRUSTED_PROXIES"`
	// AnyHost accepts requests of agents for every host name. It is for a hub that only a proxy on the same machine can reach.
	AnyHost bool `env:"AGENT_ANY_HOST"`

	LogLevel string        `env:"LOG_LEVEL"  envDefault:"info"`
	Nonce    string        `env:"INSTANCE_NONCE"`
	Linger   time.Duration `env:"DRAIN_WAIT" envDefault:"500ms"` // from "not ready" to closing the listeners
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
	r.Secret("LINK_SECRET", c.Link)
	r.Secrets("SESSION_SECRETS", c.Sessions)
	r.Secrets("SUCCESSOR_SECRETS", c.Successors)
	if c.RefreshRetry < 0 || c.RefreshRetry > time.Minute {
		r.Fail("REFRESH_RETRY", "must be from 0s to 1m")
	}
	if _, err := message.ParseHubKeys(c.HubKeys.Reveal()); err != nil {
		r.Fail("HUB_KEYS", "cannot be read: "+err.Error())
	}
	r.Secret("ADMIN_SECRET", c.Admin)
	r.Secret("CRON_SECRET", c.Cron)
	c.checkProviders(r)
	if r.Env().Production() {
		r.OptURL("IDP_LOGIN_URL", c.LoginURL, "https")
	} else {
		r.OptURL("IDP_LOGIN_URL", c.LoginURL, "https", "http")
	}
	r.Proxies("TRUSTED_PROXIES", c.Trusted)
	r.Between("RATE_LIMIT_ANON", c.PerAddr, 0, 1_000_000)
	r.Between("REPLICAS", c.Replicas, 1, 1000)
	r.Between("DB_MAX_CONNS", int(c.MaxConns), 2, 1000)
	if !isWord(c.Social) {
		r.Fail("SOCIAL_SOURCE", "must be 1 to 32 of a-z, 0-9 and -")
	}
	if !isWord(c.VenueA) {
		r.Fail("VENUE_A_SLUG", "must be 1 to 32 of a-z, 0-9 and -")
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
	Private bool          `env:"FEDERATION_ALLOW_PRIVATE"`                  // partners may be at http and private addresses
	Every   time.Duration `env:"FEDERATION_EVERY"         envDefault:"60s"` // between two reads of a partner
	Keep    time.Duration `env:"FEDERATION_KEEP"          envDefault:"10m"` // how long a partner that fails is still shown
}

// check is part of Config.Check.
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
	list, err := oidc.ParseConfig(c.Providers.Reveal())
	if err != nil {
		r.Fail("IDP_PROVIDERS", "cannot be read: "+err.Error())
		return
	}
	if r.Env().Production() && list.UsesPlainHTTP() {
		r.Fail("IDP_PROVIDERS", "must use https in production")
	}
	if r.Env().Production() && list.Development() {
		r.Fail("IDP_PROVIDERS", "must not name the development issuer in production: it signs in anybody")
	}
}

// checkVideos requires each host in the form that it has in an address: in lower case, with its port unless that is 443.
func (c *Config) checkVideos(r *config.Report) {
	for _, host := range c.Videos {
		u, err := url.Parse("https://" + host)
		if err != nil || u.Host != host || u.Hostname() == "" || host != strings.ToLower(host) || u.Port() == "443" ||
			strings.ContainsAny(host, " *") {
			r.Fail("VIDEO_HOSTS", "must be a comma list of hosts in small letters, each with its port where that is not 443")
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

// base returns the public address without a slash at the end.
func (c *Config) base() string { return strings.TrimSuffix(c.HubURL, "/") }

// origin returns the public address in the form of the Origin header, without a default port.
func (c *Config) origin() string { return federation.OriginOf(c.base()) }
