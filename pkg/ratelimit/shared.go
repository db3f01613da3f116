package ratelimit

import (
	"cmp"
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/redisx"
)

// reportPause is the time after a failed report in which a Shared sends no report.
const reportPause = time.Second

// Shared is a limit of all processes that share a Redis, for requests that must not wait for Redis. It allows a request first
// and reports it to Redis later.
//
// Each process may allow a few requests of a key before it must have reported them: in all processes together, as many as the
// limit permits in one second, and at least one in each process. In any window, the processes therefore allow at most Limit
// requests and those of one second more. A single process never allows more than Limit. A request waits only if its key has more
// unreported requests than that, and at most for Config.Wait.
//
// Without Redis, each process allows its share of the limit, like a Limiter.
type Shared struct {
	cfg        Config
	local      *Local
	script     *scriptBatcher // nil: the limit is that of this process only
	outage     outage
	unreported int          // maximum number of unreported requests of one key
	paused     atomic.Int64 // local time before which no report is sent
	seed       maphash.Seed
	shard      [shards]reportShard
}

type reportShard struct {
	mu   sync.Mutex
	keys map[string]*report
}

// report is the state of one key in one process.
type report struct {
	pending  int           // allowed requests of this process that are not reported; negative after Undo
	left     int           // requests that the limit permitted after the last report; valid if reported
	reported bool          // Redis has answered a report
	blocked  int64         // local time before which all requests of the key are rejected
	used     int64         // local time of the last request
	running  chan struct{} // closed when the running report has ended; nil: none runs
}

// NewShared returns a limit whose counts are stored in the Redis database of store. If store is nil, the limit is that of this
// process only, and exact.
func NewShared(store *redisx.Client, cfg Config) *Shared {
	cfg.Wait = cmp.Or(cfg.Wait, 50*time.Millisecond)
	l := &Shared{cfg: cfg, local: NewLocal(cfg.Name, cfg.Limit, cfg.Window, cfg.Now), outage: newOutage(cfg), seed: maphash.MakeSeed()}
	second := int64(cfg.Limit) * int64(time.Second) / max(1, int64(cfg.Window))
	l.unreported = max(1, int(second)/max(1, cfg.Replicas))
	if store != nil {
		l.script = newScriptBatcher(store, count, cfg.Limit, cfg.Window)
	}
	for i := range l.shard {
		l.shard[i].keys = make(map[string]*report)
	}
	return l
}

// Allow counts one request of key and returns the decision. It never fails: without Redis it applies the share of this process
// to the local log.
func (l *Shared) Allow(ctx context.Context, key string) Decision {
	if l.cfg.Limit <= 0 || l.script == nil {
		return l.local.Allow(key)
	}
	now := l.local.clock()
	limit, degraded := l.cfg.Limit, l.outage.lasts(now)
	wait, left, reporting := l.take(key, now, degraded)
	if wait == overdue {
		now, wait, left = l.awaitReport(ctx, key, reporting)
	}
	if wait == overdue { // Redis did not answer in time
		l.outage.begin(ctx, now)
		degraded = true
		wait, left, _ = l.take(key, now, true)
	}
	if degraded {
		limit = l.outage.share
	}
	if wait > 0 {
		return Decision{
			Limit: l.cfg.Limit, RetryAfter: time.Duration(wait), Reset: time.Duration(wait), name: l.cfg.Name, window: l.cfg.Window,
		}
	}
	d := l.local.count(key, now, now, int64(l.cfg.Window), limit)
	if d.Fallback = degraded; degraded {
		l.outage.count()
	}
	if !d.Allowed {
		l.add(key, -1)
		return d
	}
	d.Remaining = min(d.Remaining, left)
	return d
}

// Undo removes a request that Allow has allowed. It does nothing if d rejected the request.
func (l *Shared) Undo(key string, d Decision) {
	l.local.Undo(key, d)
	if l.cfg.Limit > 0 && l.script != nil && d.Allowed {
		l.add(key, -1)
	}
}

// overdue is the result of take for a key that has too many unreported requests.
const overdue = -1

