package ratelimit

import (
	"net/http"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrLimited is the fault of a rejected request. Decision.Fault adds limit and retryAfterMs.
var ErrLimited = apperr.New(apperr.Limited, "rate_limited", "too many requests; retry after the time in retryAfterMs")

// Decision states whether a rate limit allows one request, and how much of the limit remains.
type Decision struct {
	Allowed    bool
	Limit      int           // the applied limit: the whole limit, or the share of this process
	Remaining  int           // number of requests still allowed now
	RetryAfter time.Duration // time until a rejected request would be allowed; 0 if allowed
	Reset      time.Duration // time until the oldest counted request leaves the window
	Fallback   bool          // Redis did not answer, and the share of this process was applied

	name   string
	window time.Duration
	at     int64 // time of an allowed request in the local log, for Undo
}

// Unlimited returns the decision of a disabled limit. It sets no headers.
func Unlimited() Decision { return Decision{Allowed: true} }

// SetHeaders sets RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), and Retry-After for a rejected request.
// Seconds are rounded up, so that a client does not retry too early. It sets nothing for a disabled limit.
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

// Fault returns nil for an allowed request, and otherwise ErrLimited with the members limit and retryAfterMs.
func (d Decision) Fault() error {
	if d.Allowed {
		return nil
	}
	return ErrLimited.With("limit", d.Limit).With("retryAfterMs", ceil(d.RetryAfter, time.Millisecond))
}

func seconds(d time.Duration) string { return strconv.FormatInt(ceil(d, time.Second), 10) }

func ceil(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }
