package postgres

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5/pgxpool"
)

// acting are the settings of the connections that write. Their statements look a
// few rows up by key, and their plans are made once: with these, never by the size
// that a table has on its first day, when reading all of it seems as good as any
// index, and is not a day later.
var acting = map[string]string{
	"plan_cache_mode":  "force_generic_plan",
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"enable_material":  "off",
	"enable_memoize":   "off",
}

// actors is how many connections write: one for each worker of the filings, the feed
// and the bell.
const actors = filers + patients + 2

// actingPool opens a pool beside another one for what writes, so that a filing
// never waits for a connection behind reads.
func actingPool(pool *pgxpool.Pool) *pgxpool.Pool {
	cfg := pool.Config()
	cfg.MaxConns, cfg.MinIdleConns = actors, 1
	cfg.ConnConfig.RuntimeParams = maps.Clone(cfg.ConnConfig.RuntimeParams)
	maps.Copy(cfg.ConnConfig.RuntimeParams, acting)
	acts, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		panic(err) // the same settings made the first pool; nothing is connected yet
	}
	return acts
}
