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

// Cursor is the position after the last item of a page: the sort keys and the id of that item. The zero Cursor is the
// start of the list.
type Cursor struct {
	Keys []string `json:"k"`
	ID   string   `json:"id"`
}

// NewCursor returns the cursor after the item with the given id and sort keys. TimeKey and IntKey format the keys.
func NewCursor(id string, keys ...string) Cursor { return Cursor{Keys: keys, ID: id} }

// TimeKey formats a time as a sort key of a cursor, in microseconds since 1970, the precision of the database. With
// milliseconds a cursor would skip or repeat items.
func TimeKey(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }

// IntKey formats an integer as a sort key of a cursor, in decimal digits.
func IntKey(n int64) string { return strconv.FormatInt(n, 10) }

// IsZero reports whether the cursor is the zero Cursor, the start of the list.
func (c Cursor) IsZero() bool { return c.ID == "" && len(c.Keys) == 0 }

// Encode returns the cursor as opaque text, or "" for the zero cursor.
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

// EncodeOrNull returns the text of Encode for the member next_cursor of a response. It returns nil for the zero cursor,
// which means that there is no next page.
func (c Cursor) EncodeOrNull() *string {
	s := c.Encode()
	if s == "" {
		return nil
	}
	return &s
}

// DecodeCursor parses an encoded cursor with n sort keys. For any other text it returns the zero cursor and false, so
// that an invalid cursor starts at the beginning of the list.
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
		if strings.ContainsRune(s, 0) { // Postgres rejects NUL in texts
			return Cursor{}, false
		}
	}
	return c, true
}

// IsCursor reports whether raw is the text of a cursor of any list.
func IsCursor(raw string) bool {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(raw, "="))
	var c Cursor
	return err == nil && len(raw) <= maxCursor && json.Unmarshal(b, &c) == nil && c.ID != ""
}

// Int returns the i-th key as an integer. It returns false if the cursor has no such key or the key is not an integer.
func (c Cursor) Int(i int) (int64, bool) {
	if i >= len(c.Keys) {
		return 0, false
	}
	n, err := strconv.ParseInt(c.Keys[i], 10, 64)
	return n, err == nil
}

// Time returns the i-th key as a time. It returns false if the cursor has no such key, the key is not an integer, or
// the year is not from 1 to 9999.
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

// Limit parses raw, the value of the query parameter limit. If raw is missing, not an integer or below 1, Limit returns def.
// Otherwise it returns the number, or the argument limit if the number is larger.
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
