package card

import (
	"sort"
	"strings"
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
	Name     string   // stands in for a title that the letters of the PNG cannot write
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
	right bool // written from right to left
}

// rows breaks and fits the words: what does not fit ends in an ellipsis.
func (c *Card) rows() []row {
	out := []row{}
	add := func(y, size int, bold bool, color, text string, right bool) {
		f := face(bold, size)
		if text = fit(f, text, inner); text != "" {
			out = append(out, row{margin, y, size, bold, color, text, width(f, text), right})
		}
	}
	say := func(y, size int, bold bool, color, text string) {
		text = Clean(text)
		add(y, size, bold, color, text, rightToLeft(text))
	}
	say(110, kickerSize, true, c.accent(), strings.ToUpper(c.Kicker))
	y, title := titleTop, Clean(c.Title)
	for _, line := range wrap(face(true, titleSize), title, inner, titleLines) {
		add(y, titleSize, true, "#10131c", line, rightToLeft(title))
		y += titleLeading
	}
	y += 4
	say(y, bodySize, true, c.accent(), c.Subtitle)
	for _, line := range c.Lines[:min(3, len(c.Lines))] {
		y += bodyLeading
		say(y, bodySize-4, false, "#3c4254", line)
	}
	say(Height-44, kickerSize, true, "#10131c", "Signalcast")
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

// longest is more characters than fit into any line.
const longest = 400

// fit shortens a text until it is no wider.
func fit(f pen, s string, within int) string {
	runes := []rune(s)
	if len(runes) > longest {
		runes = append(runes[:longest], '…')
	}
	if width(f, string(runes)) <= within {
		return string(runes)
	}
	return begin(runes, fitting(f, runes, within, "…")) + "…"
}

// fitting returns how many characters of a text fit with a tail.
func fitting(f pen, runes []rune, within int, tail string) int {
	return sort.Search(len(runes), func(i int) bool { return width(f, begin(runes, i+1)+tail) > within })
}

// begin returns the first n characters of a text without blanks at their end.
func begin(runes []rune, n int) string { return strings.TrimRight(string(runes[:n]), " ") }

// wrap breaks a text into lines at its blanks, and a word that is too long inside; what
// is left stands in the last line, to be shortened.
func wrap(f pen, s string, within, most int) []string {
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
func cut(f pen, word string, within int) string {
	runes := []rune(word)
	return string(runes[:max(1, fitting(f, runes, within, ""))])
}
