package ratelimit

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// clockSlack is the allowed drift between the clocks of Redis and of this process during one window.
const clockSlack = 250 * time.Millisecond

// Config describes one limit.
type Config struct {
	Name       string // appears in headers and Redis keys
	Limit      int    // 0 allows everything
	Window     time.Duration
	Replicas   int // processes that share the limit
	Now        func() time.Time
	OnFallback func() // called for each request that was decided without Redis; may be nil
}

// Limiter is an exact limit over all processes that share a Redis.
type Limiter struct {
	cfg     Config
	store   redis.Cmdable
	asker   *asker
	local   *Local
	share   int
	process string
	calls   atomic.Uint64
	fell    atomic.Int64 // end of the time in which Redis may have lost calls; local clock
}

// New returns a limiter that uses store.
func New(store redis.Cmdable, cfg Config) *Limiter {
	l := &Limiter{cfg: cfg, store: store, local: NewLocal(cfg.Name, cfg.Limit, cfg.Window, cfg.Now)}
	l.asker = newAsker(store, cfg.Limit, cfg.Window)
	l.share = max(1, cfg.Limit/max(1, cfg.Replicas))
	l.process = strconv.FormatUint(rand.Uint64(), 36) + "-"
	return l
}

// Allow counts one call of key. It never fails: without Redis it decides on the
// log of this process, and on its share of the limit.
func (l *Limiter) Allow(ctx context.Context, key string) Decision {
	if l.cfg.Limit <= 0 {
		return Unlimited()
	}
	window := int64(l.cfg.Window)
	// Noted with the time before the question, so that a call never leaves our
	// log later than Redis's.
	began := l.local.clock()
	name, member := l.name(key), l.process+strconv.FormatUint(l.calls.Add(1), 36)
	d, err := l.ask(ctx, name, member)
	now := l.local.clock()
	if err != nil {
		l.fall(ctx, now)
		d = l.local.take(key, now, now, window, l.share)
		d.Fallback = true
		return d
	}
	if !d.Allowed {
		return d
	}
	limit, horizon, recovering := l.own(now)
	own := l.local.take(key, began, now, horizon, limit)
	own.Fallback = recovering
	switch {
	case !own.Allowed:
		// Best effort: a call that was refused must not stay counted.
		l.store.ZRem(ctx, name, member)
		return own
	case recovering:
		own.Remaining = min(own.Remaining, d.Remaining)
		return own
	default:
		return d
	}
}

// name is the key of the log in Redis.
func (l *Limiter) name(key string) string { return "sc:limit:" + l.cfg.Name + ":" + key }

// fall notes that Redis did not answer; a caller that left says nothing of Redis.
func (l *Limiter) fall(ctx context.Context, now int64) {
	if ctx.Err() != nil {
		return
	}
	l.fell.Store(now + int64(l.cfg.Window))
	if l.cfg.OnFallback != nil {
		l.cfg.OnFallback()
	}
}

// own is what our own log allows beside Redis, which may have come back empty: our
// log has the last word. For one window after an outage only our share counts.
func (l *Limiter) own(now int64) (limit int, horizon int64, recovering bool) {
	window := int64(l.cfg.Window)
	if now < l.fell.Load() {
		return l.share, window, true
	}
	return l.cfg.Limit, max(window-int64(clockSlack), window/2), false
}

func (l *Limiter) ask(ctx context.Context, name, member string) (Decision, error) {
	d := Decision{Limit: l.cfg.Limit, name: l.cfg.Name, window: l.cfg.Window}
	out, err := l.asker.ask(ctx, name, member)
	if err != nil {
		return d, err
	}
	d.Allowed = out[0] == 1
	d.Remaining = max(0, l.cfg.Limit-int(out[1]))
	d.RetryAfter = time.Duration(out[2]) * time.Microsecond
	d.Reset = time.Duration(out[3]) * time.Microsecond
	return d, nil
}

// AddrKey returns the key of an address: the address itself for IPv4, its /64 network for IPv6, because one connection usually
// has a whole /64.
func AddrKey(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
