package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation returns the orientation in the Exif metadata of a JPEG, 1 to 8 (Exif 2.3, 4.6.4, tag 0x0112). It returns 1, the
// orientation of a picture that is not turned, if the metadata have none or cannot be read.
func orientation(raw []byte) int {
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff && raw[at+1] != 0xda; {
		end := at + 2 + int(binary.BigEndian.Uint16(raw[at+2:]))
		if end < at+4 || end > len(raw) {
			return 1
		}
		if tiff, ok := bytes.CutPrefix(raw[at+4:end], []byte("Exif\x00\x00")); ok && raw[at+1] == 0xe1 {
			return tiffOrientation(tiff)
		}
		at = end
	}
	return 1
}

// tiffOrientation returns the orientation in the first directory of a TIFF header.
func tiffOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return 1
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// turn rotates or mirrors a square picture so that it is upright. orientation is the value of the Exif tag, 1 to 8; 1 changes nothing.
func turn(img *image.RGBA, orientation int) *image.RGBA {
	out, last := image.NewRGBA(img.Bounds()), img.Bounds().Dx()-1
	for y := range last + 1 {
		for x := range last + 1 {
			fromX, fromY := x, y
			if orientation >= 5 {
				fromX, fromY = y, x
			}
			switch orientation {
			case 2, 8:
				fromX = last - fromX
			case 3, 7:
				fromX, fromY = last-fromX, last-fromY
			case 4, 6:
				fromY = last - fromY
			}
			out.SetRGBA(x, y, img.RGBAAt(fromX, fromY))
		}
	}
	return out
}
