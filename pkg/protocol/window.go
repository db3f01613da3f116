package protocol

import "time"

// DeletionWait is the time between the request to delete an account and the deletion. The owner can cancel it.
const DeletionWait = 7 * 24 * time.Hour

// HandlePeriod is the minimum time between two changes of a handle. HandleChoice is the time after the first sign-in during which
// the first handle can be chosen, which is no change.
const (
	HandlePeriod = 365 * 24 * time.Hour
	HandleChoice = 24 * time.Hour
)

// Window is the length of a period that ends now, for which market movements are computed.
type Window string

// Windows of movements. Window24h is the default.
const (
	Window15m Window = "15m"
	Window1h  Window = "1h"
	Window6h  Window = "6h"
	Window24h Window = "24h"
)

// Windows contains all windows, shortest first.
var Windows = [...]Window{Window15m, Window1h, Window6h, Window24h}

// ParseWindow parses the query parameter window. It returns Window24h for an unknown value.
func ParseWindow(raw string) Window {
	if w, ok := oneOf(raw, Windows[:]...); ok {
		return w
	}
	return Window24h
}

// Duration returns the length of the window.
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

// Interval is the period of a price history that ends now.
type Interval string

// Intervals of price histories. IntervalDay is the default.
const (
	IntervalHour Interval = "1H"
	IntervalDay  Interval = "24H"
	IntervalWeek Interval = "7D"
	IntervalAll  Interval = "ALL"
)

// ParseInterval parses the query parameter interval. It returns IntervalDay for an unknown value.
func ParseInterval(raw string) Interval {
	switch i := Interval(raw); i {
	case IntervalHour, IntervalWeek, IntervalAll:
		return i
	}
	return IntervalDay
}

// Start returns the start of an interval that ends now. It is the zero time for IntervalAll.
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

// Stamp formats a time as in JSON responses: RFC 3339, UTC, milliseconds.
func Stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// StampOrNull formats a time like Stamp. It returns nil for the zero time.
func StampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Stamp(t)
	return &s
}

// ParseStamp parses an RFC 3339 time and returns it in UTC. It returns false for any other text, and for years outside 1 to
// 9999.
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

// Day returns the UTC date in the form YYYY-MM-DD.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
