package picture

import (
	"bytes"
	"context"
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
	"slices"
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
	withScans := func(n int) []byte { return append(bytes.Clone(metadata), bytes.Repeat([]byte{0xff, 0xda}, n-1)...) }
	white := color.RGBA{0xff, 0xff, 0xff, 0xff}
	for name, c := range map[string]struct {
		raw  []byte
		want color.RGBA
	}{
		"png":         {pngOf(t, sides), red},
		"tall png":    {pngOf(t, paint(1, 900, blue)), blue},
		"transparent": {pngOf(t, image.NewRGBA(image.Rect(0, 0, 20, 20))), white},
		"jpeg":        {metadata, red},
		"most scans":  {withScans(maxScans), red},
		"gif":         {animation(t), red},
		"webp":        {fromWebP, blue},
		"largest":     {pngOf(t, image.NewPaletted(image.Rect(0, 0, maxSide, maxSide), color.Palette{blue})), blue},
	} {
		out, err := Decode(t.Context(), bytes.NewReader(c.raw))
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
			if got := colorAt(img, at); !near(got, c.want) {
				t.Errorf("%s: %v at %v, want %v", name, got, at, c.want)
			}
		}
		if bytes.Contains(out, []byte("planted")) {
			t.Errorf("%s: the picture has metadata of the original", name)
		}
	}
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty": {nil, ErrPicture}, "text": {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), ErrPicture},
		"cut png": {pngOf(t, sides)[:60], ErrPicture}, "no pixel": {huge(t, 0, 9), ErrPicture},
		"cut gif":        {[]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), ErrLarge},
		"too large":      {append(pngOf(t, sides), bytes.Repeat([]byte{0}, maxBytes)...), ErrLarge},
		"too wide":       {huge(t, maxSide+1, 1), ErrLarge},
		"too high":       {huge(t, 1, maxSide+1), ErrLarge},
		"bomb":           {huge(t, 1<<30, 1<<30), ErrPicture},
		"too many scans": {withScans(maxScans + 1), ErrPicture},
	} {
		out, err := Decode(t.Context(), bytes.NewReader(c.raw))
		if !errors.Is(err, ErrPicture) || !errors.Is(err, c.want) || out != nil {
			t.Errorf("%s: %d bytes, error %v; want %v", name, len(out), err, c.want)
		}
	}
	if _, err := Decode(t.Context(), base64.NewDecoder(base64.RawURLEncoding, strings.NewReader("!!"))); err == nil {
		t.Error("invalid base64 was decoded")
	}
}

// colorAt returns the colour of a pixel.
func colorAt(img image.Image, at image.Point) color.RGBA {
	r, g, b, a := img.At(at.X, at.Y).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
}

// near reports whether two colours differ only as much as JPEG changes them.
func near(a, b color.RGBA) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) < 40 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// TestDecodeWaits checks that a picture waits for another one only until its context ends. It is not parallel, because it
// occupies the decoder.
func TestDecodeWaits(t *testing.T) {
	decoding <- struct{}{}
	defer func() { <-decoding }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := Decode(ctx, bytes.NewReader(pngOf(t, paint(9, 9, red)))); !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, error %v; want context.Canceled", len(out), err)
	}
}

// TestOrientation checks that a JPEG is turned as its Exif metadata state.
func TestOrientation(t *testing.T) {
	t.Parallel()
	quarter := paint(90, 60, blue) // of the middle square, the top left quarter is red
	draw.Draw(quarter, image.Rect(15, 0, 45, 30), image.NewUniform(red), image.Point{}, draw.Src)
	plain := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, quarter, nil) })
	const near0, near1 = Size / 4, 3 * Size / 4
	exif := func(order binary.AppendByteOrder, mark string, value uint16) string {
		tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
		tiff = order.AppendUint16(tiff, 2)
		for tag, v := range map[uint16]uint16{0x0100: 7, 0x0112: value} {
			tiff = order.AppendUint16(order.AppendUint16(tiff, tag), 3)
			tiff = order.AppendUint16(order.AppendUint16(order.AppendUint32(tiff, 1), v), 0)
		}
		return "Exif\x00\x00" + string(tiff)
	}
	little := func(value uint16) string { return exif(binary.LittleEndian, "II", value) }
	for name, c := range map[string]struct {
		metadata string
		x, y     int // of the red quarter
	}{
		"1": {little(1), near0, near0}, "2": {little(2), near1, near0}, "3": {little(3), near1, near1}, "4": {little(4), near0, near1},
		"5": {little(5), near0, near0}, "6": {little(6), near1, near0}, "7": {little(7), near1, near1}, "8": {little(8), near0, near1},
		"0": {little(0), near0, near0}, "9": {little(9), near0, near0}, "big-endian": {exif(binary.BigEndian, "MM", 6), near1, near0},
		"cut header": {little(6)[:9], near0, near0}, "cut directory": {little(6)[:17], near0, near0},
		"other metadata": {"XMP", near0, near0}, "directory outside": {"Exif\x00\x00II*\x00\xff\xff\xff\xff", near0, near0},
	} {
		segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(c.metadata)+2)), c.metadata...)
		raw := slices.Concat(plain[:2], segment, plain[2:])
		out, err := Decode(t.Context(), bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		img, err := jpeg.Decode(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, at := range []image.Point{{near0, near0}, {near1, near0}, {near0, near1}, {near1, near1}} {
			want := blue
			if at == image.Pt(c.x, c.y) {
				want = red
			}
			if got := colorAt(img, at); !near(got, want) {
				t.Errorf("%s: %v at %v, want %v", name, got, at, want)
			}
		}
	}
}
