package caller

import (
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
)

// Faults of credentials and limits.
var (
	ErrUnauthenticated = fault.New(fault.Unauthenticated, "unauthenticated", "")
	ErrForbidden       = fault.New(fault.Forbidden, "forbidden", "")
	ErrLimited         = fault.New(fault.Limited, "rate_limited", "")
)

// Limited is ErrLimited with what the caller needs to come back in time.
func Limited(limit int, retry time.Duration) error {
	return ErrLimited.With("limit", limit).With("retryAfterMs", ceilMillis(retry))
}

// ceilMillis rounds up, so that a caller who waits exactly that long is let in.
func ceilMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
