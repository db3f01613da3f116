package ratelimit

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

const (
	shards = 64
	// maxCalls and maxKeys limit the memory of one Local to about 64 MB.
	maxCalls = 2_000_000
	maxKeys  = 150_000
	// sampled is the number of keys that evictOne examines for each new key.
	sampled = 8
)

// Local is an exact limiter within one process. Its memory is bounded: when it is full, it examines a sample of keys and
// deletes the one with the fewest requests. Clients with many requests therefore stay limited.
type Local struct {
	name   string
	limit  int
	window int64
	now    func() time.Time
	start  time.Time
	seed   maphash.Seed
	shard  [shards]shard
}

type shard struct {
	mu    sync.Mutex
	keys  map[string]calls
	total int // number of requests of all keys
}

// NewLocal returns a limiter that allows limit requests in any window. A limit of 0 allows all requests. The name is
// used in the headers.
func NewLocal(name string, limit int, window time.Duration, now func() time.Time) *Local {
	l := &Local{name: name, limit: limit, window: int64(window), now: now, start: now(), seed: maphash.MakeSeed()}
	for i := range l.shard {
		l.shard[i].keys = make(map[string]calls)
	}
	return l
}

// Allow counts one request of key and returns the decision.
func (l *Local) Allow(key string) Decision {
	if l.limit <= 0 {
		return Unlimited()
	}
	now := l.clock()
	return l.count(key, now, now, l.window, l.limit)
}

// Undo removes a request that Allow has counted. It does nothing if d rejected the request or the log no longer
// contains it.
func (l *Local) Undo(key string, d Decision) {
	if l.limit <= 0 || !d.Allowed {
		return
	}
	s := l.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.expire(key, l.clock(), l.window)
	i, there := slices.BinarySearch(log, d.at)
	if !there {
		return
	}
	s.total--
	if log = slices.Delete(log, i, i+1); len(log) == 0 {
		delete(s.keys, key)
		return
	}
	s.keys[key] = log
}

// clock returns the monotonic time since the start in nanoseconds.
func (l *Local) clock() int64 { return int64(l.now().Sub(l.start)) }

func (l *Local) shardOf(key string) *shard { return &l.shard[maphash.String(l.seed, key)%shards] }

// count allows a request if fewer than limit requests were allowed in the window before now. It stores an allowed request with
// the time at. window must not exceed the window of the log.
func (l *Local) count(key string, at, now, window int64, limit int) Decision {
	s := l.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.expire(key, now, l.window)
	recent := log.after(now - window)
	d := Decision{Limit: limit, name: l.name, window: time.Duration(l.window)}
	if len(recent) < limit {
		if len(log) == 0 {
			s.evictOne(now, l.window)
		}
		log = log.add(at)
		s.keys[key] = log
		s.total++
		d.Allowed, d.Remaining, d.at = true, limit-len(recent)-1, at
		d.Reset = time.Duration(log[0] + l.window - now)
		return d
	}
	d.RetryAfter = time.Duration(recent[len(recent)-limit] + window - now)
	d.Reset = min(time.Duration(log[0]+l.window-now), d.RetryAfter)
	return d
}

// expire removes the expired requests of key, and key itself if none is left. It returns the remaining log.
func (s *shard) expire(key string, now, window int64) calls {
	log, known := s.keys[key]
	if !known {
		return nil
	}
	before := len(log)
	log = log.expire(now, window)
	s.total -= before - len(log)
	if len(log) == 0 {
		delete(s.keys, key)
	} else {
		s.keys[key] = log
	}
	return log
}

// evictOne examines a few keys, in the random order of map iteration. It removes their expired requests and, if the
// shard is full, the key with the fewest requests.
func (s *shard) evictOne(now, window int64) {
	minKey, minCalls, seen := "", 0, 0
	for key := range s.keys {
		if n := len(s.expire(key, now, window)); n > 0 && (minCalls == 0 || n < minCalls) {
			minKey, minCalls = key, n
		}
		if seen++; seen == sampled {
			break
		}
	}
	if minCalls > 0 && (len(s.keys) >= maxKeys/shards || s.total >= maxCalls/shards) {
		s.total -= minCalls
		delete(s.keys, minKey)
	}
}
