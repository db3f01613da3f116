package card

import (
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	eastasian "golang.org/x/text/width"
)

// fonts are the two of the Go project, under the licence of Go itself; the program
// carries them. They have Latin, Greek and Cyrillic letters.
var fonts = sync.OnceValue(func() map[bool]*opentype.Font {
	out := map[bool]*opentype.Font{}
	for bold, raw := range map[bool][]byte{true: gobold.TTF, false: goregular.TTF} {
		f, err := opentype.Parse(raw)
		if err != nil {
			panic(err) // it is part of the program
		}
		out[bold] = f
	}
	return out
})

// pen is a font at a size.
type pen struct {
	font.Face
	font *opentype.Font
	size int
}

// face gives a pen. Faces are not safe for concurrent use, so each caller gets one of
// its own.
func face(bold bool, size int) pen {
	f, err := opentype.NewFace(fonts()[bold], &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // sizes are ours
	}
	return pen{f, fonts()[bold], size}
}

// has tells whether a font has a letter; what it lacks it would draw as a box.
func has(f *opentype.Font, r rune) bool {
	n, err := f.GlyphIndex(&sfnt.Buffer{}, r)
	return err == nil && n != 0
}

// width measures a text. Letters that the font lacks are drawn by the reader's own, and
// counted as wide as those of their script mostly are.
func width(f pen, s string) int {
	total, last := fixed.Int26_6(0), rune(-1)
	for _, r := range s {
		if !has(f.font, r) {
			total, last = total+lacking(f.size, r), -1
			continue
		}
		if last >= 0 {
			total += f.Kern(last, r)
		}
		advance, _ := f.GlyphAdvance(r)
		total, last = total+advance, r
	}
	return total.Ceil()
}

func lacking(size int, r rune) fixed.Int26_6 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case eastasian.LookupRune(r).Kind() == eastasian.EastAsianWide, unicode.Is(unicode.So, r):
		return fixed.I(size)
	}
	return fixed.I(size) * 6 / 10
}
