//go:build !teeth

package teeth

// Bites tells whether the named fault is planted. In this build none is.
func Bites(string) bool { return false }
