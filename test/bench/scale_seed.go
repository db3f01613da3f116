package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/skill"
)

//go:embed scale.sql
var scaleSQL string

// archive is a running product with a ledger of a given size in it.
type archive struct {
	*seed
	stack     *stack
	size      int
	operators int
	markets   int
	changes   int // calls filed one by one
	away      int // pages that were answered 503
	filled    time.Time
	prepared  *pgx.Conn // plans as the product's own connections do
	byKey     *pgx.Conn // plans a small ledger as if it were a large one
}

// startLedger starts a stack and fills it. The database is durable and on disk.
func startLedger(ctx context.Context, dir, buffers string, size int) (l *archive, err error) {
	// Of ten millions the disk shall hold the rows, not as much again of the log.
	set := []string{"max_wal_size=1GB", "shared_buffers=" + buffers}
	s, err := startStackSet(ctx, dir, fmt.Sprintf("size-%d", size), set, "MOVEMENT_EVERY=60s")
	if err != nil {
		return nil, err
	}
	l = &archive{stack: s, size: size, operators: size / 50, markets: size / 200, seed: &seed{}}
	defer func() {
		if err != nil {
			l.stop("")
		}
	}()
	if l.db, err = connect(ctx, s); err != nil {
		return l, err
	}
	began := time.Now()
	l.filled = began.UTC().Truncate(time.Second)
	if err := l.without(ctx, "api", func() error { return l.fillLedger(ctx) }); err != nil {
		return l, fmt.Errorf("fill %d calls: %w", size, err)
	}
	bytes, err := query[string](ctx, l.db, "SELECT pg_size_pretty(pg_database_size(current_database()))")
	if err != nil {
		return l, err
	}
	fmt.Printf("a ledger of %d calls: %d operators, %d markets, %s on disk, filled in %s\n", size, l.operators, l.markets, bytes[0], time.Since(began).Round(time.Second))
	if l.prepared, err = planner(ctx, s); err != nil {
		return l, err
	}
	// Where tables have five pages they are read whole and looked up in memory; where they
	// are large each row is looked up by its key.
	if l.byKey, err = planner(ctx, s); err == nil {
		_, err = l.byKey.Exec(ctx, "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off")
	}
	return l, err
}

func (l *archive) stop(logs string) {
	for _, conn := range []*pgx.Conn{l.prepared, l.byKey} {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}
	l.close()
	l.stack.stop(logs)
}

