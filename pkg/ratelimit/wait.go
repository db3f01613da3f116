package ratelimit

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed peek.lua
var peekSource string

var peekScript = redis.NewScript(peekSource)

// Wait returns the time that a request of key would have to wait now; 0 means that Allow would allow it. It counts no
// request. Callers use it to limit failed attempts: they count a request only after it has failed. Like Allow it
// never fails: without Redis it applies the share of this process to the local log.
func (l *Limiter) Wait(ctx context.Context, key string) time.Duration {
	if l.cfg.Limit <= 0 {
		return 0
	}
	wait, err := peekScript.Run(ctx, l.store, []string{l.redisKey(key)}, l.cfg.Limit, l.cfg.Window.Microseconds()).Int64()
	now := l.local.clock()
	if err != nil {
		l.recordFallback(ctx, now)
		return l.local.wait(key, now, int64(l.cfg.Window), l.outage.share)
	}
	limit, localWindow, _ := l.localLimit(now)
	return max(time.Duration(wait)*time.Microsecond, l.local.wait(key, now, localWindow, limit))
}

// wait returns the time for which count would reject a request of key, or 0 if it would allow the request now.
func (l *Local) wait(key string, now, window int64, limit int) time.Duration {
	s := l.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := s.expire(key, now, l.window).after(now - window)
	if len(recent) < limit {
		return 0
	}
	return time.Duration(recent[len(recent)-limit] + window - now)
}
