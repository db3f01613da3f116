package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // formats of pictures
	"image/jpeg"
	_ "image/png"
	"io"
	"sync"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

const (
	// Size is the width and the height of a stored picture in pixels.
	Size = 192
	// maxBytes is the maximum size of an original picture, and maxSide that of its sides in pixels.
	maxBytes = 2 << 20
	maxSide  = 4096
	quality  = 82 // of the stored JPEG, up to 100
)

// ErrPicture is the error of data that are not a picture in one of the formats, or exceed a bound.
var ErrPicture = errors.New("not a PNG, JPEG, GIF or WebP picture of at most 2 MB and 4096 by 4096 pixels")

// decoding is locked while a picture is decoded. One picture needs up to 128 MiB of memory, so they are decoded one by one.
var decoding sync.Mutex

// Decode reads a PNG, JPEG, GIF or WebP picture and returns its middle square as a JPEG of Size by Size pixels without metadata.
// Of an animation, it uses the first frame. Transparent parts become white. Errors: ErrPicture, and those of r.
func Decode(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBytes {
		return nil, ErrPicture
	}
	// The header has the size, so a small file with a huge picture is refused before memory is allocated for it.
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || config.Width < 1 || config.Height < 1 || config.Width > maxSide || config.Height > maxSide {
		return nil, ErrPicture
	}
	decoding.Lock()
	defer decoding.Unlock()
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPicture, err)
	}
	b := img.Bounds()
	side := min(b.Dx(), b.Dy())
	if side < 1 {
		return nil, ErrPicture
	}
	corner := b.Min.Add(image.Pt((b.Dx()-side)/2, (b.Dy()-side)/2))
	out := image.NewRGBA(image.Rect(0, 0, Size, Size))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	middle := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
	draw.CatmullRom.Scale(out, out.Bounds(), img, middle, draw.Over, nil)
	var encoded bytes.Buffer
	err = jpeg.Encode(&encoded, out, &jpeg.Options{Quality: quality})
	return encoded.Bytes(), err
}
