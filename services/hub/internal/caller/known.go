package caller

import (
	"sync"
	"time"
)

const (
	maxKnown    = 1 << 16 // keys and sessions, in each of two generations
	refusalLife = time.Minute
)

// generations is a cache of two maps of bounded size: when the current map is full, it replaces the old one. A flood of random
// keys therefore needs a fixed amount of memory.
type generations[K comparable, V any] struct {
	size     int // of one generation
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

// keyring is what this process has read about keys: which existed (count them before the
// call) and which were refused (refuse them again without a call to the ledger). A
// refusal expires after a minute. Nothing here admits a key: what a key may do never
// changes after it was minted, so it is cached to refuse a strict key early.
type keyring struct {
	existed *generations[KeyHash, Granted]
	refused *generations[KeyHash, time.Time]
}

func newKeyring() keyring {
	return keyring{existed: newGenerations[KeyHash, Granted](maxKnown), refused: newGenerations[KeyHash, time.Time](maxKnown)}
}

func (k keyring) isRefused(hash KeyHash, now time.Time) bool {
	at, ok := k.refused.get(hash)
	return ok && now.Sub(at) < refusalLife
}

func (k keyring) hasExisted(hash KeyHash) bool {
	_, ok := k.existed.get(hash)
	return ok
}

// isGood reports a key that the ledger has accepted, and not refused since.
func (k keyring) isGood(hash KeyHash, now time.Time) bool {
	return k.hasExisted(hash) && !k.isRefused(hash, now)
}

func (k keyring) accept(hash KeyHash, g Granted) { k.existed.put(hash, g) }

func (k keyring) refuse(hash KeyHash, now time.Time) {
	k.existed.drop(hash)
	k.refused.put(hash, now)
}
