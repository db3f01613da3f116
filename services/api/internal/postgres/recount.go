package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
)

// Difference is a counter that does not equal the record.
type Difference struct {
	Counter, Of   string
	Kept, Counted string
}

// Recount compares every counter with a count of the record, in one snapshot. It
// changes nothing. At most 1,000 differences are given.
func Recount(ctx context.Context, pool *pgxpool.Pool) ([]Difference, error) {
	list, err := differences(ctx, pool, "recount")
	return list, pg.Fault(err)
}

// differences runs a query whose rows are differences.
func differences(ctx context.Context, from queryer, name string, args ...any) ([]Difference, error) {
	rows, err := from.Query(ctx, query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Difference, error) {
		var d Difference
		var kept, counted *string
		err := row.Scan(&d.Counter, &d.Of, &kept, &counted)
		d.Kept, d.Counted = orNothing(kept), orNothing(counted)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func orNothing(s *string) string {
	if s == nil {
		return "nothing"
	}
	return *s
}
