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
	rows, err := pool.Query(ctx, query("recount"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("recount: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Difference, error) {
		var d Difference
		var kept, counted *string
		err := row.Scan(&d.Counter, &d.Of, &kept, &counted)
		d.Kept, d.Counted = orNothing(kept), orNothing(counted)
		return d, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("recount: %w", err))
	}
	return list, nil
}

func orNothing(s *string) string {
	if s == nil {
		return "nothing"
	}
	return *s
}
