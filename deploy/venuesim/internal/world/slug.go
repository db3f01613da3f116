package world

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// Slug makes the address form of a text: lower-case letters, digits and single
// dashes, at most limit bytes.
func Slug(text string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if b.Len() >= limit {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			dash = false
			continue
		}
		dash = true
	}
	if b.Len() == 0 {
		return "market"
	}
	return b.String()
}

// trailingNumber reads the digits after the last dash: slugs made here end in
// the market's number.
func trailingNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s[strings.LastIndexByte(s, '-')+1:], 10, 64)
	return n, err == nil && n > 0
}

// eventNumber gives an event of created markets a number from its key, far
// above the numbers of a Source.
func eventNumber(key string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return strconv.FormatUint(5_000_000_000+h.Sum64()%4_000_000_000, 10)
}
