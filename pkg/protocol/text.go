package protocol

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsText reports whether s is valid UTF-8 and contains only permitted code points. It does not permit control
// characters (except line feeds if lines is set), embeddings, overrides and isolates of the writing direction (U+202A
// to U+202E, U+2066 to U+2069), private use characters and noncharacters.
func IsText(s string, lines bool) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return forbidden(r) && (!lines || r != '\n') })
}

func forbidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case unicode.Is(unicode.Co, r):
		return true
	}
	return r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe // noncharacters
}

// PlainLines returns s with each CR LF replaced by LF.
func PlainLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// IsLine reports whether s is a text of low to high characters on one line. Unless low is 0, it must contain a
// visible character.
func IsLine(s string, low, high int) bool {
	if n := utf8.RuneCountInString(s); n < low || n > high || !IsText(s, false) || strings.ContainsAny(s, "\u2028\u2029") {
		return false
	}
	return low == 0 || strings.ContainsFunc(s, visible)
}

// IsName reports whether s is a line (see IsLine) without format characters (category Cf). Joiners between emoji are
// permitted.
func IsName(s string, low, high int) bool {
	if !IsLine(s, low, high) {
		return false
	}
	for i, r := range s {
		if unicode.Is(unicode.Cf, r) && (r != joiner || !joins(s[:i], s[i+len(string(joiner)):])) {
			return false
		}
	}
	return true
}

const (
	joiner    = '\u200d'
	variation = "\ufe0f" // selects the emoji form of the preceding character
)

// joins reports whether before ends with an emoji and after begins with one.
func joins(before, after string) bool {
	left, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(before, variation))
	right, _ := utf8.DecodeRuneInString(after)
	return isEmoji(left) && isEmoji(right)
}

// isEmoji reports whether r belongs to a block that contains emoji.
func isEmoji(r rune) bool {
	switch {
	case r >= 0x2190 && r <= 0x23ff, r >= 0x25a0 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	return r >= 0x1f000 && r <= 0x1faff
}

// visible reports whether r is displayed as a visible character. It is false for spaces, zero-width characters and
// fillers.
func visible(r rune) bool {
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

// oneOf returns s as a T and true if it is one of words, and otherwise "" and false. The comparison is case-sensitive.
func oneOf[T ~string](s string, words ...T) (T, bool) {
	if slices.Contains(words, T(s)) {
		return T(s), true
	}
	return "", false
}

// Snake converts a member name from camelCase to the form used in error codes: priceAtPrediction becomes
// price_at_prediction, hlsURL becomes hls_url.
func Snake(member string) string {
	member = acronymEnd.ReplaceAllString(member, "${1}_${2}")
	member = wordStart.ReplaceAllString(member, "${1}_${2}")
	return strings.ToLower(notWord.ReplaceAllString(member, "_"))
}

var (
	acronymEnd = regexp.MustCompile("([A-Z])([A-Z][a-z])")
	wordStart  = regexp.MustCompile("([a-z0-9])([A-Z])")
	notWord    = regexp.MustCompile("[^0-9A-Za-z]")
)
