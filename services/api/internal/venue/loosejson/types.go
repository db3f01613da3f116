package loosejson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Decimal is the text of a number. In JSON it is a number, a string or null. An empty Decimal means that the number is
// absent.
type Decimal string

// UnmarshalJSON implements json.Unmarshaler.
func (d *Decimal) UnmarshalJSON(raw []byte) error {
	text, err := scalar(raw)
	if err != nil {
		return fmt.Errorf("decimal: %w", err)
	}
	*d = Decimal(strings.TrimSpace(text))
	return nil
}

// Price parses the decimal as a price. It returns false if the decimal is absent or invalid.
func (d Decimal) Price() (Price, bool) { return ParsePrice(string(d)) }

// Amount parses the decimal as an amount of money or units. It returns nil if the decimal is absent or invalid, negative, or
// not finite.
func (d Decimal) Amount() *float64 {
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return nil
	}
	return &f
}

// scalar returns the text of a JSON string or number, and "" for null. Other JSON values are an error.
func scalar(raw []byte) (string, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case string(raw) == "null":
		return "", nil
	case len(raw) > 0 && raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'):
		return string(raw), nil
	}
	return "", fmt.Errorf("%.20q is neither a string nor a number", raw)
}

// List is a list of texts. In JSON it is a list, a string that contains a JSON list, an empty string or null. Its members
// may be strings or numbers.
type List []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *List) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var inner string
		if err := json.Unmarshal(raw, &inner); err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if raw = []byte(strings.TrimSpace(inner)); len(raw) == 0 {
			*l = nil
			return nil
		}
	}
	var members []Decimal
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	*l = nil
	for _, m := range members {
		*l = append(*l, string(m))
	}
	return nil
}

// Text is an optional text. A JSON value that is not a string counts as absent.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	*t = Text(s)
	return nil
}

// Instant is a time. In JSON it is text in RFC 3339, text with a space or a short offset, a date, or a number of Unix seconds
// or milliseconds. A zero Instant means that the time is absent or unreadable.
type Instant struct {
	time.Time
	DateOnly bool // the text has no time of day
}

// layouts contains the known text forms of a time. time.Parse accepts a fraction of any length after the seconds.
var layouts = []string{time.RFC3339, "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07", time.DateOnly}

// millisFrom is the smallest number that is read as milliseconds and not as seconds. As seconds it would be after the year
// 5000.
const millisFrom = 100_000_000_000

// UnmarshalJSON implements json.Unmarshaler.
func (t *Instant) UnmarshalJSON(raw []byte) error {
	text, err := scalar(raw)
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	text = strings.TrimSpace(text)
	t.Time, t.DateOnly = readInstant(text), len(text) == len(time.DateOnly) && strings.Contains(text, "-")
	return nil
}

func readInstant(text string) time.Time {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at := time.Unix(n, 0)
		if n >= millisFrom || n <= -millisFrom {
			at = time.UnixMilli(n)
		}
		return representable(at)
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return representable(at)
		}
	}
	return time.Time{}
}

// representable returns at in UTC, or the zero time if JSON and the database cannot represent its year.
func representable(at time.Time) time.Time {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// Exact returns the time, or the zero time if the text has no time of day.
func (t Instant) Exact() time.Time {
	if t.DateOnly {
		return time.Time{}
	}
	return t.Time
}

// Second returns the time truncated to seconds, or nil if the time is absent.
func (t Instant) Second() *time.Time {
	if t.IsZero() {
		return nil
	}
	at := t.Truncate(time.Second)
	return &at
}
