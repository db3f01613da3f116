package world

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// hash returns the SHA-256 of a purpose, the seed of the world, and numbers.
func (w *World) hash(purpose string, numbers ...int64) []byte {
	raw := binary.BigEndian.AppendUint64([]byte(purpose), w.seed)
	for _, n := range numbers {
		raw = binary.BigEndian.AppendUint64(raw, uint64(n))
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}

// condition returns the condition id of a market: 0x and 64 hexadecimal digits. The last 16 digits are the number of the
// market.
func (w *World) condition(id int64) string {
	return fmt.Sprintf("0x%s%016x", hex.EncodeToString(w.hash("condition", id)[:24]), id)
}

// questionID returns the id that the outcome oracle uses for the question of a market.
func (w *World) questionID(id int64) string { return "0x" + hex.EncodeToString(w.hash("question", id)) }

// NegRiskID returns the id that all markets of an exclusive event have in common at Polymarket.
func (w *World) NegRiskID(event string) string {
	return "0x" + hex.EncodeToString(w.hash("negrisk"+event))
}

// token returns the token id of an outcome of a market: a decimal number. Its last 20 digits are the number of the market and
// the outcome.
func (w *World) token(id int64, outcome int) string {
	h := w.hash("token", id, int64(outcome))
	part := func(i int) uint64 { return binary.BigEndian.Uint64(h[i:]) % 1e18 }
	return fmt.Sprintf("71%018d%018d%018d%019d%d", part(0), part(8), part(16), id, outcome)
}

// Find returns the market with this condition id, token id, slug or recorded key. The result is false if there is none.
func (w *World) Find(key string) (Market, bool) {
	w.mu.RLock()
	id, recorded := w.keys[key]
	w.mu.RUnlock()
	var err error
	switch {
	case recorded:
	case strings.HasPrefix(key, "0x") && len(key) == 66:
		id, err = strconv.ParseInt(key[50:], 16, 64)
	case len(key) == 76 && strings.Trim(key, "0123456789") == "":
		id, err = strconv.ParseInt(key[56:75], 10, 64)
	default:
		id, err = strconv.ParseInt(key[strings.LastIndexByte(key, '-')+1:], 10, 64)
	}
	if err != nil {
		return Market{}, false
	}
	m, ok := w.Get(id)
	return m, ok && (recorded || key == m.ConditionID || key == m.Slug || slices.Contains(m.Tokens, key))
}

// Slug returns a text in a form for URLs: lower-case letters, digits and single dashes, at most limit bytes. A text without
// letters and digits becomes "market".
func Slug(text string, limit int) string {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := strings.Join(parts, "-")
	if slug == "" {
		return "market"
	}
	return strings.TrimRight(slug[:min(len(slug), limit)], "-")
}

// NewTag returns a tag with this label. Its id and slug depend only on the label.
func NewTag(label string) Tag {
	slug := Slug(label, 40)
	return Tag{ID: strconv.FormatUint(mixText(slug)%200_000+1, 10), Label: label, Slug: slug}
}
