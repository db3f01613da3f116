//go:build !linux

package localdb

// mapped needs user namespaces, which only Linux has.
func mapped() (identity, bool) { return identity{}, false }
