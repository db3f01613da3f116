package card

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

const background = "#fffdf8"

// SVG returns the card as an SVG file. Text is escaped. Each line has a fixed width, so that the layout does not depend on the
// fonts of the viewer.
func (c *Card) SVG() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img"><title>`, Width, Height)
	escape(&b, Clean(c.Title))
	fmt.Fprintf(&b, `</title><rect width="%d" height="%d" fill="%s"/><rect width="24" height="%d" fill="%s"/>`, Width, Height,
		background, Height, c.accent())
	if c.Chart != nil {
		c.Chart.writeSVG(&b, c.accent())
	}
	b.WriteString(`<g font-family="Go, Helvetica, Arial, sans-serif">`)
	for _, r := range c.textLines() {
		weight := 400
		if r.bold {
			weight = 700
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="%d" font-weight="%d" fill="%s" textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve">`,
			r.x, r.y, r.size, weight, r.color, max(1, r.width))
		if r.right { // the line itself is left-aligned, like all lines
			b.WriteString(`<tspan direction="rtl" unicode-bidi="embed">`)
			escape(&b, r.text)
			b.WriteString(`</tspan></text>`)
			continue
		}
		escape(&b, r.text)
		b.WriteString(`</text>`)
	}
	b.WriteString("</g></svg>\n")
	return b.Bytes()
}

func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a write to a buffer does not fail
}

// PNG returns the card as a PNG file, for sites that do not support SVG. Texts that the embedded fonts cannot draw are replaced
// or left out.
func (c *Card) PNG() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, Width, Height))
	fill(img, img.Bounds(), background)
	fill(img, image.Rect(0, 0, 24, Height), c.accent())
	if c.Chart != nil {
		c.Chart.draw(img, c.accent())
	}
	for _, r := range c.drawable().textLines() {
		pen := font.Drawer{Dst: img, Src: image.NewUniform(rgb(r.color)), Face: face(r.bold, r.size).Face, Dot: fixed.P(r.x, r.y)}
		pen.DrawString(r.text)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("draw card: %w", err)
	}
	return b.Bytes(), nil
}

func fill(img draw.Image, r image.Rectangle, with string) {
	draw.Draw(img, r, image.NewUniform(rgb(with)), image.Point{}, draw.Src)
}

// rgb parses a colour of the form #rrggbb. It panics for an invalid colour, because all colours are constants of this package.
func rgb(s string) color.RGBA {
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		panic(err)
	}
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
}
