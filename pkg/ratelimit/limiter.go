package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// clockSlack is the maximum drift between the clocks of Redis and of this process during one window.
const clockSlack = 250 * time.Millisecond

// Config configures one limit. Name, Window and Now are required.
type Config struct {
	Name       string // used in headers and Redis keys
	Limit      int    // maximum number of requests in a window; 0: no limit
	Window     time.Duration
	Replicas   int           // number of processes that share the limit
	Wait       time.Duration // maximum time that a request of a Shared waits for Redis; 50 ms when zero
	Now        func() time.Time
	OnFallback func() // called for each request that was decided without Redis; may be nil
}

// Limiter is an exact limit across all processes that share a Redis.
type Limiter struct {
	cfg     Config
	store   redis.Cmdable
	script  *scriptBatcher
	local   *Local
	outage  outage
	process string
	calls   atomic.Uint64
}

// New returns a limiter whose log is stored in the Redis database of store.
func New(store redis.Cmdable, cfg Config) *Limiter {
	l := &Limiter{cfg: cfg, store: store, local: NewLocal(cfg.Name, cfg.Limit, cfg.Window, cfg.Now)}
	l.script = newScriptBatcher(store, slide, cfg.Limit, cfg.Window)
	l.outage = newOutage(cfg)
	l.process = strconv.FormatUint(rand.Uint64(), 36) + "-"
	return l
}

// Allow counts one request of key and returns the decision. It never fails: without Redis it applies the share of
// this process to the local log.
func (l *Limiter) Allow(ctx context.Context, key string) Decision {
	if l.cfg.Limit <= 0 {
		return Unlimited()
	}
	fullWindow := int64(l.cfg.Window)
	// The local log uses the time before the call of Redis, so that a request never leaves the local log later than
	// the log in Redis.
	start := l.local.clock()
	redisKey, member := l.redisKey(key), l.process+strconv.FormatUint(l.calls.Add(1), 36)
	d, err := l.countInRedis(ctx, redisKey, member)
	now := l.local.clock()
	if err != nil {
		l.recordFallback(ctx, now)
		d = l.local.count(key, now, now, fullWindow, l.outage.share)
		d.Fallback = true
		return d
	}
	if !d.Allowed {
		return d
	}
	limit, window, degraded := l.localLimit(now)
	local := l.local.count(key, start, now, window, limit)
	local.Fallback = degraded
	switch {
	case !local.Allowed:
		// Best effort: a rejected request must not be counted.
		l.store.ZRem(ctx, redisKey, member)
		return local
	case degraded:
		local.Remaining = min(local.Remaining, d.Remaining)
		return local
	default:
		return d
	}
}

// redisKey returns the Redis key under which the log of key is stored.
func (l *Limiter) redisKey(key string) string { return "sc:limit:" + l.cfg.Name + ":" + key }

// recordFallback records that Redis did not answer. It does nothing if ctx has ended, because that is not an outage.
func (l *Limiter) recordFallback(ctx context.Context, now int64) {
	if l.outage.begin(ctx, now) {
		l.outage.count()
	}
}

// localLimit returns the limit and the window that the local log applies after Redis has allowed a request. The local log is
// checked too, because Redis may have restarted empty. The window is shorter than Config.Window by clockSlack, but at least half
// of Config.Window. For one window after an outage, degraded is true, the window is Config.Window, and the limit is the share of
// this process.
func (l *Limiter) localLimit(now int64) (limit int, window int64, degraded bool) {
	fullWindow := int64(l.cfg.Window)
	if l.outage.lasts(now) {
		return l.outage.share, fullWindow, true
	}
	return l.cfg.Limit, max(fullWindow-int64(clockSlack), fullWindow/2), false
}

// countInRedis counts one request in the log in Redis and returns the decision. If the script fails or Redis does not answer, it
// returns an error.
func (l *Limiter) countInRedis(ctx context.Context, redisKey, member string) (Decision, error) {
	d := Decision{Limit: l.cfg.Limit, name: l.cfg.Name, window: l.cfg.Window}
	out, err := l.script.count(ctx, redisKey, member)
	if err != nil {
		return d, err
	}
	d.Allowed = out[0] == 1
	d.Remaining = max(0, l.cfg.Limit-int(out[1]))
	d.RetryAfter = time.Duration(out[2]) * time.Microsecond
	d.Reset = time.Duration(out[3]) * time.Microsecond
	return d, nil
}

// HashedKey returns a hash of a key in 32 hexadecimal digits. A limit whose keys contain IP addresses or ids of users counts by
// hashed keys, so that Redis stores none of them.
func HashedKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// AddressKey returns the key of an IP address: the address for IPv4, and its /64 network for IPv6, because one connection usually
// has a whole /64. A text that is not an IP address is its own key.
func AddressKey(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
