package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// inTx calls the function do in one transaction on the pool. It commits the transaction if do returns nil, and rolls it back
// otherwise.
func inTx(ctx context.Context, pool *pgxpool.Pool, do func(q *db.Queries) error) error {
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error { return do(db.New(tx)) })
}

// inSnapshot calls the function do in a read-only transaction in which all statements see the same state of the database. It
// converts an error with pg.Fault and prefixes its text with the string doing.
func inSnapshot(ctx context.Context, pool *pgxpool.Pool, doing string, do func(tx pgx.Tx) error) error {
	return pg.Fault(wrap(doing, pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, do)))
}

// indexed returns a map with one entry for each row. The function entry returns the key and the value of a row.
func indexed[R any, K comparable, V any](rows []R, entry func(R) (K, V)) map[K]V {
	out := make(map[K]V, len(rows))
	for _, r := range rows {
		k, v := entry(r)
		out[k] = v
	}
	return out
}

// wrap returns err with the string doing and a colon before its text. It returns nil if err is nil.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// missing returns the parameter none, which may be nil, if err is pgx.ErrNoRows. It converts other errors with pg.Fault and
// prefixes their text with the string doing. It returns nil if err is nil.
func missing(err, none error, doing string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return none
	}
	return pg.Fault(wrap(doing, err))
}

// texts converts a list to strings. A nil list, which is null in SQL, remains nil.
func texts[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	return pg.Collect(list, func(v T) string { return string(v) })
}

// neverNil returns an empty list for nil, which would be null in SQL.
func neverNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// convertInt returns a pointer to the same number in another integer type. nil, which is null in SQL, remains nil.
func convertInt[To, From ~int | ~int16 | ~int32](n *From) *To {
	if n == nil {
		return nil
	}
	v := To(*n)
	return &v
}
