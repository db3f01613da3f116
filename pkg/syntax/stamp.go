package syntax

import "time"

const stampLayout = "2006-01-02T15:04:05.000Z"

// Stamp writes a time as every answer does: RFC 3339, UTC, milliseconds.
func Stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// StampOrNull writes a time that may be missing: the zero time is null.
func StampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Stamp(t)
	return &s
}

// ParseStamp reads any RFC 3339 time of the years 1 to 9999 into UTC.
func ParseStamp(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, false
	}
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// Day writes the UTC date, YYYY-MM-DD.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
