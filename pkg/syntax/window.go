package syntax

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
	for _, w := range Windows {
		if string(w) == raw {
			return w
		}
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
