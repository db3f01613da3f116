package card

import (
	"strings"
	"testing"
)

// TestDrawableTexts checks that a PNG has only texts that its font can draw, and what replaces the other texts.
func TestDrawableTexts(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"水位は六メートルを超えるか": "Market 701122", "هل سيرتفع منسوب النهر؟": "Market 701122", "האם המפלס יעלה?": "Market 701122", "क्या पानी बढ़ेगा?": "Market 701122",
		"Will 佐藤 win?": "Market 701122", "🜁🜂👩‍👩‍👧": "Market 701122", "Rain…": "Rain…", "\U0001F701!": "Market 701122", "Is 3 ⊂ 4?": "Market 701122", "": "Market 701122",
		"Will Zoe\u0301 and S\u030cimon meet?": "Will Zoé and Šimon meet?", "Rain \u2602\ufe0f in Łódź? 🌧️": "Rain … in Łódź?", "🌧️🌧️ Rain?": "Rain?",
		"Поднимется ли вода?": "Поднимется ли вода?", "Θα ανέβει;": "Θα ανέβει;", "a\u20d7 above": "a above",
	} {
		c := Card{Kicker: "Market", Title: title, Name: "Market 701122", Subtitle: "@mara_k · 佐藤", Lines: []string{"語", "12 calls"}}
		d := c.drawable()
		if d.Title != want || d.Subtitle != "" || len(d.Lines) != 1 || d.Lines[0] != "12 calls" {
			t.Errorf("%q: %+v, want %q", title, d, want)
		}
		for _, r := range d.textLines() {
			for _, letter := range r.text {
				if !hasGlyph(fonts()[r.bold], letter) {
					t.Errorf("%q: no glyph for %q", title, letter)
				}
			}
		}
	}
	for _, title := range hostile {
		c := Card{Title: title, Subtitle: title, Lines: hostile, Name: title}
		for _, r := range c.drawable().textLines() {
			for _, letter := range r.text {
				if !hasGlyph(fonts()[r.bold], letter) {
					t.Errorf("%.40q: no glyph for %q", title, letter)
				}
			}
		}
	}
}

// TestDirection checks that a line in a right-to-left script is marked as such and is aligned like other lines.
func TestDirection(t *testing.T) {
	t.Parallel()
	for title, right := range map[string]bool{
		"هل سيرتفع منسوب النهر؟": true, "האם 6 m?": true, "12 – האם?": true, "Will האם win?": false, "語": false, "12": false, "\u202eabc": false,
	} {
		svg := string((&Card{Title: title, Subtitle: "@mara_k"}).SVG())
		if n := strings.Count(svg, `<tspan direction="rtl" unicode-bidi="embed">`); (n == 1) != right || n > 1 {
			t.Errorf("%q: %d lines from the right: %s", title, n, svg)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"a\u202eb\u202c \u2066c\u2069\u200e\u200f\u061c": "ab c", "e\u0301": "é", "می\u200cخواهم": "می\u200cخواهم", "\u200d \u200c": "", "\xffa\n b": "a b",
	} {
		if got := Clean(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
