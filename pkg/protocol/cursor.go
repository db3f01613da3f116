package protocol

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxCursor = 1024

// Cursor points behind the last row of a page: the row's sort keys and its id.
// The zero Cursor is the beginning.
type Cursor struct {
	Keys []string `json:"k"`
	ID   string   `json:"id"`
}

// NewCursor makes a cursor; write times with TimeKey, numbers with IntKey.
func NewCursor(id string, keys ...string) Cursor { return Cursor{Keys: keys, ID: id} }

// TimeKey writes a time as a sort key. Microseconds, because that is what the
// database keeps: a cursor in milliseconds would skip or repeat rows.
func TimeKey(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }

// IntKey writes a whole number as a sort key.
func IntKey(n int64) string { return strconv.FormatInt(n, 10) }

// IsZero reports the beginning.
func (c Cursor) IsZero() bool { return c.ID == "" && len(c.Keys) == 0 }

// Encode writes the cursor as opaque text; the zero cursor is empty.
func (c Cursor) Encode() string {
	if c.IsZero() {
		return ""
	}
	b, err := json.Marshal(c)
	if err != nil { // strings always marshal
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// EncodeOrNull is Encode for `next_cursor`: null when there is no next page.
func (c Cursor) EncodeOrNull() *string {
	s := c.Encode()
	if s == "" {
		return nil
	}
	return &s
}

// DecodeCursor reads a cursor that carries n sort keys. Anything else, the
// empty string too, is the zero cursor and false: a bad cursor starts from
// the beginning.
func DecodeCursor(raw string, n int) (Cursor, bool) {
	if raw == "" || len(raw) > maxCursor {
		return Cursor{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(raw, "="))
	if err != nil || !utf8.Valid(b) {
		return Cursor{}, false
	}
	var c Cursor
	if json.Unmarshal(b, &c) != nil || len(c.Keys) != n || c.ID == "" {
		return Cursor{}, false
	}
	for _, s := range append([]string{c.ID}, c.Keys...) {
		if strings.ContainsRune(s, 0) { // the database refuses it
			return Cursor{}, false
		}
	}
	return c, true
}

// Int reads the i-th key as a whole number.
func (c Cursor) Int(i int) (int64, bool) {
	if i >= len(c.Keys) {
		return 0, false
	}
	n, err := strconv.ParseInt(c.Keys[i], 10, 64)
	return n, err == nil
}

// Time reads the i-th key as a time of the years 1 to 9999.
func (c Cursor) Time(i int) (time.Time, bool) {
	n, ok := c.Int(i)
	if !ok {
		return time.Time{}, false
	}
	t := time.UnixMicro(n).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// Limit reads a `limit` query parameter: missing, not a whole number or below
// one is the default, above the maximum is the maximum. It never fails.
func Limit(raw string, def, limit int) int {
	if !isDigits(raw) {
		return def
	}
	n, err := strconv.Atoi(raw)
	switch {
	case err != nil: // the number is larger than any limit
		return limit
	case n < 1:
		return def
	}
	return min(n, limit)
}
