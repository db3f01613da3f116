package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"golang.org/x/image/vector"
)

// Chart is a drawing on the right half of a card. Positions are fractions of the chart, from the left and from the top.
type Chart struct {
	Band  []Point // corners of a grey area
	Shade []Point // corners of an area in the accent colour of the card
	Level []Point // thin line
	Line  []Point
	Dots  []Dot
	// Top and Bottom are the labels of the upper and the lower end, and Caption is the text below the chart.
	Top, Bottom, Caption string
}

// Point is a position in a chart.
type Point struct{ X, Y float64 }

// Dot is a circle in a chart. Radius is in pixels.
type Dot struct {
	Point
	Radius float64
	Accent bool // drawn in the accent colour of the card
}

// Position of a chart in pixels. Its labels are on the right of it, and its caption is below it.
const (
	chartLeft   = 640
	chartTop    = 286
	chartWidth  = 400
	chartHeight = 232
	chartText   = 24
)

// shape is a set of filled polygons in pixels of the card, which may overlap. Its opacity is from 0 to 1.
type shape struct {
	polygons [][]Point
	color    string
	opacity  float64
}

// shapes returns the shapes of the chart in drawing order.
func (c *Chart) shapes(accent string) []shape {
	at := func(list []Point) []Point {
		out := make([]Point, len(list))
		for i, p := range list {
			out[i] = Point{chartLeft + chartWidth*min(max(p.X, 0), 1), chartTop + chartHeight*min(max(p.Y, 0), 1)}
		}
		return out
	}
	one := func(list []Point) [][]Point { return [][]Point{at(list)} }
	out := []shape{
		{one([]Point{{0, 0}, {1, 0}, {1, 1}, {0, 1}}), Plain, .05},
		{one(c.Band), Grey, .25},
		{one(c.Shade), accent, .25},
		{strokes(at(c.Level), 1), Grey, 1},
		{strokes(at(c.Line), 2.5), Plain, 1},
	}
	for _, d := range c.Dots {
		fill := Plain
		if d.Accent {
			fill = accent
		}
		out = append(out, shape{[][]Point{circle(at([]Point{d.Point})[0], d.Radius)}, fill, 1})
	}
	return slices.DeleteFunc(out, func(s shape) bool { return len(s.polygons) == 0 || len(s.polygons[0]) == 0 })
}

// strokes returns the polygons of a line with round corners. half is half of its width in pixels.
func strokes(line []Point, half float64) [][]Point {
	var out [][]Point
	for i, p := range line {
		out = append(out, circle(p, half))
		if i == 0 {
			continue
		}
		from := line[i-1]
		length := math.Hypot(p.X-from.X, p.Y-from.Y)
		if length == 0 {
			continue
		}
		x, y := -(p.Y-from.Y)/length*half, (p.X-from.X)/length*half
		out = append(out, []Point{{from.X - x, from.Y - y}, {p.X - x, p.Y - y}, {p.X + x, p.Y + y}, {from.X + x, from.Y + y}})
	}
	return out
}

// circle returns a polygon that looks like a circle.
func circle(middle Point, radius float64) []Point {
	out := make([]Point, 16)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(out)))
		out[i] = Point{middle.X + radius*cos, middle.Y + radius*sin}
	}
	return out
}

// writeSVG adds the chart to an SVG file.
func (c *Chart) writeSVG(b *bytes.Buffer, accent string) {
	for _, s := range c.shapes(accent) {
		fmt.Fprintf(b, `<path fill="%s" fill-opacity="%g" d="`, s.color, s.opacity)
		for _, corners := range s.polygons {
			for i, p := range corners {
				fmt.Fprintf(b, "%c%.1f %.1f", "ML"[min(i, 1)], p.X, p.Y)
			}
			b.WriteByte('Z')
		}
		b.WriteString(`"/>`)
	}
}

// draw draws the chart on the image of a card. Dots may cross the edge of the chart.
func (c *Chart) draw(img *image.RGBA, accent string) {
	const edge = 20
	bounds := image.Rect(chartLeft-edge, chartTop-edge, chartLeft+chartWidth+edge, chartTop+chartHeight+edge)
	z := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
	for _, s := range c.shapes(accent) {
		z.Reset(bounds.Dx(), bounds.Dy())
		for _, corners := range s.polygons {
			for i, p := range corners {
				x, y := float32(p.X-float64(bounds.Min.X)), float32(p.Y-float64(bounds.Min.Y))
				if i == 0 {
					z.MoveTo(x, y)
				} else {
					z.LineTo(x, y)
				}
			}
			z.ClosePath()
		}
		full := rgb(s.color)
		z.Draw(img, bounds, image.NewUniform(color.NRGBA{full.R, full.G, full.B, uint8(math.Round(255 * s.opacity))}), image.Point{})
	}
}
