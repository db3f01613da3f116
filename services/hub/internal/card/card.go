package card

import (
	"sort"
	"strings"
)

// Width and Height are the size of a card image in pixels.
const (
	Width  = 1200
	Height = 630
)

// Accent colours of a card. Good is for a won call, Bad for a lost call, Grey for a void call or a dispute, and Plain for all
// others.
const (
	Plain = "#14213d"
	Good  = "#0a7d5c"
	Bad   = "#c2362b"
	Grey  = "#6b7280"
)

// Card has the texts and the accent colour of a share image. Users may have written the texts, so they are untrusted.
type Card struct {
	Kicker   string // short label above the title; it is shown in capitals
	Title    string
	Subtitle string
	Lines    []string // at most three are shown
	Name     string   // shown in the PNG instead of a title that its font cannot draw
	Accent   string   // Plain, Good, Bad or Grey; other values mean Plain
	Stamp    string   // verdict in the upper right corner; it is shown in capitals
	Chart    *Chart   // nil: none
}

// Layout of a card in pixels. titleLines is the maximum number of lines of the title.
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
	chartGap     = 40 // between the texts and the chart
	lastLine     = Height - 70
)

// textLine is a line of text with its position, font size and colour.
type textLine struct {
	x, y  int // left end of the baseline, in pixels
	size  int
	bold  bool
	color string
	text  string
	width int
	right bool // right-to-left script
}

// textLines returns the positioned lines of the card. A text that is wider than the card is shortened and ends with an ellipsis.
func (c *Card) textLines() []textLine {
	out := []textLine{}
	add := func(x, y, size int, bold bool, color, text string, limit int, right bool) {
		f := face(bold, size)
		if text = fit(f, text, limit); text != "" {
			out = append(out, textLine{x, y, size, bold, color, text, width(f, text), right})
		}
	}
	addText := func(x, y, size int, bold bool, color, text string) {
		text = Clean(text)
		add(x, y, size, bold, color, text, inner-x+margin, rightToLeft(text))
	}
	lines, rows, limit, leading := titleLines, 1, inner, bodyLeading
	if c.Chart != nil { // the texts below the title have half of the width
		lines, rows, limit, leading = titleLines-1, 2, chartLeft-chartGap-margin, bodyLeading-8
		addText(chartLeft+chartWidth+12, chartTop+chartText, chartText, false, "#3c4254", c.Chart.Top)
		addText(chartLeft+chartWidth+12, chartTop+chartHeight, chartText, false, "#3c4254", c.Chart.Bottom)
		addText(chartLeft, chartTop+chartHeight+chartText+12, chartText, false, "#3c4254", c.Chart.Caption)
	}
	addText(margin, 110, kickerSize, true, c.accent(), strings.ToUpper(c.Kicker))
	if stamp := fit(face(true, bodySize), strings.ToUpper(Clean(c.Stamp)), inner/2); stamp != "" {
		addText(Width-margin-width(face(true, bodySize), stamp), 110, bodySize, true, c.accent(), stamp)
	}
	y, title := titleTop, Clean(c.Title)
	for _, line := range wrap(face(true, titleSize), title, inner, lines) {
		add(margin, y, titleSize, true, "#10131c", line, inner, rightToLeft(title))
		y += titleLeading
	}
	y += 4
	for i, text := range append([]string{c.Subtitle}, c.Lines[:min(3, len(c.Lines))]...) {
		size, bold, color := bodySize, true, c.accent()
		if i > 0 {
			size, bold, color = bodySize-4, false, "#3c4254"
		}
		text = Clean(text)
		for _, line := range wrap(face(bold, size), text, limit, rows) {
			if y <= lastLine {
				add(margin, y, size, bold, color, line, limit, rightToLeft(text))
			}
			y += leading
		}
	}
	addText(margin, Height-44, kickerSize, true, "#10131c", "Signalcast")
	return out
}

// accent returns the accent colour of the card. Unknown values become Plain.
func (c *Card) accent() string {
	switch c.Accent {
	case Good, Bad, Grey:
		return c.Accent
	}
	return Plain
}

// maxRunes is the maximum number of characters that the function fit measures. It cuts a longer text first, because no line of
// a card has space for more characters.
const maxRunes = 400

// fit shortens s to at most maxWidth pixels. A shortened text ends with an ellipsis.
func fit(f pen, s string, maxWidth int) string {
	runes := []rune(s)
	if len(runes) > maxRunes {
		runes = append(runes[:maxRunes], '…')
	}
	if width(f, string(runes)) <= maxWidth {
		return string(runes)
	}
	return prefix(runes, fittingRunes(f, runes, maxWidth, "…")) + "…"
}

// fittingRunes returns the maximum number of leading characters that fit in maxWidth pixels. The text in the parameter ending
// follows them and must fit too.
func fittingRunes(f pen, runes []rune, maxWidth int, ending string) int {
	return sort.Search(len(runes), func(i int) bool { return width(f, prefix(runes, i+1)+ending) > maxWidth })
}

// prefix returns the first n characters of a text without spaces at the end.
func prefix(runes []rune, n int) string { return strings.TrimRight(string(runes[:n]), " ") }

// wrap breaks a text into at most maxLines lines of maxWidth pixels. It breaks at spaces, and inside a word that is wider than a
// line. The last line contains all remaining words and may be too wide; the caller shortens it.
func wrap(f pen, s string, maxWidth, maxLines int) []string {
	var lines []string
	words := strings.Fields(s)
	for len(words) > 0 {
		if len(lines) == maxLines-1 {
			return append(lines, strings.Join(words, " "))
		}
		n := 1
		for n < len(words) && width(f, strings.Join(words[:n+1], " ")) <= maxWidth {
			n++
		}
		line := strings.Join(words[:n], " ")
		if n == 1 && width(f, line) > maxWidth {
			head := cutWord(f, line, maxWidth)
			lines, words[0] = append(lines, head), line[len(head):]
			continue
		}
		lines, words = append(lines, line), words[n:]
	}
	return lines
}

// cutWord returns the leading characters of a word that fit in maxWidth pixels, but at least one character.
func cutWord(f pen, word string, maxWidth int) string {
	runes := []rune(word)
	return string(runes[:max(1, fittingRunes(f, runes, maxWidth, ""))])
}
