package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/draw"
)

// webp is a WebP file of 8 by 4 blue pixels.
const webp = "UklGRhgAAABXRUJQVlA4TAwAAAAvB8AAEChIQQrd/wA="

var (
	red  = color.RGBA{0xd0, 0x20, 0x20, 0xff}
	blue = color.RGBA{0x20, 0x20, 0xd0, 0xff}
)

// paint returns a picture in one colour.
func paint(width, height int, c color.Color) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

// encode returns the file that the function write writes.
func encode(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	return encode(t, func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

// animation returns a GIF with a red and a blue frame.
func animation(t *testing.T) []byte {
	t.Helper()
	g := &gif.GIF{Delay: []int{10, 10}}
	for _, c := range []color.Color{red, blue} {
		frame := image.NewPaletted(image.Rect(0, 0, 40, 40), palette.Plan9)
		draw.Draw(frame, frame.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		g.Image = append(g.Image, frame)
	}
	return encode(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, g) })
}

// huge returns a PNG of some bytes whose header claims a size.
func huge(t *testing.T, width, height uint32) []byte {
	t.Helper()
	raw := pngOf(t, paint(1, 1, red))
	binary.BigEndian.PutUint32(raw[16:], width)
	binary.BigEndian.PutUint32(raw[20:], height)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}

// TestDecode checks the formats, the square in the middle, and the bounds.
func TestDecode(t *testing.T) {
	t.Parallel()
	fromWebP, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	sides := paint(300, 100, blue) // the middle square is red
	draw.Draw(sides, image.Rect(100, 0, 200, 100), image.NewUniform(red), image.Point{}, draw.Src)
	metadata := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, paint(30, 40, red), nil) })
	comment := "\xff\xfe\x00\x10planted secret"
	metadata = append(append(append([]byte{}, metadata[:2]...), comment...), metadata[2:]...)
	white := color.RGBA{0xff, 0xff, 0xff, 0xff}
	for name, c := range map[string]struct {
		raw  []byte
		want color.RGBA
	}{
		"png":         {pngOf(t, sides), red},
		"tall png":    {pngOf(t, paint(1, 900, blue)), blue},
		"transparent": {pngOf(t, image.NewRGBA(image.Rect(0, 0, 20, 20))), white},
		"jpeg":        {metadata, red},
		"gif":         {animation(t), red},
		"webp":        {fromWebP, blue},
		"largest":     {pngOf(t, image.NewPaletted(image.Rect(0, 0, maxSide, maxSide), color.Palette{blue})), blue},
	} {
		out, err := Decode(bytes.NewReader(c.raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(out))
		if err != nil || img.Bounds() != image.Rect(0, 0, Size, Size) {
			t.Errorf("%s: %v, size %v", name, err, img.Bounds())
			continue
		}
		for _, at := range []image.Point{{2, 2}, {Size / 2, Size / 2}, {Size - 3, Size - 3}} {
			if got := color.RGBAModel.Convert(img.At(at.X, at.Y)).(color.RGBA); !near(got, c.want) { //nolint:forcetypeassert // by RGBAModel
				t.Errorf("%s: %v at %v, want %v", name, got, at, c.want)
			}
		}
		if bytes.Contains(out, []byte("planted")) {
			t.Errorf("%s: the picture has metadata of the original", name)
		}
	}
	for name, raw := range map[string][]byte{
		"empty": nil, "text": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "cut png": pngOf(t, sides)[:60],
		"too large": append(pngOf(t, sides), bytes.Repeat([]byte{0}, maxBytes)...),
		"too wide":  huge(t, maxSide+1, 1), "too high": huge(t, 1, maxSide+1), "bomb": huge(t, 1<<30, 1<<30), "no pixel": huge(t, 0, 9),
		"cut gif": []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"),
	} {
		if out, err := Decode(bytes.NewReader(raw)); !errors.Is(err, ErrPicture) || out != nil {
			t.Errorf("%s: %d bytes, error %v; want ErrPicture", name, len(out), err)
		}
	}
	if _, err := Decode(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader("!!"))); err == nil {
		t.Error("invalid base64 was decoded")
	}
}

// near reports whether two colours differ only as much as JPEG changes them.
func near(a, b color.RGBA) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) < 40 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}
