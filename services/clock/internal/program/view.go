package program

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pickEvery is the time for which a choice of markets is used. The periods are counted from 1970, so all replicas choose
	// again at the same time.
	pickEvery = 30 * time.Second
	// rebuildAfter is the maximum age of a cached programme whose source data has not changed.
	rebuildAfter = 15 * time.Second
	// agedAfter is the age from which a programme is marked as degraded because the copy of the markets is old.
	agedAfter = 60 * time.Second
)

// Values of Program.Degraded, which name the failed source.
const (
	SourceLedger   = "api"
	SourceDatabase = "postgres"
)

// view caches the programme of one channel. Readers load the cached programme without a lock. To build the next programme, a
// reader takes the lock mu, so only one reader builds at a time.
type view struct {
	query    Query
	computed bool
	used     time.Time // guarded by Service.mu

	built        atomic.Pointer[build]
	mu           sync.Mutex
	picks        Picks
	pickedWindow int64
}

// build is a programme with the data from which it was built.
type build struct {
	program *Program
	pool    *Pool
	rundown *Rundown
}

// current reports whether the programme is up to date. This is the case if pool and rundown are those of the build, no segment
// boundary has passed, and the programme is younger than rebuildAfter. It returns false if b is nil.
func (b *build) current(pool *Pool, rundown *Rundown, now time.Time) bool {
	return b != nil && samePool(b.pool, pool) && sameRundown(b.rundown, rundown) && b.sameSegment(now) &&
		now.Sub(b.program.GeneratedAt) < rebuildAfter
}

// sameSegment reports whether the segments that aired at the time of the build still air. It returns false if b is nil.
func (b *build) sameSegment(now time.Time) bool {
	return b != nil && now.Before(b.program.Until) && !now.Before(b.program.GeneratedAt)
}

// program returns the programme for the time now and builds it if necessary. If another reader is building it and the same
// segments still air, program returns the previous programme, unless that one is degraded.
func (v *view) program(pool *Pool, rundown *Rundown, now time.Time) *Program {
	if v.computed {
		rundown = nil
	}
	b := v.built.Load()
	if b.current(pool, rundown, now) {
		return b.program
	}
	if !v.mu.TryLock() {
		if b.sameSegment(now) && b.program.Degraded == "" {
			return b.program
		}
		v.mu.Lock()
	}
	defer v.mu.Unlock()
	if b = v.built.Load(); b.current(pool, rundown, now) {
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

// showStored returns the programme of a stored channel. The programme is marked as degraded if the rundown or the pool is missing
// or too old.
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

// ledgerState returns SourceLedger if the pool is nil or older than agedAfter, otherwise "".
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
