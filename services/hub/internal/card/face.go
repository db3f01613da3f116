package card

import (
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
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

// face is a font at a size. Faces are not safe for concurrent use, so each caller gets
// one of its own.
func face(bold bool, size int) font.Face {
	f, err := opentype.NewFace(fonts()[bold], &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // sizes are ours
	}
	return f
}
