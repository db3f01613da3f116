package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Clean takes out what is no word: control characters, those that turn the direction of
// writing for what follows, and broken UTF-8. Space of any kind becomes one blank, and a
// letter with its accents one character where there is one. The two characters that join
// or part letters stay: some scripts and pictograms are wrong without.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == zwnj, r == zwj:
			return r
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
			return -1
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	if strings.Trim(s, " \u200c\u200d") == "" { // joins nothing
		return ""
	}
	return norm.NFC.String(strings.Join(strings.Fields(s), " "))
}

// Unturned takes out of a text only the characters that turn the direction of writing:
// for what is shown to others as it was written.
func Unturned(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// rightToLeft tells how a text is written, by its first letter that is written in a
// direction.
func rightToLeft(s string) bool {
	for _, r := range s {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

// drawable is the card as our own fonts can draw it, without a box anywhere. A title
// with letters that they lack gives way to the name, another text with such is left
// out; a pictogram becomes an ellipsis.
func (c *Card) drawable() *Card {
	out := *c
	if out.Title = inOurLetters(c.Title); out.Title == "" {
		out.Title = inOurLetters(c.Name)
	}
	out.Kicker, out.Subtitle, out.Lines = inOurLetters(c.Kicker), inOurLetters(c.Subtitle), make([]string, 0, len(c.Lines))
	for _, line := range c.Lines {
		if line = inOurLetters(line); line != "" {
			out.Lines = append(out.Lines, line)
		}
	}
	return &out
}

// inOurLetters is a text without what our fonts lack; empty: nothing true is left.
func inOurLetters(s string) string {
	var b strings.Builder
	s = Clean(s)
	words, whole := false, true
	for _, r := range s {
		ours := has(fonts()[true], r) && has(fonts()[false], r)
		whole = whole && ours
		switch {
		case ours:
			words = words || unicode.In(r, unicode.L, unicode.N)
			b.WriteRune(r)
		case unicode.In(r, unicode.M, unicode.Cf, unicode.Sk):
		case !unicode.Is(unicode.So, r):
			return ""
		case !strings.HasSuffix(b.String(), "…"):
			b.WriteRune('…')
		}
	}
	if whole {
		return s
	}
	if !words {
		return ""
	}
	return strings.Trim(b.String(), " …")
}
