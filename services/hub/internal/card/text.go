package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Clean returns s as one line. It removes invalid UTF-8, private-use characters and format characters, including the characters
// that change the text direction. White space and control characters become single spaces, and letters are composed with their
// accents (NFC).
//
// Clean keeps the zero-width joiner and non-joiner, which some scripts and emoji need. A text of only spaces and joiners becomes
// empty.
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
	if strings.Trim(s, " \u200c\u200d") == "" { // only joiners
		return ""
	}
	return norm.NFC.String(strings.Join(strings.Fields(s), " "))
}

// RemoveBidi removes the characters that change the text direction from s. It leaves all other characters, including line breaks.
func RemoveBidi(s string) string {
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

// rightToLeft reports whether the first character of s with a direction belongs to a right-to-left script.
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

// drawable returns a copy of the card in which the embedded fonts can draw all texts. Name replaces a title with letters that
// the fonts lack. Other texts with such letters are left out. Emoji that the fonts lack become an ellipsis.
func (c *Card) drawable() *Card {
	out := *c
	if out.Title = drawableText(c.Title); out.Title == "" {
		out.Title = drawableText(c.Name)
	}
	out.Kicker, out.Subtitle, out.Lines = drawableText(c.Kicker), drawableText(c.Subtitle), make([]string, 0, len(c.Lines))
	for _, line := range c.Lines {
		if line = drawableText(line); line != "" {
			out.Lines = append(out.Lines, line)
		}
	}
	return &out
}

// drawableText returns the form of s that the embedded fonts can draw. It replaces emoji that the fonts lack by an ellipsis, and
// drops missing combining marks and format characters. It returns "" if a letter is missing in the fonts, or if the shortened
// text has no letters or digits.
func drawableText(s string) string {
	var b strings.Builder
	s = Clean(s)
	letters, complete := false, true
	for _, r := range s {
		known := hasGlyph(fonts()[true], r) && hasGlyph(fonts()[false], r)
		complete = complete && known
		switch {
		case known:
			letters = letters || unicode.In(r, unicode.L, unicode.N)
			b.WriteRune(r)
		case unicode.In(r, unicode.M, unicode.Cf, unicode.Sk):
		case !unicode.Is(unicode.So, r):
			return ""
		case !strings.HasSuffix(b.String(), "…"):
			b.WriteRune('…')
		}
	}
	if complete {
		return s
	}
	if !letters {
		return ""
	}
	return strings.Trim(b.String(), " …")
}
