package wire

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// markup is what looks like a tag; a bare "<" stays, questions compare figures.
var markup = regexp.MustCompile(`(?s)<(script|style)\b.*?</(script|style)\s*>|</?[a-zA-Z][^<>]*>|<!--.*?-->`)

// Plain makes text of what a venue sends: no markup, no control characters but
// line breaks, composed Unicode, at most limit runes.
func Plain(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.Contains(s, "<") {
		s = markup.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, norm.NFC.String(s))
	s = strings.TrimSpace(s)
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i]
		}
	}
	return s
}
