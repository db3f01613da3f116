package signalcast

import (
	"errors"
	"iter"
)

// ErrCursor is the error of a list in which a cursor repeats. A service that cannot read a cursor returns the first page again,
// so the list would never end.
var ErrCursor = errors.New("signalcast: the service returned the same cursor twice, so the list stopped early; it may be incomplete")

// pages returns an iterator over the elements of a list. from is the cursor of the first page, or nil for the start of the list.
// It requests a page after the previous page is consumed. The first error is the last element.
func pages[P, T any](from *string, page func(cursor *string) (P, error), rows func(P) ([]T, *string)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{}
		for cursor := from; ; {
			p, err := page(cursor)
			list, next := rows(p)
			for _, row := range list {
				if !yield(row, nil) {
					return
				}
			}
			if err == nil && next != nil && *next != "" && seen[*next] {
				err = ErrCursor
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if next == nil || *next == "" {
				return
			}
			seen[*next], cursor = true, next
		}
	}
}

// at returns a copy of the list parameters, or zero parameters if params is nil.
func at[P any](params *P) P {
	if params == nil {
		return *new(P)
	}
	return *params
}
