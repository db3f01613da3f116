package caller

import (
	"sync"
	"time"
)

const (
	maxKnown    = 1 << 16 // maximum number of entries in each of two generations
	refusalLife = time.Minute
)

// generations is a cache of two maps of bounded size. When the current map is full, it becomes the old map, and the previous old
// map is discarded. A flood of random keys therefore uses a limited amount of memory. It is safe for concurrent use.
type generations[K comparable, V any] struct {
	size     int // maximum number of entries of one map
	mu       sync.Mutex
	cur, old map[K]V
}

func newGenerations[K comparable, V any](size int) *generations[K, V] {
	return &generations[K, V]{size: size, cur: make(map[K]V)}
}

func (g *generations[K, V]) get(key K) (V, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v, ok := g.cur[key]; ok {
		return v, true
	}
	v, ok := g.old[key]
	return v, ok
}

func (g *generations[K, V]) put(key K, v V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.cur) >= g.size {
		g.old, g.cur = g.cur, make(map[K]V)
	}
	g.cur[key] = v
}

func (g *generations[K, V]) drop(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.cur, key)
	delete(g.old, key)
}

// keyCache caches the ledger's results for operator keys. If a key is cached as accepted, the request is counted first, and
// then the ledger verifies the key. A refused key is refused for one minute without a call. No entry admits a key. The
// permissions of a key never change; they are cached to refuse a restricted key early.
type keyCache struct {
	existed *generations[KeyHash, Granted]
	refused *generations[KeyHash, refusedKey]
}

// refusedKey is a refusal of the ledger: its time and its error.
type refusedKey struct {
	at  time.Time
	err error
}

func newKeyCache() keyCache {
	return keyCache{existed: newGenerations[KeyHash, Granted](maxKnown), refused: newGenerations[KeyHash, refusedKey](maxKnown)}
}

// refusal returns the error with which the ledger has refused the key within the last minute, or nil.
func (k keyCache) refusal(hash KeyHash, now time.Time) error {
	if r, ok := k.refused.get(hash); ok && now.Sub(r.at) < refusalLife {
		return r.err
	}
	return nil
}

func (k keyCache) hasExisted(hash KeyHash) bool {
	_, ok := k.existed.get(hash)
	return ok
}

// isGood reports whether the ledger has accepted the key and has not refused it within the last minute.
func (k keyCache) isGood(hash KeyHash, now time.Time) bool {
	return k.hasExisted(hash) && k.refusal(hash, now) == nil
}

func (k keyCache) accept(hash KeyHash, g Granted) { k.existed.put(hash, g) }

func (k keyCache) refuse(hash KeyHash, now time.Time, err error) {
	k.existed.drop(hash)
	k.refused.put(hash, refusedKey{now, err})
}
