package pg

// Null returns a pointer to v, or nil if v is the zero value. It is for nullable columns that store null instead of
// an empty text or the zero time.
func Null[T comparable](v T) *T {
	var zero T
	if z, ok := any(v).(interface{ IsZero() bool }); v == zero || ok && z.IsZero() {
		return nil
	}
	return &v
}

// Value returns the value of a nullable column: *p, or the zero value if p is nil.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Collect returns the results of the function convert for all rows, in the same order. It returns an empty list instead of nil if
// there are no rows.
func Collect[R, T any](rows []R, convert func(R) T) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out
}
