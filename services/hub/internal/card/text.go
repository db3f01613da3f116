package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Clean returns a text on one line. It removes invalid UTF-8 and format characters, among them those that change the text
// direction. White space becomes one space, and letters are composed with their accents (NFC). It keeps the zero-width joiner and
// non-joiner, which some scripts and emoji need.
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

// RemoveBidi removes the characters that change the text direction. It is for texts that are otherwise shown as their author
// wrote them.
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

// rightToLeft reports whether the first character with a direction belongs to a right-to-left script.
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

// drawable returns the card with texts that the embedded fonts can draw. A title with letters that the fonts lack is replaced by
// Name; other such texts are left out. Emoji become an ellipsis.
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

// drawableText returns a text without characters that the fonts lack. It returns "" if the text has letters that the fonts lack,
// or no letters at all.
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