// without does something while a service stands still, and has it started anew: nothing
// that it holds in memory is of before.
func (l *archive) without(ctx context.Context, service string, do func() error) error {
	pid := l.stack.pid(service)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	err := l.run(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'api_rw'")
	if err == nil {
		err = do()
	}
	return errors.Join(err, syscall.Kill(pid, syscall.SIGKILL), l.again(ctx, service, pid))
}

// again waits until a service has another process and the stack answers.
func (l *archive) again(ctx context.Context, service string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for l.stack.pid(service) == pid {
		if pause(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return fmt.Errorf("%s did not come again: %w", service, ctx.Err())
		}
		if err := l.stack.load(); err != nil {
			return err
		}
	}
	return errors.Join(answers(ctx, l.stack.API+"/readyz"), answers(ctx, l.stack.Hub+"/readyz"))
}

// ledgerTables are filled without their indexes.
const ledgerTables = `ARRAY['api.signals', 'api.signal_events', 'api.signal_results', 'api.moments', 'api.open_signals', 'api.operator_tallies']`

func (l *archive) fillLedger(ctx context.Context) error {
	if err := l.run(ctx, seedSQL+scaleSQL); err != nil {
		return err
	}
	for _, step := range []string{
		"SELECT bench.strip(" + ledgerTables + ")",
		fmt.Sprintf("SELECT bench.add_calls(%d)", l.size),
		"ANALYZE api.signals; ANALYZE api.markets; ANALYZE api.market_resolutions; ANALYZE api.users",
		"SELECT bench.add_results()",
		"ANALYZE api.signal_results",
		"SELECT bench.add_feed()",
		"ANALYZE api.protocol_events",
		"SELECT bench.count_all()",
		"SELECT bench.dress()",
	} {
		began := time.Now()
		if err := l.run(ctx, step); err != nil {
			return fmt.Errorf("%.60s: %w", step, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			fmt.Printf("  %.60s %s\n", step, took.Round(time.Second))
		}
	}
	if err := l.measureEdges(ctx); err != nil {
		return fmt.Errorf("measure edges: %w", err)
	}
	if err := l.run(ctx, "VACUUM (ANALYZE)"); err != nil {
		return err
	}
	return l.run(ctx, "CHECKPOINT")
}

// edgeOf is how a row of a board was measured.
type edgeOf struct {
	user, lane               string
	calls                    int64
	edgeBps, lowBps, highBps int
}

// measureEdges does what the fold of the boards does some hundred rows at a time.
func (l *archive) measureEdges(ctx context.Context) error {
	conn, err := l.db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	rows, err := conn.Query(ctx, `SELECT user_id::text, lane, price_bps, confidence, calls, wins FROM api.operator_tallies ORDER BY user_id, lane`)
	if err != nil {
		return err
	}
	var edges []edgeOf
	var user, lane, lastUser, lastLane string
	var t skill.Tally
	whole, part := new(skill.Sample), new(skill.Sample)
	flush := func(lane string, s *skill.Sample) {
		if r, some := s.Report(); some {
			edges = append(edges, edgeOf{lastUser, lane, r.Calls, r.EdgeBps, r.LowBps, r.HighBps})
		}
	}
	_, err = pgx.ForEachRow(rows, []any{&user, &lane, &t.Price, &t.Confidence, &t.Calls, &t.Wins}, func() error {
		if user != lastUser || lane != lastLane {
			flush(lastLane, part)
			part = new(skill.Sample)
		}
		if user != lastUser {
			flush("", whole)
			whole = new(skill.Sample)
		}
		lastUser, lastLane = user, lane
		return errors.Join(whole.AddTally(t), part.AddTally(t))
	})
	if err != nil {
		return err
	}
	flush(lastLane, part)
	flush("", whole)
	return l.keepEdges(ctx, edges)
}

func (l *archive) keepEdges(ctx context.Context, edges []edgeOf) error {
	if err := l.run(ctx, `CREATE UNLOGGED TABLE bench.edges (user_id uuid, lane text, calls bigint, edge int, low int, high int)`); err != nil {
		return err
	}
	_, err := l.db.CopyFrom(ctx, pgx.Identifier{"bench", "edges"}, []string{"user_id", "lane", "calls", "edge", "low", "high"},
		pgx.CopyFromSlice(len(edges), func(i int) ([]any, error) {
			e := edges[i]
			return []any{e.user, e.lane, e.calls, e.edgeBps, e.lowBps, e.highBps}, nil
		}))
	if err != nil {
		return err
	}
	return l.run(ctx, `UPDATE api.board_rows b SET skill_calls = e.calls, edge_bps = e.edge, low_bps = e.low, high_bps = e.high
		FROM bench.edges e WHERE e.user_id = b.user_id AND e.lane = b.lane;
		DROP TABLE bench.edges; DELETE FROM api.board_due`)
}

// planner is a connection that plans as the ledger's own do.
func planner(ctx context.Context, s *stack) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, s.Database)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "SET ROLE api_rw; SET search_path = api; SET plan_cache_mode = force_generic_plan")
	return conn, err
}

// statementText returns a statement of the ledger from the code that sqlc generated.
func statementText(name string) (string, error) {
	files, err := filepath.Glob(filepath.Join("services", "api", "internal", "postgres", "db", "*.sql.go"))
	if err != nil {
		return "", err
	}
	begin := "`-- name: " + name + " :"
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if _, text, ok := strings.Cut(string(code), begin); ok {
			_, text, _ = strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "`")
			return text, nil
		}
	}
	return "", fmt.Errorf("no statement %s in %d files", name, len(files))
}
