package teeth

// Plain compares as one must not compare secrets: it stops at the first difference.
func Plain(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
