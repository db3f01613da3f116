package protocol

import "time"

// Window is a look-back of the wire and of situations.
type Window string

// The windows; Window24h is the default.
const (
	Window15m Window = "15m"
	Window1h  Window = "1h"
	Window6h  Window = "6h"
	Window24h Window = "24h"
)

// Windows lists the windows, shortest first.
var Windows = [...]Window{Window15m, Window1h, Window6h, Window24h}

// ParseWindow reads a `window` query parameter; anything unknown is the default.
func ParseWindow(raw string) Window {
	if w, ok := oneOf(raw, Windows[:]...); ok {
		return w
	}
	return Window24h
}

// Duration is the length of the window.
func (w Window) Duration() time.Duration {
	switch w {
	case Window15m:
		return 15 * time.Minute
	case Window1h:
		return time.Hour
	case Window6h:
		return 6 * time.Hour
	}
	return 24 * time.Hour
}

// String implements fmt.Stringer.
func (w Window) String() string { return string(w) }

// Interval is a part of a price history that ends now.
type Interval string

// The intervals; IntervalDay is the default.
const (
	IntervalHour Interval = "1H"
	IntervalDay  Interval = "24H"
	IntervalWeek Interval = "7D"
	IntervalAll  Interval = "ALL"
)

// ParseInterval reads an `interval` query parameter; anything unknown is the default.
func ParseInterval(raw string) Interval {
	switch i := Interval(raw); i {
	case IntervalHour, IntervalWeek, IntervalAll:
		return i
	}
	return IntervalDay
}

// Start returns the time at which an interval that ends now begins; the zero time for IntervalAll.
func (i Interval) Start(now time.Time) time.Time {
	switch i {
	case IntervalHour:
		return now.Add(-time.Hour)
	case IntervalWeek:
		return now.AddDate(0, 0, -7)
	case IntervalAll:
		return time.Time{}
	}
	return now.AddDate(0, 0, -1)
}

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
