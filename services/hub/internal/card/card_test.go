package card

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
)

var hostile = []string{
	"Will the gauge read above 6 m before 1 December?", "", " ", strings.Repeat("W", 4000), strings.Repeat("long words ", 300),
	`</text><script>alert(1)</script>`, `"><image href="https://evil.example/x.png"/>`, "&amp; ]]> <!-- <![CDATA[", "a\x00b\x1bc\ud7ff\ufffe\uffff",
	"\u202egnp.exe\u2066\u200f", "\xff\xfe broken", "🜁🜂👩‍👩‍👧 水位は六メートルを超えるか", strings.Repeat("语", 500), strings.Repeat("i", 60), "line\nbreak\ttab",
}

// TestTextsFitTheCard checks with hostile texts that both image formats are valid, that text never becomes markup, and that no
// line crosses the edge of the card.
func TestTextsFitTheCard(t *testing.T) {
	t.Parallel()
	for i, title := range hostile {
		c := Card{Kicker: "Call", Title: title, Subtitle: hostile[(i+3)%len(hostile)], Lines: append([]string{}, hostile...), Accent: title}
		for _, r := range c.textLines() {
			if r.width > inner || r.y > Height-10 || r.y < r.size {
				t.Errorf("title %.40q: line %.60q has width %d and y %d; it leaves the card", title, r.text, r.width, r.y)
			}
		}
		names := map[string]int{}
		d := xml.NewDecoder(bytes.NewReader(c.SVG()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%.40q: %v", title, err)
			}
			if start, ok := token.(xml.StartElement); ok {
				names[start.Name.Local]++
			}
		}
		delete(names, "svg")
		delete(names, "title")
		delete(names, "rect")
		delete(names, "g")
		delete(names, "tspan")
		if delete(names, "text"); len(names) != 0 {
			t.Errorf("title %.40q: the SVG has unexpected elements %v", title, names)
		}
		raw, err := c.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil || img.Bounds().Dx() != Width || img.Bounds().Dy() != Height {
			t.Fatalf("%.40q: %v", title, err)
		}
		for y := range Height { // the right margin must have the background colour
			if r, g, b, _ := img.At(Width-20, y).RGBA(); r>>8 != 0xff || g>>8 != 0xfd || b>>8 != 0xf8 {
				t.Fatalf("%.40q: text is drawn in the right margin at y = %d", title, y)
			}
		}
	}
}

func TestLongTitlesAreShortened(t *testing.T) {
	t.Parallel()
	c := Card{Title: strings.Repeat("seldom ", 100)}
	svg := string(c.SVG())
	if strings.Count(svg, "…") != 1 || strings.Count(svg, "<text") != titleLines+1 {
		t.Errorf("a long title has %d lines and %d ellipses; want %d and 1", strings.Count(svg, "<text")-1, strings.Count(svg, "…"), titleLines)
	}
}

func BenchmarkPNG(b *testing.B) {
	c := Card{Kicker: "Call", Title: hostile[0], Subtitle: "@mara_k called NO at 68.5¢", Lines: []string{"Won +31", "Filed 18 September 2026"}, Accent: Good}
	for b.Loop() {
		if _, err := c.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}
