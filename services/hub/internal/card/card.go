package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
)

// Size of every card.
const (
	Width  = 1200
	Height = 630
)

// Accents of cards: of a side, of an outcome, or of neither.
const (
	Plain = "#14213d"
	Good  = "#0a7d5c"
	Bad   = "#c2362b"
	Grey  = "#6b7280"
)

// Card is what is said.
type Card struct {
	Kicker   string // what it is, in a few capitals
	Title    string
	Subtitle string
	Lines    []string // at most three
	Accent   string   // one of the accents
}

// Layout of a card, in its own units.
const (
	margin       = 80
	inner        = Width - 2*margin
	titleTop     = 190
	titleSize    = 60
	titleLeading = 72
	titleLines   = 3
	bodySize     = 36
	bodyLeading  = 50
	kickerSize   = 28
)

// row is a line of words in its place.
type row struct {
	x, y  int // of the base line
	size  int
	bold  bool
	color string
	text  string
	width int
}

// rows breaks and fits the words: what does not fit ends in an ellipsis.
func (c *Card) rows() []row {
	out := []row{}
	add := func(y, size int, bold bool, color, text string) {
		text = fit(face(bold, size), text, inner)
		if text != "" {
			out = append(out, row{margin, y, size, bold, color, text, width(face(bold, size), text)})
		}
	}
	add(110, kickerSize, true, c.accent(), strings.ToUpper(clean(c.Kicker)))
	y := titleTop
	for _, line := range wrap(face(true, titleSize), clean(c.Title), inner, titleLines) {
		add(y, titleSize, true, "#10131c", line)
		y += titleLeading
	}
	y += 4
	add(y, bodySize, true, c.accent(), clean(c.Subtitle))
	for _, line := range c.Lines[:min(3, len(c.Lines))] {
		y += bodyLeading
		add(y, bodySize-4, false, "#3c4254", clean(line))
	}
	add(Height-44, kickerSize, true, "#10131c", "Signalcast")
	return out
}

// accent is one of ours, whatever was said.
func (c *Card) accent() string {
	switch c.Accent {
	case Good, Bad, Grey:
		return c.Accent
	}
	return Plain
}

// clean takes out what is no word: control characters, those that turn the direction of
// writing for what follows, and broken UTF-8. Space of any kind becomes one blank.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
			return -1
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// longest is more characters than fit into any line.
const longest = 400

func width(f font.Face, s string) int { return font.MeasureString(f, s).Ceil() }

// fit shortens a text until it is no wider.
func fit(f font.Face, s string, within int) string {
	runes := []rune(s)
	if len(runes) > longest {
		runes = append(runes[:longest], '…')
	}
	if width(f, string(runes)) <= within {
		return string(runes)
	}
	low, high := 0, len(runes) // so many characters fit, so many do not
	for high-low > 1 {
		middle := (low + high) / 2
		if width(f, strings.TrimRight(string(runes[:middle]), " ")+"…") <= within {
			low = middle
		} else {
			high = middle
		}
	}
	return strings.TrimRight(string(runes[:low]), " ") + "…"
}

// wrap breaks a text into lines at its blanks, and a word that is too long inside; what
// is left stands in the last line, to be shortened.
func wrap(f font.Face, s string, within, most int) []string {
	var lines []string
	words := strings.Fields(s)
	for len(words) > 0 {
		if len(lines) == most-1 {
			return append(lines, strings.Join(words, " "))
		}
		n := 1
		for n < len(words) && width(f, strings.Join(words[:n+1], " ")) <= within {
			n++
		}
		line := strings.Join(words[:n], " ")
		if n == 1 && width(f, line) > within {
			head := cut(f, line, within)
			lines, words[0] = append(lines, head), line[len(head):]
			continue
		}
		lines, words = append(lines, line), words[n:]
	}
	return lines
}

// cut is as much of a word as fits, at least one character.
func cut(f font.Face, word string, within int) string {
	end := 0
	for i, r := range word {
		next := i + utf8.RuneLen(r)
		if end > 0 && width(f, word[:next]) > within {
			break
		}
		end = next
	}
	return word[:end]
}
