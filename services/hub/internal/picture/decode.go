package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // format of pictures
	"image/jpeg"
	_ "image/png" // format of pictures
	"io"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // format of pictures
)

const (
	// Size is the width and the height of a stored picture in pixels.
	Size = 192
	// maxBytes is the maximum size of an original picture, and maxSide that of its sides in pixels.
	maxBytes = 2 << 20
	maxSide  = 2048
	// maxScans is the maximum number of scans of a progressive JPEG; encoders write about 10. A scan of 30 bytes makes the decoder
	// visit all blocks of the picture, so a small file could use the processor for minutes.
	maxScans = 100
	quality  = 82 // of the stored JPEG, up to 100
)

// ErrPicture is the error of data that are not a picture in one of the formats. ErrLarge is an ErrPicture.
var (
	ErrPicture = errors.New("not a PNG, JPEG, GIF or WebP picture")
	ErrLarge   = fmt.Errorf("%w of at most 2 MiB and 2048 by 2048 pixels", ErrPicture)
)

// decoding has an element while a picture is decoded. One picture needs up to 100 MiB of memory, so they are decoded one by one.
var decoding = make(chan struct{}, 1)

// Decode reads a PNG, JPEG, GIF or WebP picture and returns its middle square as a JPEG of Size by Size pixels without metadata.
// Cameras store a photo lying on its side with a note about its orientation; Decode turns such a JPEG upright. It uses the first frame of
// an animation, and fills transparent parts with white. Errors: ErrPicture, ErrLarge, those of r, and that of ctx if it ends while other
// pictures are decoded.
func Decode(ctx context.Context, r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBytes {
		return nil, ErrLarge
	}
	// The header has the size, so a small file with a huge picture is refused before memory is allocated for it.
	config, format, err := image.DecodeConfig(bytes.NewReader(raw))
	switch {
	case err != nil || config.Width < 1 || config.Height < 1:
		return nil, ErrPicture
	case config.Width > maxSide || config.Height > maxSide:
		return nil, ErrLarge
	case format == "jpeg" && bytes.Count(raw, []byte{0xff, 0xda}) > maxScans: // inside a scan, 0 follows each 0xff
		return nil, ErrPicture
	}
	select {
	case decoding <- struct{}{}:
		defer func() { <-decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
	if format == "jpeg" {
		out = turn(out, orientation(raw))
	}
	var encoded bytes.Buffer
	err = jpeg.Encode(&encoded, out, &jpeg.Options{Quality: quality})
	return encoded.Bytes(), err
}
