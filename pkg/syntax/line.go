package syntax

import (
	"strings"
	"unicode/utf8"
)

// IsLine reports text of low to high characters on one line: without control
// characters and, where there has to be something, not of spaces alone.
func IsLine(s string, low, high int) bool {
	if n := utf8.RuneCountInString(s); n < low || n > high || !utf8.ValidString(s) {
		return false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	return low == 0 || strings.Trim(s, " ") != ""
}
