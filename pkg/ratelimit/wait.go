package ratelimit

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed peek.lua
var peekSource string

var peek = redis.NewScript(peekSource)

// Wait is how long a call of key would have to wait now; zero: Allow would take it.
// It counts nothing, so that a caller may count only what turned out bad. Like Allow
// it never fails: without Redis it judges by the log and the share of this process.
func (l *Limiter) Wait(ctx context.Context, key string) time.Duration {
	if l.cfg.Limit <= 0 {
		return 0
	}
	told, err := peek.Run(ctx, l.store, []string{l.name(key)}, l.cfg.Limit, l.cfg.Window.Microseconds()).Int64()
	now := l.local.clock()
	if err != nil {
		l.fall(ctx, now)
		return l.local.wait(key, now, int64(l.cfg.Window), l.share)
	}
	limit, horizon, _ := l.own(now)
	return max(time.Duration(told)*time.Microsecond, l.local.wait(key, now, horizon, limit))
}

// wait is how long take would refuse a call of key.
func (l *Local) wait(key string, now, window int64, limit int) time.Duration {
	s := l.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := s.expire(key, now, l.window).after(now - window)
	if len(recent) < limit {
		return 0
	}
	return time.Duration(recent[len(recent)-limit] + window - now)
}
