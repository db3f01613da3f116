package caller

import (
	"sync"
	"time"
)

const (
	generationSize = 1 << 16
	refusalLife    = time.Minute
)

// hints remembers key hashes in two generations of bounded size, so that a
// flood of random keys costs a fixed amount of memory. A hint never admits.
type hints struct {
	mu       sync.Mutex
	cur, old map[KeyHash]time.Time
}

func newHints() *hints {
	return &hints{cur: make(map[KeyHash]time.Time)}
}

func (h *hints) get(hash KeyHash) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.cur[hash]; ok {
		return at, true
	}
	at, ok := h.old[hash]
	return at, ok
}

func (h *hints) put(hash KeyHash, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.cur) >= generationSize {
		h.old, h.cur = h.cur, make(map[KeyHash]time.Time)
	}
	h.cur[hash] = at
}

func (h *hints) drop(hash KeyHash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.cur, hash)
	delete(h.old, hash)
}

// keyring is what this process has heard about keys: which existed (count
// them before the call) and which were refused (refuse them again, without
// asking). Only the "no" is acted on alone, and it runs out after a minute.
type keyring struct {
	existed, refused *hints
}

func newKeyring() keyring { return keyring{existed: newHints(), refused: newHints()} }

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

func (k keyring) accept(hash KeyHash, now time.Time) { k.existed.put(hash, now) }

func (k keyring) refuse(hash KeyHash, now time.Time) {
	k.existed.drop(hash)
	k.refused.put(hash, now)
}
