package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/test/system/stack"
)

//go:embed scale.sql
var scaleSQL string

// ledger is a running system whose database contains size calls.
type ledger struct {
	*system
	size      int
	operators int
	markets   int
	changes   int // number of calls that were filed one by one
	filled    time.Time
	prepared  *pgx.Conn // plans statements as the connections of the product do
	byKey     *pgx.Conn // plans statements of a small ledger like those of a large one
}

// startLedger starts a system, fills its database with size calls, and opens the connections on which statements are explained.
func (b *bench) startLedger(size int) *ledger {
	// With ten million calls, the disk needs space for the rows, but not for an equally large write-ahead log.
	s := b.start([]string{"max_wal_size=1GB", "shared_buffers=" + b.buffers}, stack.Env("MOVEMENT_EVERY", "60s"))
	l := &ledger{system: s, size: size, operators: size / 50, markets: size / 200, filled: time.Now().UTC().Truncate(time.Second)}
	began := time.Now()
	// The api is suspended and then restarted, so that it has no data of the empty ledger in memory.
	s.Hang(b, "api")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'api_rw'")
	l.fill()
	s.Crash(b, "api")
	fmt.Printf("a ledger of %d calls: %d operators, %d markets, %s on disk, filled in %s\n", size, l.operators, l.markets,
		list[string](s, "SELECT pg_size_pretty(pg_database_size(current_database()))")[0], time.Since(began).Round(time.Second))
	l.prepared, l.byKey = l.planner(), l.planner()
	// These settings forbid plans that read small tables completely and search them in memory. Each row is then found
	// by its key, as in large tables.
	must(l.byKey.Exec(b.ctx, `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
		SET enable_memoize = off`))
	return l
}

// planner returns a database connection that plans statements in the same way as the connections of the api.
func (l *ledger) planner() *pgx.Conn {
	conn := must(pgx.Connect(l.b.ctx, l.DatabaseURL))
	l.b.Cleanup(func() { _ = conn.Close(context.Background()) })
	must(conn.Exec(l.b.ctx, "SET ROLE api_rw; SET search_path = api; SET plan_cache_mode = force_generic_plan"))
	return conn
}

// bareTables lists the tables that are filled without indexes. The indexes are created afterwards.
const bareTables = `ARRAY['api.signals', 'api.signal_events', 'api.signal_results', 'api.moments', 'api.open_signals',
	'api.operator_tallies']`

func (l *ledger) fill() {
	l.exec(seedSQL + scaleSQL)
	for _, step := range []string{
		"SELECT bench.drop_indexes(" + bareTables + ")",
		fmt.Sprintf("SELECT bench.add_calls(%d)", l.size),
		"ANALYZE api.signals; ANALYZE api.markets; ANALYZE api.market_resolutions; ANALYZE api.users",
		"SELECT bench.add_results()",
		"ANALYZE api.signal_results",
		"SELECT bench.add_feed()",
		"ANALYZE api.protocol_events",
		"SELECT bench.count_all()",
		"SELECT bench.create_indexes()",
	} {
		began := time.Now()
		l.exec(step)
		if took := time.Since(began); took > 10*time.Second {
			fmt.Printf("  %.60s %s\n", step, took.Round(time.Second))
		}
	}
	l.measureEdges()
	l.exec("VACUUM (ANALYZE)")
	l.exec("CHECKPOINT")
}

// measureEdges computes the edges of all operators, in total and by lane, and stores them.
func (l *ledger) measureEdges() {
	rows := must(l.DB(l.b).Query(l.b.ctx, `SELECT user_id::text, lane, price_bps, confidence, calls, wins
		FROM api.operator_tallies ORDER BY user_id, lane`))
	var edges [][]any
	var user, lane, lastUser, lastLane string
	var t skill.Tally
	whole, part := new(skill.Sample), new(skill.Sample)
	add := func(lane string, s *skill.Sample) {
		if r, some := s.Report(); some {
			edges = append(edges, []any{lastUser, lane, r.Calls, r.EdgeBps, r.LowBps, r.HighBps})
		}
	}
	must(pgx.ForEachRow(rows, []any{&user, &lane, &t.Price, &t.Confidence, &t.Calls, &t.Wins}, func() error {
		if user != lastUser || lane != lastLane {
			add(lastLane, part)
			part = new(skill.Sample)
		}
		if user != lastUser {
			add("", whole)
			whole = new(skill.Sample)
		}
		lastUser, lastLane = user, lane
		return errors.Join(whole.AddTally(t), part.AddTally(t))
	}))
	add(lastLane, part)
	add("", whole)
	l.exec("CREATE UNLOGGED TABLE bench.edges (user_id uuid, lane text, calls bigint, edge int, low int, high int)")
	l.copy("bench.edges", strings.Fields("user_id lane calls edge low high"), len(edges), func(i int) []any { return edges[i] })
	l.exec(`UPDATE api.board_rows b SET skill_calls = e.calls, edge_bps = e.edge, low_bps = e.low, high_bps = e.high
		FROM bench.edges e WHERE e.user_id = b.user_id AND e.lane = b.lane;
		DROP TABLE bench.edges; DELETE FROM api.board_due`)
}

// command runs the program api with the arguments args on the database of the ledger.
func (l *ledger) command(args ...string) {
	cmd := exec.CommandContext(l.b.ctx, filepath.Join(stack.Bin(l.b), "api"), args...)
	for name, value := range l.Environment(l.b, "api") {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	output(cmd)
}
