package signalcast

import (
	"errors"
	"iter"
)

// ErrCursor ends a list whose cursor repeats: a service that cannot read a cursor answers the first page again, and the list
// would never end.
var ErrCursor = errors.New("signalcast: the cursor of the list leads back to a page that was read")

// pages returns an iterator over a list that starts at the cursor from. It reads a page when the previous one is used up, and ends
// with the first error.
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

// at returns a copy of the parameters of a list, or zero parameters for nil.
func at[P any](params *P) P {
	if params == nil {
		return *new(P)
	}
	return *params
}
