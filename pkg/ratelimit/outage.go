package ratelimit

import (
	"context"
	"sync/atomic"
)

// outage is the state of a shared limit in one process after Redis did not answer. For one window, Redis may lack requests, so
// the process applies its share of the limit.
type outage struct {
	share      int // limit of this process while Redis is unavailable: the limit divided by the number of processes, at least 1
	window     int64
	onFallback func()
	until      *atomic.Int64 // end of the window; local time
}

func newOutage(cfg Config) outage {
	return outage{
		share: max(1, cfg.Limit/max(1, cfg.Replicas)), window: int64(cfg.Window), onFallback: cfg.OnFallback, until: new(atomic.Int64),
	}
}

// begin records that Redis did not answer at the local time now. It does nothing if ctx has ended, because that is not an outage.
// It reports whether it recorded an outage.
func (o outage) begin(ctx context.Context, now int64) bool {
	if ctx.Err() != nil {
		return false
	}
	o.until.Store(now + o.window)
	return true
}

// lasts reports whether Redis may lack requests of the window before now.
func (o outage) lasts(now int64) bool { return now < o.until.Load() }

// count records one decision without Redis.
func (o outage) count() {
	if o.onFallback != nil {
		o.onFallback()
	}
}
