package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	operators    = 100_000 // each may file one call per market
	keys         = 40_000  // one for each of the first operators
	writeMarkets = 5_000   // markets of a venue, and the same number of native markets
	pageMarkets  = 50      // markets with enough calls to fill a page of the feed
)

//go:embed seed.sql
var seedSQL string

//go:embed anchor.sql
var anchorSQL string

// system is a running system and the operator keys in its database.
type system struct {
	*stack.Stack
	b      *bench
	tokens []string // operator keys
}

// fill inserts operators with keys, markets for filing, and the calls on the feed page that the section named reads measures.
func (s *system) fill() {
	fmt.Printf("filling the database: %d operators, %d keys, %d markets\n", operators, keys, 2*writeMarkets)
	s.exec(seedSQL)
	s.exec("SELECT bench.add_operators($1)", operators)
	s.exec("SELECT bench.add_markets('kalshi-BENCH-', 'kalshi', $1)", writeMarkets)
	s.exec("SELECT bench.add_markets('native-bench-', 'manual', $1)", writeMarkets)
	s.exec("SELECT bench.add_markets('kalshi-PAGE-', 'kalshi', $1)", pageMarkets)
	s.exec("SELECT bench.add_signals('kalshi-PAGE-', $1, 4, 0)", pageMarkets)
	s.addKeys(0, keys)
	s.settle("api.users", "api.operator_keys", "api.markets", "api.market_quotes", "api.operator_totals", "api.operator_scores")
}

// addKeys inserts one operator key for each of n operators, starting with operator number first, and sets s.tokens to these keys.
func (s *system) addKeys(first, n int) {
	s.tokens = make([]string, n)
	ids := list[string](s, `SELECT bench.operator(i)::text FROM generate_series($1::int, $1::int + $2::int - 1) i
		ORDER BY i`, first, n)
	now, columns := time.Now().UTC(), strings.Fields("id user_id hash prefix last4 label permissions created_at")
	s.copy("api.operator_keys", columns, n, func(i int) []any {
		body := sha256.Sum256([]byte("bench key " + strconv.Itoa(i)))
		s.tokens[i] = "dk_" + base64.RawURLEncoding.EncodeToString(body[:])
		hash := sha256.Sum256([]byte(s.tokens[i]))
		// The id of the operator is also used as the id of the key.
		return []any{ids[i], ids[i], hash[:], "dk_", s.tokens[i][len(s.tokens[i])-4:], "bench", []string{"signal"}, now}
	})
}

// exec executes SQL. sql may contain several statements only if there are no arguments. An error ends the run.
func (s *system) exec(sql string, args ...any) {
	if _, err := s.DB(s.b).Exec(s.b.ctx, sql, args...); err != nil {
		check(fmt.Errorf("%.60s: %w", sql, err))
	}
}

// copy inserts n rows into a table with the SQL command COPY. The function row returns the values of row i. The table name has
// the form schema.table.
func (s *system) copy(table string, columns []string, n int, row func(i int) []any) {
	rows := pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil })
	if _, err := s.DB(s.b).CopyFrom(s.b.ctx, pgx.Identifier(strings.Split(table, ".")), columns, rows); err != nil {
		check(fmt.Errorf("fill %s: %w", table, err))
	}
}

// list executes a query with one result column and returns the values of this column.
func list[T any](s *system, sql string, args ...any) []T {
	return must(pgx.CollectRows(must(s.DB(s.b).Query(s.b.ctx, sql, args...)), pgx.RowTo[T]))
}

// settle runs VACUUM ANALYZE on tables, as autovacuum does in a running service, and makes a checkpoint.
func (s *system) settle(tables ...string) {
	for _, t := range tables {
		s.exec("VACUUM ANALYZE " + t)
	}
	s.exec("CHECKPOINT")
}

// awaitPublished waits until the relay has published all events, because this work must not be part of the next measurement.
func (s *system) awaitPublished() {
	stack.Eventually(s.b, 5*time.Minute, "an empty outbox", func() bool { return s.backlog() == 0 })
}

// backlog returns the number of events that the relay has not yet published in the feed.
func (s *system) backlog() int64 {
	return stack.Query[int64](s.b, s.Stack, "SELECT (SELECT count(*) FROM api.outbox) + (SELECT count(*) FROM api.feed_drains)")
}

// walPosition returns the number of bytes of the write-ahead log (WAL) that Postgres has written to disk so far.
func (s *system) walPosition() int64 {
	return stack.Query[int64](s.b, s.Stack, "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint")
}

// pid returns the process id of a process of the system, for example postgres.
func (s *system) pid(name string) int { return s.PID(s.b, name) }
