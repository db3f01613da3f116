package pg

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ReadBudget is how long a read may take, waiting for a connection included,
// before its caller is set free: a Postgres that hangs costs this much and no more.
const ReadBudget = 300 * time.Millisecond

// Config is the part of a service's configuration that belongs to Postgres.
type Config struct {
	URL              string        `env:"DATABASE_URL"`
	MaxConns         int32         `env:"DB_MAX_CONNS"         envDefault:"20"`
	ConnectTimeout   time.Duration `env:"DB_CONNECT_TIMEOUT"   envDefault:"1s"`
	StatementTimeout time.Duration `env:"DB_STATEMENT_TIMEOUT" envDefault:"30s"` // the server's own bound for one statement

	Tracer pgx.QueryTracer   `env:"-"` // optional
	Params map[string]string `env:"-"` // further settings of every session
}

// Open prepares a pool without connecting, so that services and Postgres may
// start in any order. The error never repeats the URL, which holds a password.
func Open(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	if cfg.URL == "" {
		return nil, errors.New("DATABASE_URL is not set")
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read as a Postgres URL")
	}
	pc.MaxConns = or(cfg.MaxConns, 20)
	pc.MinIdleConns = min(2, pc.MaxConns)
	pc.MaxConnLifetime = time.Hour
	pc.MaxConnLifetimeJitter = 10 * time.Minute
	pc.MaxConnIdleTime = 5 * time.Minute
	pc.HealthCheckPeriod = 5 * time.Second
	pc.PingTimeout = ReadBudget
	pc.ConnConfig.ConnectTimeout = or(cfg.ConnectTimeout, time.Second)
	pc.ConnConfig.Tracer = cfg.Tracer
	params := pc.ConnConfig.RuntimeParams
	params["statement_timeout"] = millis(or(cfg.StatementTimeout, 30*time.Second))
	// A process that hangs inside a transaction must not hold its row locks.
	params["idle_in_transaction_session_timeout"] = millis(30 * time.Second)
	params["timezone"] = "UTC"
	// Compiling costs more than any statement of ours runs.
	params["jit"] = "off"
	maps.Copy(params, cfg.Params)
	return pgxpool.NewWithConfig(ctx, pc)
}

func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Time returns a function that returns the time of the database.
func Time(pool *pgxpool.Pool) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (at time.Time, err error) {
		err = pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
		return at, err
	}
}
