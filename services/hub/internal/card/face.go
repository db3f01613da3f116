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

// fonts returns the embedded Go fonts. The key true is for the bold font and false for the regular font. Both fonts have Latin,
// Greek and Cyrillic letters.
var fonts = sync.OnceValue(func() map[bool]*opentype.Font {
	out := map[bool]*opentype.Font{}
	for bold, raw := range map[bool][]byte{true: gobold.TTF, false: goregular.TTF} {
		f, err := opentype.Parse(raw)
		if err != nil {
			panic(err) // the fonts are embedded
		}
		out[bold] = f
	}
	return out
})

// pen is a font face with its font and its size in pixels.
type pen struct {
	font.Face
	font *opentype.Font
	size int
}

// face returns a new pen with the bold or regular font and a size in pixels. Faces are not safe for concurrent use, so callers
// must not share a pen.
func face(bold bool, size int) pen {
	f, err := opentype.NewFace(fonts()[bold], &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // sizes are constants of this package
	}
	return pen{f, fonts()[bold], size}
}

// hasGlyph reports whether a font has a glyph for a character. A missing glyph would be drawn as a box.
func hasGlyph(f *opentype.Font, r rune) bool {
	n, err := f.GlyphIndex(&sfnt.Buffer{}, r)
	return err == nil && n != 0
}

// width returns the width of a text in pixels. Characters that the font lacks are drawn in another font by the viewer; their
// width is estimated.
func width(f pen, s string) int {
	total, last := fixed.Int26_6(0), rune(-1)
	for _, r := range s {
		if !hasGlyph(f.font, r) {
			total, last = total+fallbackWidth(f.size, r), -1
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

// fallbackWidth estimates the width of a character that the font lacks. size is the font size in pixels. Combining marks and
// format characters have no width. Wide East Asian characters and symbols are as wide as size, and all others 0.6 of size.
func fallbackWidth(size int, r rune) fixed.Int26_6 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case eastasian.LookupRune(r).Kind() == eastasian.EastAsianWide, unicode.Is(unicode.So, r):
		return fixed.I(size)
	}
	return fixed.I(size) * 6 / 10
}
