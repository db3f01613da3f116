package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Time asks the database for its time.
func Time(pool *pgxpool.Pool) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (at time.Time, err error) {
		err = pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
		return at, err
	}
}
