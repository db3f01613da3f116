package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsLine reports text of low to high characters on one line: without control
// characters, breaks of lines or paragraphs and turned directions of writing and,
// where there has to be something, with something that can be seen.
func IsLine(s string, low, high int) bool {
	if n := utf8.RuneCountInString(s); n < low || n > high || !utf8.ValidString(s) {
		return false
	}
	if strings.ContainsFunc(s, breaksLine) {
		return false
	}
	return low == 0 || strings.ContainsFunc(s, seen)
}

// breaksLine tells what makes a line another one than it looks: whoever puts it
// among other text moves that text too.
func breaksLine(r rune) bool {
	switch {
	case r < ' ', r == 0x7f, r == 0x85, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// seen tells whether a character leaves a mark by itself. Joiners do not, and stay
// allowed: emoji are made with them.
func seen(r rune) bool {
	switch {
	case unicode.IsSpace(r), r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064:
		return false
	}
	switch r {
	case 0xad, 0x115f, 0x1160, 0x180e, 0x2800, 0x3164, 0xfeff, 0xffa0: // soft hyphen, fillers, blanks
		return false
	}
	return true
}
