package syntax

// Limit reads a `limit` query parameter: missing, not a whole number or below
// one is the default, above the maximum is the maximum. It never fails.
func Limit(raw string, def, limit int) int {
	if !isDigits(raw) {
		return def
	}
	n := 0
	for i := range len(raw) {
		n = n*10 + int(raw[i]-'0')
		if n > limit {
			return limit
		}
	}
	if n < 1 {
		return def
	}
	return n
}
