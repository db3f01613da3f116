package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// explain returns the query plan of a statement as text.
func (b *bundle) explain(options, sql string, args ...any) string {
	b.t.Helper()
	rows, err := b.rw.Query(b.t.Context(), "EXPLAIN ("+options+") "+sql, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return linesOf(b.t, rows)
}

func linesOf(t testing.TB, rows pgx.Rows) string {
	t.Helper()
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// planOf returns the query plan of the generated statement that run executes, with the number of rows of each node.
func (b *bundle) planOf(run func(q *db.Queries)) string {
	b.t.Helper()
	e := newExplainer(b)
	run(db.New(e))
	return e.plan
}

// explainer is a DBTX that explains each statement and stores its plan. The callers of the statements receive an error
// instead of rows.
type explainer struct {
	b       *bundle
	options string
	plan    string
}

func newExplainer(b *bundle) *explainer {
	return &explainer{b: b, options: "ANALYZE, COSTS OFF, TIMING OFF"}
}

var errExplained = errors.New("explained")

func (e *explainer) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	e.plan = e.b.explain(e.options, sql, args...)
	return pgconn.CommandTag{}, errExplained
}

func (e *explainer) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	e.plan = e.b.explain(e.options, sql, args...)
	return nil, errExplained
}

func (e *explainer) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	_, err := e.Query(ctx, sql, args...)
	return explained{err}
}

type explained struct{ err error }

func (r explained) Scan(...any) error { return r.err }
