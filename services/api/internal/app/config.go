package app

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// Config is the configuration of the api service, read from environment variables.
type Config struct {
	Env     config.Env `env:"ENV"`
	HTTP    string     `env:"HTTP_ADDR"    envDefault:"127.0.0.1:8081"`
	GRPC    string     `env:"GRPC_ADDR"    envDefault:"127.0.0.1:9081"`
	Metrics string     `env:"METRICS_ADDR"` // address of the internal server for metrics; empty: none

	Database config.Secret `env:"DATABASE_URL"` // credentials of the role api_rw
	MaxConns int32         `env:"DB_MAX_CONNS" envDefault:"24"`
	service.Reads
	Redis config.Secret `env:"REDIS_URL"`
	// RedisTimeout is the longest wait for an answer of Redis. After it, the process decides on rate limits with its local
	// counters.
	RedisTimeout time.Duration `env:"REDIS_TIMEOUT" envDefault:"50ms"`

	Link config.Secret `env:"LINK_SECRET"`
	Mask config.Secret `env:"MASK_SECRET"` // key of the HMAC that makes public operator ids

	HookKey     config.Secret `env:"WEBHOOK_SECRET_KEY"` // key that encrypts the secrets of webhooks in the database
	HookPrivate bool          `env:"WEBHOOK_ALLOW_PRIVATE"`

	CheckpointKey config.Secret `env:"CHECKPOINT_KEY"` // key that signs the checkpoints of the journal

	Admin          config.Secret `env:"ADMIN_SECRET"`             // empty: the administrator routes are off
	StationPrivate bool          `env:"FEDERATION_ALLOW_PRIVATE"` // allows http and private addresses in the URLs of stations

	HubURL    string         `env:"HUB_URL"`
	ClockURL  string         `env:"CLOCK_URL"`     // base URL of the clock, for unknown paths that it serves; may be empty
	Providers config.Secret  `env:"IDP_PROVIDERS"` // JSON list of providers; contains the secrets of their user APIs
	AnonLimit int            `env:"RATE_LIMIT_ANON" envDefault:"600"`
	KeyLimit  int            `env:"RATE_LIMIT_KEY"  envDefault:"120"`
	Replicas  int            `env:"REPLICAS"        envDefault:"1"`
	Trusted   []netip.Prefix `env:"TRUSTED_PROXIES"`

	VenueA        string        `env:"VENUE_A_SLUG"           envDefault:"polymarket"`
	GammaURL      string        `env:"POLYMARKET_GAMMA_URL"   envDefault:"https://gamma-api.polymarket.com"`
	ClobURL       string        `env:"POLYMARKET_CLOB_URL"    envDefault:"https://clob.polymarket.com"`
	StreamURL     string        `env:"POLYMARKET_WS_URL"` // empty: no live prices
	KalshiURL     string        `env:"KALSHI_URL"`        // empty: venue off; same for the next two
	LimitlessURL  string        `env:"LIMITLESS_URL"`
	ManifoldURL   string        `env:"MANIFOLD_URL"`
	VenueRPS      float64       `env:"VENUE_RPS"              envDefault:"5"`  // requests per second to each host of a venue
	ManifoldWait  time.Duration `env:"MANIFOLD_WAIT"          envDefault:"1h"` // period in which Manifold can change a result
	Grace         time.Duration `env:"RESOLUTION_GRACE"       envDefault:"10m"`
	Scoring       scoringConfig
	PastEnd       bool          `env:"PAST_END_IS_PROVISIONAL" envDefault:"true"`
	ResolveChunk  int           `env:"RESOLVE_CHUNK"          envDefault:"100000"`
	MovementEvery time.Duration `env:"MOVEMENT_EVERY"         envDefault:"60s"`

	LogLevel string        `env:"LOG_LEVEL"  envDefault:"info"`
	Nonce    string        `env:"INSTANCE_NONCE"`
	Linger   time.Duration `env:"DRAIN_WAIT" envDefault:"500ms"` // pause between "not ready" and the end of listening
	Trace    telemetry.TraceConfig
	Limits   httpx.Limits
}

