package app

import (
	"net/netip"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// Config contains the settings of the clock, which come from environment variables.
type Config struct {
	Env     config.Env `env:"ENV"`
	HTTP    string     `env:"HTTP_ADDR"    envDefault:"127.0.0.1:8082"`
	GRPC    string     `env:"GRPC_ADDR"    envDefault:"127.0.0.1:9082"`
	Metrics string     `env:"METRICS_ADDR"` // empty: no metrics server

	Database config.Secret `env:"DATABASE_URL"` // connects as the role clock_rw
	MaxConns int32         `env:"DB_MAX_CONNS" envDefault:"8"`
	service.Reads
	Redis config.Secret `env:"REDIS_URL"` // empty: caches and limits are those of this process only
	// RedisTimeout is the longest wait for an answer of Redis. After it, the process uses its local limits and caches.
	RedisTimeout time.Duration `env:"REDIS_TIMEOUT" envDefault:"50ms"`
	Ledger       string        `env:"API_ADDR"` // host:port of the gRPC server of the api service
	Link         config.Secret `env:"LINK_SECRET"`

	HubURL string `env:"HUB_URL"` // base URLs of the other hosts, for unknown paths that they serve; may be empty
	APIURL string `env:"API_URL"`

	Lanes   []program.Lane `env:"PROGRAM_LANES"`                    // lanes of the default channel; empty: program.DefaultLanes
	PerAddr int            `env:"RATE_LIMIT_ANON" envDefault:"600"` // requests a minute from one IP address; 0: no limit
	Trusted []netip.Prefix `env:"TRUSTED_PROXIES"`
	// Replicas is the number of clock processes. While Redis is unavailable, each process enforces its share of a limit.
	Replicas int `env:"REPLICAS" envDefault:"1"`

	LogLevel string        `env:"LOG_LEVEL"  envDefault:"info"`
	Nonce    string        `env:"INSTANCE_NONCE"`
	Linger   time.Duration `env:"DRAIN_WAIT" envDefault:"500ms"` // time between "not ready" and closing the listeners
	Trace    telemetry.TraceConfig
	Limits   httpx.Limits
}

// Check implements config.Checker. It reports each invalid setting to r.
func (c *Config) Check(r *config.Report) {
	r.Addr("HTTP_ADDR", c.HTTP)
	r.Addr("GRPC_ADDR", c.GRPC)
	r.PrivateAddr("METRICS_ADDR", c.Metrics)
	r.DSN("DATABASE_URL", c.Database, "postgres", "postgresql")
	r.Addr("API_ADDR", c.Ledger)
	for name, base := range map[string]string{"HUB_URL": c.HubURL, "API_URL": c.APIURL} {
		if base != "" {
			r.PublicURL(name, base)
		}
	}
	r.Secret("LINK_SECRET", c.Link)
	r.Proxies("TRUSTED_PROXIES", c.Trusted)
	r.Between("RATE_LIMIT_ANON", c.PerAddr, 0, 1_000_000)
	r.Between("DB_MAX_CONNS", int(c.MaxConns), 2, 1000)
	r.Between("REPLICAS", c.Replicas, 1, 1000)
	if c.Redis.IsSet() {
		r.DSN("REDIS_URL", c.Redis, "redis", "rediss")
	}
	if c.RedisTimeout < 5*time.Millisecond || c.RedisTimeout > 5*time.Second {
		r.Fail("REDIS_TIMEOUT", "must be from 5ms to 5s")
	}
	if c.Linger < 0 || c.Linger > 5*time.Second {
		r.Fail("DRAIN_WAIT", "must be from 0s to 5s")
	}
	if slices.ContainsFunc(c.Lanes, func(l program.Lane) bool { _, ok := program.ParseLane(string(l)); return !ok }) {
		r.Fail("PROGRAM_LANES", "must be a comma-separated list of: "+protocol.LaneNames(program.Lanes()))
	}
}

func (c *Config) lanes() []program.Lane {
	if len(c.Lanes) == 0 {
		return program.DefaultLanes()
	}
	return c.Lanes
}
