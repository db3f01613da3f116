package program

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pickEvery is how long a choice of markets stands. Windows are counted
	// from 1970, so that replicas choose anew at the same moments.
	pickEvery = 30 * time.Second
	// rebuildAfter bounds the age of a built programme whose facts stand.
	rebuildAfter = 15 * time.Second
	// agedAfter is when a copy of the markets is shown but called degraded.
	agedAfter = 60 * time.Second
)

// The sources named by Program.Degraded.
const (
	SourceLedger   = "api"
	SourceDatabase = "postgres"
)

// view is one channel with the programme built last. Readers take that one
// without a lock; the lock makes one of them build the next.
type view struct {
	query    Query
	computed bool
	used     time.Time // guarded by Service.mu

	built        atomic.Pointer[build]
	mu           sync.Mutex
	picks        Picks
	pickedWindow int64
}

// build is a programme with the facts that it was built from.
type build struct {
	program *Program
	pool    *Pool
	rundown *Rundown
}

// holds reports whether the build still tells the truth: the same facts, no
// boundary passed, not too old.
func (b *build) holds(pool *Pool, rundown *Rundown, now time.Time) bool {
	return b != nil && samePool(b.pool, pool) && sameRundown(b.rundown, rundown) && b.airs(now) &&
		now.Sub(b.program.GeneratedAt) < rebuildAfter
}

// airs reports whether what the build calls on the air still is.
func (b *build) airs(now time.Time) bool {
	return b != nil && now.Before(b.program.Until) && !now.Before(b.program.GeneratedAt)
}

// program gives the programme as of now. While another reader builds the next
// one, the last one serves as long as what it calls on the air still is.
func (v *view) program(pool *Pool, rundown *Rundown, now time.Time) *Program {
	if v.computed {
		rundown = nil
	}
	b := v.built.Load()
	if b.holds(pool, rundown, now) {
		return b.program
	}
	if !v.mu.TryLock() {
		if b.airs(now) {
			return b.program
		}
		v.mu.Lock()
	}
	defer v.mu.Unlock()
	if b = v.built.Load(); b.holds(pool, rundown, now) {
		return b.program
	}
	b = &build{pool: pool, rundown: rundown}
	if v.computed {
		b.program = v.compute(pool, now)
	} else {
		b.program = showStored(DefaultChannel, rundown, pool, now)
	}
	v.built.Store(b)
	return b.program
}

func (v *view) compute(pool *Pool, now time.Time) *Program {
	if pool.Stale(now) {
		p := assemble(v.query.Channel(), v.query.Spec.Canonical(), nil, now)
		p.Degraded = SourceLedger
		return p
	}
	window := now.Unix() / int64(pickEvery/time.Second)
	if window != v.pickedWindow || len(v.picks) == 0 || !v.picks.stillAirable(pool, now) {
		v.picks, v.pickedWindow = v.query.Pick(pool, now), window
	}
	p := Compute(&v.query, v.picks, pool, now)
	p.Degraded = ledgerState(pool, now)
	return p
}

// showStored lays out a stored channel from its newest copy.
func showStored(channel string, rundown *Rundown, pool *Pool, now time.Time) *Program {
	if rundown == nil {
		p := assemble(channel, "", nil, now)
		p.Degraded = SourceDatabase
		return p
	}
	p := Show(channel, rundown.Entries, pool, now)
	p.Degraded = ledgerState(pool, now)
	if now.Sub(rundown.LoadedAt) > SlotLength {
		p.Degraded = SourceDatabase
	}
	return p
}

func ledgerState(pool *Pool, now time.Time) string {
	if pool == nil || now.Sub(pool.FetchedAt) > agedAfter {
		return SourceLedger
	}
	return ""
}

func samePool(a, b *Pool) bool {
	return a == b || a != nil && b != nil && a.Version == b.Version
}

func sameRundown(a, b *Rundown) bool {
	return a == b || a != nil && b != nil && a.Version == b.Version
}