// take counts one request of key as unreported. It returns 0 and the number of requests that the limit still permits. If the
// limit is reached over all processes, it counts nothing and returns the time in nanoseconds after which a request may be
// allowed. If the key has too many unreported requests and degraded is not set, it counts nothing and returns overdue, and a
// channel that is closed when the running report has ended, or nil if none runs.
func (l *Shared) take(key string, now int64, degraded bool) (wait int64, left int, reporting <-chan struct{}) {
	s := l.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.keys[key]
	if r == nil {
		s.evictOne(now, int64(l.cfg.Window))
		r = &report{}
		s.keys[key] = r
	}
	r.used = now
	switch {
	case now < r.blocked:
		return r.blocked - now, 0, nil
	case r.pending >= l.unreported && !degraded:
		l.send(key, r)
		return overdue, 0, r.running
	}
	r.pending++
	if 2*r.pending >= l.unreported {
		l.send(key, r)
	}
	if !r.reported {
		return 0, l.cfg.Limit, nil
	}
	return 0, max(0, r.left-r.pending), nil
}

// add changes the number of unreported requests of key by n.
func (l *Shared) add(key string, n int) {
	s := l.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.keys[key]
	if r == nil { // evicted
		return
	}
	if r.pending += n; -r.pending >= l.unreported {
		l.send(key, r)
	}
}

// send reports the unreported requests of key to Redis, without waiting. It does nothing while another report of the key runs and
// during the pause after a failed report. The caller must have locked the shard of key.
func (l *Shared) send(key string, r *report) {
	if r.running != nil || r.pending == 0 || l.local.clock() < l.paused.Load() {
		return
	}
	n, running := r.pending, make(chan struct{})
	r.running = running
	redisKey := "sc:count:" + l.cfg.Name + ":" + HashedKey(key)
	l.script.queue.Add(&scriptRequest{name: redisKey, arg: n, done: func(answer [4]int64, err error) {
		s, now := l.shardOf(key), l.local.clock()
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(running)
		r.running = nil
		if err != nil {
			l.paused.Store(now + int64(reportPause))
			l.outage.begin(context.Background(), now)
			return
		}
		r.pending -= n
		r.reported, r.left = true, max(0, l.cfg.Limit-int(answer[1]))
		if answer[0] == 0 {
			// Redis counts by seconds, so its time may be longer than the window. A request that is sent then is unreported.
			r.blocked = now + min(answer[2]*int64(time.Microsecond), int64(l.cfg.Window))
		}
	}})
}

// awaitReport waits for reports of key until one of its requests can be counted, and counts it. It returns the current time and
// the results of take, which are overdue if ctx ends, after Config.Wait, or if Redis is unavailable. reporting is the channel of
// the running report.
func (l *Shared) awaitReport(ctx context.Context, key string, reporting <-chan struct{}) (now, wait int64, left int) {
	timer := time.NewTimer(l.cfg.Wait)
	defer timer.Stop()
	for wait = overdue; wait == overdue && reporting != nil; {
		select {
		case <-reporting:
			now = l.local.clock()
			wait, left, reporting = l.take(key, now, false)
			continue
		case <-ctx.Done():
		case <-timer.C:
		}
		break
	}
	return l.local.clock(), wait, left
}

func (l *Shared) shardOf(key string) *reportShard {
	return &l.shard[maphash.String(l.seed, key)%shards]
}

// evictOne examines a few keys, in the random order of map iteration. It removes those without a request in the last window and,
// if the shard is full, the key whose last request is the oldest.
func (s *reportShard) evictOne(now, window int64) {
	oldest, seen := "", 0
	for key, r := range s.keys {
		switch {
		case now-r.used > window && r.running == nil:
			delete(s.keys, key)
		case oldest == "" || r.used < s.keys[oldest].used:
			oldest = key
		}
		if seen++; seen == sampled {
			break
		}
	}
	if oldest != "" && len(s.keys) >= maxKeys/shards {
		delete(s.keys, oldest)
	}
}
