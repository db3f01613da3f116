package ratelimit

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

const (
	shards = 64
	// maxCalls and maxKeys bound the memory of one Local to about 64 MB.
	maxCalls = 2_000_000
	maxKeys  = 150_000
	// sampled keys are looked at for each new one.
	sampled = 8
)

// Local is an exact limiter inside one process. Its memory is bounded: when it is
// full, the key with the fewest calls among a few gives way, so that the heavy
// callers stay limited.
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
	total int // calls in all keys
}

// NewLocal makes a limiter of limit calls in any window; a limit of 0 allows
// everything. The name appears in the headers.
func NewLocal(name string, limit int, window time.Duration, now func() time.Time) *Local {
	l := &Local{name: name, limit: limit, window: int64(window), now: now, start: now(), seed: maphash.MakeSeed()}
	for i := range l.shard {
		l.shard[i].keys = make(map[string]calls)
	}
	return l
}

// Allow counts one call of key.
func (l *Local) Allow(key string) Decision {
	if l.limit <= 0 {
		return Unlimited()
	}
	now := l.clock()
	return l.take(key, now, now, l.window, l.limit)
}

// Undo takes back what Allow has counted, as if the call had never come. A call that
// was refused, or that the log has given up since, leaves nothing to take back.
func (l *Local) Undo(key string, d Decision) {
	if l.limit <= 0 || !d.Allowed {
		return
	}
	s := l.of(key)
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

// clock is the time since the start; time.Time makes it monotonic.
func (l *Local) clock() int64 { return int64(l.now().Sub(l.start)) }

func (l *Local) of(key string) *shard { return &l.shard[maphash.String(l.seed, key)%shards] }

// take counts a call that began at at. It is judged at now against limit calls in
// window, which is at most the window of the log.
func (l *Local) take(key string, at, now, window int64, limit int) Decision {
	s := l.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.expire(key, now, l.window)
	recent := log.after(now - window)
	d := Decision{Limit: limit, name: l.name, window: time.Duration(l.window)}
	if len(recent) < limit {
		if len(log) == 0 {
			s.makeRoom(now, l.window)
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

// expire drops the old calls of key, and key itself when none is left.
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

// makeRoom looks at a few keys and drops what has expired of them and, in a full
// shard, the one with the fewest calls. Ranging over a map starts anywhere.
func (s *shard) makeRoom(now, window int64) {
	least, fewest, seen := "", 0, 0
	for key := range s.keys {
		if n := len(s.expire(key, now, window)); n > 0 && (fewest == 0 || n < fewest) {
			least, fewest = key, n
		}
		if seen++; seen == sampled {
			break
		}
	}
	if fewest > 0 && (len(s.keys) >= maxKeys/shards || s.total >= maxCalls/shards) {
		s.total -= fewest
		delete(s.keys, least)
	}
}
