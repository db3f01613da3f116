package postgres

import (
	"fmt"

	"github.com/signalcast/signalcast/pkg/pg"
)

// wrap returns nil for nil, else err with what was being done.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// texts returns a list as texts. nil, which is null in SQL, stays nil.
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

// convertInt returns a pointer to the same number as another integer type; nil, which is null in SQL, stays nil.
func convertInt[To, From ~int | ~int16 | ~int32](n *From) *To {
	if n == nil {
		return nil
	}
	v := To(*n)
	return &v
}
