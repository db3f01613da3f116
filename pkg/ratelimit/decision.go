package ratelimit

import (
	"net/http"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrLimited is the fault of a refused call; Fault adds limit and retryAfterMs.
var ErrLimited = apperr.New(apperr.Limited, "rate_limited", "Too many requests, wait before the next one.")

// Decision is the answer to one call.
type Decision struct {
	Allowed    bool
	Limit      int           // what applied: the whole limit, or this process's share of it
	Remaining  int           // calls left now
	RetryAfter time.Duration // how long a refused call has to wait; 0 when allowed
	Reset      time.Duration // when the oldest counted call leaves the window
	Fallback   bool          // Redis did not answer, the share of this process applied

	name   string
	window time.Duration
	at     int64 // where an allowed call stands in the log of its process
}

// Unlimited is the decision where there is no limit; it writes no headers.
func Unlimited() Decision { return Decision{Allowed: true} }

// SetHeaders writes RateLimit-Policy and RateLimit (IETF draft), and Retry-After
// for a refused call. Seconds are rounded up, so that whoever obeys is not early.
func (d Decision) SetHeaders(h http.Header) {
	if d.Limit == 0 && d.Allowed {
		return
	}
	h.Set("RateLimit-Policy", `"`+d.name+`";q=`+strconv.Itoa(d.Limit)+";w="+seconds(d.window))
	h.Set("RateLimit", `"`+d.name+`";r=`+strconv.Itoa(d.Remaining)+";t="+seconds(d.Reset))
	if !d.Allowed {
		h.Set("Retry-After", seconds(d.RetryAfter))
	}
}

// Fault is nil for an allowed call, else rate_limited with limit and retryAfterMs.
func (d Decision) Fault() error {
	if d.Allowed {
		return nil
	}
	return ErrLimited.With("limit", d.Limit).With("retryAfterMs", ceil(d.RetryAfter, time.Millisecond))
}

func seconds(d time.Duration) string { return strconv.FormatInt(ceil(d, time.Second), 10) }

func ceil(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }
