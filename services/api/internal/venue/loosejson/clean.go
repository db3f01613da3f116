package loosejson

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// markup matches HTML tags and comments. It does not match a single "<", because questions contain comparisons.
var markup = regexp.MustCompile(`(?s)<(script|style)\b.*?</(script|style)\s*>|</?[a-zA-Z][^<>]*>|<!--.*?-->`)

// Plain returns a text without markup and without control characters, except line breaks and tabs. The result is in composed
// Unicode form (NFC), without surrounding spaces, and has at most limit runes.
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

// Limits of the texts in one record. MaxTags is a number of words; the others are numbers of runes.
const (
	MaxTitle       = 500
	MaxDescription = 20_000
	MaxWord        = 200
	MaxTags        = 24
)

// AppendWords appends each text to words as plain text of at most MaxWord runes. It omits empty texts, and texts beyond
// MaxTags words.
func AppendWords(words []string, texts ...Text) []string {
	for _, t := range texts {
		if word := Plain(string(t), MaxWord); word != "" && len(words) < MaxTags {
			words = append(words, word)
		}
	}
	return words
}

// Link returns the text if it is an https address of at most MaxTitle bytes, and "" otherwise.
func (t Text) Link() string {
	u, err := url.Parse(string(t))
	if err != nil || u.Scheme != "https" || u.Host == "" || len(t) > MaxTitle {
		return ""
	}
	return u.String()
}

// Normal returns the text in lower case without surrounding spaces.
func (t Text) Normal() string { return strings.ToLower(strings.TrimSpace(string(t))) }
