package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// asker is the pool or a transaction.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect converts the rows of a statement. It returns an empty list for none, never nil.
func collect[R, T any](rows []R, convert func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = convert(r)
	}
	return out
}

// wrap returns nil for nil, else err with what was being done.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// orZero returns the value of a nullable column, or the zero value for null.
func orZero[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

// texts returns a list as texts. nil, which is null in SQL, stays nil.
func texts[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	return collect(list, func(v T) string { return string(v) })
}

// neverNil returns an empty list for nil, which would be null in SQL.
func neverNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
