package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	operators    = 100_000 // each may be on a market once
	keys         = 40_000  // of the first operators
	writeMarkets = 5_000   // of a venue, and as many of our own
	pageMarkets  = 50      // with as many calls each as a full feed page needs
)

//go:embed seed.sql
var seedSQL string

//go:embed anchor.sql
var anchorSQL string

// seed is the database as the administrator fills it: what the product's own
// doors would take hours to bring in.
type seed struct {
	db     *pgxpool.Pool
	tokens []string // plaintext keys
}

// fill makes operators with keys, markets to file on, and a page of signals.
func fill(ctx context.Context, s *stack) (*seed, error) {
	fmt.Printf("filling the database: %d operators, %d keys, %d markets\n", operators, keys, 2*writeMarkets)
	db, err := connect(ctx, s)
	if err != nil {
		return nil, err
	}
	d := &seed{db: db}
	if err := d.run(ctx, seedSQL); err != nil {
		d.close()
		return nil, err
	}
	for _, call := range []struct {
		sql  string
		args []any
	}{
		{"SELECT bench.add_operators($1)", []any{operators}},
		{"SELECT bench.add_markets('kalshi-BENCH-', 'kalshi', $1)", []any{writeMarkets}},
		{"SELECT bench.add_markets('native-bench-', 'manual', $1)", []any{writeMarkets}},
		{"SELECT bench.add_markets('kalshi-PAGE-', 'kalshi', $1)", []any{pageMarkets}},
		{"SELECT bench.add_signals('kalshi-PAGE-', $1, 4, 0)", []any{pageMarkets}},
	} {
		if _, err := db.Exec(ctx, call.sql, call.args...); err != nil {
			d.close()
			return nil, fmt.Errorf("%s: %w", call.sql, err)
		}
	}
	if err := d.addKeys(ctx, 0, keys); err != nil {
		d.close()
		return nil, err
	}
	return d, d.settle(ctx, "api.users", "api.operator_keys", "api.markets", "api.market_quotes", "api.operator_totals", "api.operator_scores")
}

func connect(ctx context.Context, s *stack) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(s.Database)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 4
	return pgxpool.NewWithConfig(ctx, cfg)
}

// addKeys gives operators one key each.
func (d *seed) addKeys(ctx context.Context, first, keys int) error {
	d.tokens = make([]string, keys)
	ids, err := query[string](ctx, d.db, "SELECT bench.operator(i)::text FROM generate_series($1::int, $1::int + $2::int - 1) i ORDER BY i", first, keys)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	columns := []string{"id", "user_id", "hash", "prefix", "last4", "label", "permissions", "created_at"}
	_, err = d.db.CopyFrom(ctx, pgx.Identifier{"api", "operator_keys"}, columns,
		pgx.CopyFromSlice(keys, func(i int) ([]any, error) {
			body := sha256.Sum256([]byte("bench key " + strconv.Itoa(i)))
			token := "dk_" + base64.RawURLEncoding.EncodeToString(body[:])
			d.tokens[i] = token
			hash := sha256.Sum256([]byte(token))
			// The key's own id is nobody's business here; the operator's will do.
			return []any{ids[i], ids[i], hash[:], "dk_", token[len(token)-4:], "bench", []string{"signal"}, now}, nil
		}))
	return err
}

// run executes statements that take no arguments.
func (d *seed) run(ctx context.Context, sql string) error {
	return d.on(ctx, func(c *pgconn.PgConn) error {
		_, err := c.Exec(ctx, sql).ReadAll()
		return err
	})
}

func (d *seed) on(ctx context.Context, do func(*pgconn.PgConn) error) error {
	conn, err := d.db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return do(conn.Conn().PgConn())
}

// settle does the chores that a database in service has behind it.
func (d *seed) settle(ctx context.Context, tables ...string) error {
	for _, t := range tables {
		if err := d.run(ctx, "VACUUM ANALYZE "+t); err != nil {
			return fmt.Errorf("vacuum %s: %w", t, err)
		}
	}
	return d.run(ctx, "CHECKPOINT")
}

// drained waits until the relay has put everything into the feed, so that what
// one stretch left behind does not burden the next one.
func (d *seed) drained(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		left, err := d.backlog(ctx)
		if err != nil || left == 0 {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// backlog is how many facts wait for the feed.
func (d *seed) backlog(ctx context.Context) (int64, error) {
	rows, err := query[int64](ctx, d.db, "SELECT (SELECT count(*) FROM api.outbox) + (SELECT count(*) FROM api.feed_drains)")
	if err != nil {
		return 0, err
	}
	return rows[0], nil
}

func (d *seed) close() {
	if d != nil {
		d.db.Close()
	}
}

func query[T any](ctx context.Context, db *pgxpool.Pool, sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
