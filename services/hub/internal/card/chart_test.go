package card

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

// TestChartOfACard checks that both formats draw the chart between the texts and the right margin, and that texts do not cross it.
func TestChartOfACard(t *testing.T) {
	t.Parallel()
	c := Card{
		Kicker: "Call", Title: hostile[0], Subtitle: "@a_forecaster_with_a_long_name called NO at 68.5¢, stated 70¢", Accent: Good, Stamp: "won",
		Lines: []string{"Filed 18 September 2026, 70% confident", "Won, +31 points", strings.Repeat("long words ", 20)},
		Chart: &Chart{
			Shade: []Point{{.5, .3}, {1, .3}, {1, 0}, {.5, 0}}, Level: []Point{{.5, .3}, {1, .3}}, Line: []Point{{0, .5}, {.5, .3}, {2, -1}},
			Dots: []Dot{{Point{1, 0}, 11, true}}, Top: "100¢", Bottom: "0¢", Caption: "Price of NO, the call and the outcome",
		},
	}
	stamped := false
	for _, line := range c.textLines() {
		right := line.x + line.width
		if right > Width-margin+5 || line.y > Height-10 || line.x == margin && line.y > chartTop && line.y < Height-44 && right > chartLeft-chartGap {
			t.Errorf("%q at %d, %d is %d wide", line.text, line.x, line.y, line.width)
		}
		stamped = stamped || line.text == "WON"
	}
	if !stamped {
		t.Error("the card has no verdict")
	}
	if svg := string(c.SVG()); strings.Count(svg, "<path") != 5 || strings.Contains(svg, "NaN") {
		t.Errorf("%d paths", strings.Count(svg, "<path"))
	}
	raw, err := c.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := rgb(Good) // the dot of the outcome in the upper right corner of the chart
	if r, g, b, _ := img.At(chartLeft+chartWidth, chartTop).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(b>>8) != want.B {
		t.Errorf("the outcome has the colour %d %d %d", r>>8, g>>8, b>>8)
	}
	for y := range Height { // the right margin has the background colour
		if r, g, b, _ := img.At(Width-20, y).RGBA(); r>>8 != 0xff || g>>8 != 0xfd || b>>8 != 0xf8 {
			t.Fatalf("the right margin is drawn at y = %d", y)
		}
	}
}
