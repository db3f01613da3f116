package pg

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ReadBudget is the default of the setting DB_READ_TIMEOUT, the time limit of a read. An idle connection must also
// answer a ping within this time before it is used.
const ReadBudget = 300 * time.Millisecond

// Config configures a connection pool. URL is required.
type Config struct {
	URL              string
	MaxConns         int32             // maximum number of connections; 20 when zero
	ConnectTimeout   time.Duration     // timeout to open a connection; 1 s when zero
	StatementTimeout time.Duration     // timeout of a statement in Postgres; 30 s when zero
	Params           map[string]string // further settings of each session
}

// Open returns a pool that connects when it is used, so that services and Postgres may start in any order. The error
// never contains the URL, because the URL contains a password.
func Open(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	if cfg.URL == "" {
		return nil, errors.New("DATABASE_URL is not set")
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a valid Postgres URL")
	}
	pc.MaxConns = cmp.Or(cfg.MaxConns, 20)
	pc.MinIdleConns = min(2, pc.MaxConns)
	pc.MaxConnLifetime = time.Hour
	pc.MaxConnLifetimeJitter = 10 * time.Minute
	pc.MaxConnIdleTime = 5 * time.Minute
	pc.HealthCheckPeriod = 5 * time.Second
	pc.PingTimeout = ReadBudget
	pc.ConnConfig.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, time.Second)
	params := pc.ConnConfig.RuntimeParams
	params["statement_timeout"] = millis(cmp.Or(cfg.StatementTimeout, 30*time.Second))
	// A process that is suspended inside a transaction must not keep its row locks.
	params["idle_in_transaction_session_timeout"] = millis(30 * time.Second)
	params["timezone"] = "UTC"
	// JIT compilation takes longer than any statement of this project.
	params["jit"] = "off"
	maps.Copy(params, cfg.Params)
	return pgxpool.NewWithConfig(ctx, pc)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Time returns a function that requests the current time of the database, for example for dbtime.Clock.
func Time(pool *pgxpool.Pool) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (at time.Time, err error) {
		err = pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
		return at, err
	}
}