// Check implements config.Checker. It reports each invalid setting and, in production, each setting that production forbids.
func (c *Config) Check(r *config.Report) {
	r.Addr("HTTP_ADDR", c.HTTP)
	r.Addr("GRPC_ADDR", c.GRPC)
	r.PrivateAddr("METRICS_ADDR", c.Metrics)
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.DSN("REDIS_URL", c.Redis, "redis", "rediss")
	if c.RedisTimeout < 5*time.Millisecond || c.RedisTimeout > 5*time.Second {
		r.Fail("REDIS_TIMEOUT", "must be from 5ms to 5s")
	}
	r.Secret("LINK_SECRET", c.Link)
	r.Secret("MASK_SECRET", c.Mask)
	r.Secret("WEBHOOK_SECRET_KEY", c.HookKey)
	r.Secret("CHECKPOINT_KEY", c.CheckpointKey)
	if c.HookPrivate && r.Env().Production() {
		r.Fail("WEBHOOK_ALLOW_PRIVATE", "must not be set in production")
	}
	r.OptSecret("ADMIN_SECRET", c.Admin)
	if c.StationPrivate && r.Env().Production() {
		r.Fail("FEDERATION_ALLOW_PRIVATE", "must not be set in production")
	}
	r.PublicURL("HUB_URL", c.HubURL)
	if c.ClockURL != "" {
		r.PublicURL("CLOCK_URL", c.ClockURL)
	}
	c.checkProviders(r)
	r.URL("POLYMARKET_GAMMA_URL", c.GammaURL, "https", "http")
	r.URL("POLYMARKET_CLOB_URL", c.ClobURL, "https", "http")
	r.OptURL("POLYMARKET_WS_URL", c.StreamURL, "wss", "ws")
	r.OptURL("KALSHI_URL", c.KalshiURL, "https", "http")
	r.OptURL("LIMITLESS_URL", c.LimitlessURL, "https", "http")
	r.OptURL("MANIFOLD_URL", c.ManifoldURL, "https", "http")
	r.Proxies("TRUSTED_PROXIES", c.Trusted)
	r.Between("RATE_LIMIT_ANON", c.AnonLimit, 0, 1_000_000)
	r.Between("RATE_LIMIT_KEY", c.KeyLimit, 1, 1_000_000)
	r.Between("REPLICAS", c.Replicas, 1, 1000)
	c.Scoring.check(r)
	r.Between("RESOLVE_CHUNK", c.ResolveChunk, 1, 1_000_000)
	r.Between("DB_MAX_CONNS", int(c.MaxConns), 8, 1000)
	if c.VenueRPS <= 0 || c.VenueRPS > 10_000 {
		r.Fail("VENUE_RPS", "must be above 0 and at most 10000")
	}
	if c.ManifoldWait < time.Second || c.ManifoldWait > 24*time.Hour {
		r.Fail("MANIFOLD_WAIT", "must be from 1s to 24h")
	}
	if c.MovementEvery < time.Second || c.MovementEvery > 10*time.Minute {
		r.Fail("MOVEMENT_EVERY", "must be from 1s to 10m")
	}
	if c.Linger < 0 || c.Linger > 5*time.Second {
		r.Fail("DRAIN_WAIT", "must be from 0s to 5s")
	}
	if c.Grace < 0 || c.Grace > 24*time.Hour {
		r.Fail("RESOLUTION_GRACE", "must be from 0s to 24h")
	}
}

func (c *Config) checkProviders(r *config.Report) {
	switch list, err := oidc.ParseConfig(c.Providers.Reveal()); {
	case !c.Providers.IsSet():
		r.Fail("IDP_PROVIDERS", "is not set")
	case err != nil:
		r.Fail("IDP_PROVIDERS", "cannot be read: "+err.Error())
	case r.Env().Production() && list.UsesPlainHTTP():
		r.Fail("IDP_PROVIDERS", "must use https in production")
	case r.Env().Production() && list.Development():
		r.Fail("IDP_PROVIDERS",
			"must not have a provider with the audience "+oidc.DevelopmentAudience+" in production: it issues tokens for any user")
	}
}

// scoringConfig holds the settings that decide the scoring price and the points of a call.
type scoringConfig struct {
	Tolerance int           `env:"PRICE_TOLERANCE_BPS"    envDefault:"0"`
	QuoteAge  time.Duration `env:"QUOTE_MAX_AGE"          envDefault:"15s"` // maximum age of the quote that can verify a call
	Confirm   string        `env:"QUOTE_CONFIRM_AFTER"    envDefault:"5s"`  // from a call to its second quote: 1s to 1m, or "off"
	RatedUSD  float64       `env:"RATED_MIN_VOLUME_USD"   envDefault:"10000"`
	RatedBy   []string      `env:"MANIFOLD_RATED_CREATORS"` // Manifold creator ids whose markets are rated; "*": all
}

func (c *scoringConfig) check(r *config.Report) {
	r.Between("PRICE_TOLERANCE_BPS", c.Tolerance, 0, 10_000)
	if c.Tolerance != 0 && r.Env().Production() {
		r.Fail("PRICE_TOLERANCE_BPS", "must be 0 in production")
	}
	if c.QuoteAge < time.Second || c.QuoteAge > 15*time.Minute {
		r.Fail("QUOTE_MAX_AGE", "must be from 1s to 15m")
	}
	switch after, err := c.confirmAfter(); {
	case err != nil:
		r.Fail("QUOTE_CONFIRM_AFTER", "must be from 1s to 1m, or off")
	case after == 0 && r.Env().Production():
		r.Fail("QUOTE_CONFIRM_AFTER", "must not be off in production")
	}
	if !(c.RatedUSD >= 0 && c.RatedUSD <= 1e12) {
		r.Fail("RATED_MIN_VOLUME_USD", "must be from 0 to 1e12")
	}
}

// confirmAfter parses the setting QUOTE_CONFIRM_AFTER: the time between a call and its second quote. It returns 0 for "off", and
// an error for a malformed time or a time outside 1s to 1m.
func (c *scoringConfig) confirmAfter() (time.Duration, error) {
	if c.Confirm == "off" {
		return 0, nil
	}
	after, err := time.ParseDuration(c.Confirm)
	if err == nil && (after < time.Second || after > time.Minute) {
		err = fmt.Errorf("%s is out of bounds", c.Confirm)
	}
	return after, err
}

// rules returns a postgres.Rules with the scoring settings, pastEnd and chunk. It must be called only after Check has accepted
// the settings.
func (c *scoringConfig) rules(pastEnd bool, chunk int) postgres.Rules {
	confirm, _ := c.confirmAfter()
	return postgres.Rules{
		PriceToleranceBps: c.Tolerance, PastEndIsProvisional: pastEnd, ResolveChunk: chunk,
		QuoteMaxAge: c.QuoteAge, ConfirmAfter: confirm, RatedMinVolumeUSD: c.RatedUSD, RatedCreators: c.RatedBy,
	}
}
