package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// cut is the operator with the lowest mean points in the top quartile. Only operators of the crowd with at least ten counted
// calls are ranked.
type cut = db.GetTopCutRow

// Lifetimes and timeouts of the cached cut. A cut is fresh for cutLife, or for cutShare times the duration of its read if
// that is longer. The reason is that a read scans every operator. When a cut is no longer fresh, it remains in the cache for
// cutOld.
const (
	cutLife  = 5 * time.Second
	cutShare = 50 // smallest lifetime, in multiples of the duration of the read
	cutOld   = time.Minute
	// cutTime is the timeout of a read. cutWait is the longest time that a caller waits for a read. If no cut is cached
	// then, the response has no consensus of top forecasters.
	cutTime = time.Minute
	cutWait = time.Second
)

// lastingCut is a cut and the time for which it is cached. The cut is nil while no operator has enough counted calls.
type lastingCut struct {
	cut  *cut
	life time.Duration
}

func newCuts(now func() time.Time) *cache.Cache[struct{}, lastingCut] {
	return cache.New(cache.Options[struct{}, lastingCut]{
		Life: func(c lastingCut) time.Duration { return c.life }, Stale: cutOld, Hold: -1, Timeout: cutTime, Values: true, Now: now,
	})
}

// topCut returns the cached cut, or nil while no operator has enough counted calls. It returns a stale cut while a new one
// is being read. If the read takes longer than cutWait, topCut returns the last cut, or nil without one.
func (s *Store) topCut(ctx context.Context) (*cut, error) {
	within, cancel := context.WithTimeout(ctx, cutWait)
	defer cancel()
	c, err := s.cuts.Get(within, struct{}{}, func(ctx context.Context, _ lastingCut) (lastingCut, error) {
		started := s.now()
		c, err := s.readCut(ctx)
		return lastingCut{cut: c, life: max(cutLife, cutShare*s.now().Sub(started))}, err
	})
	switch {
	case err == nil || within.Err() == nil:
		return c.cut, err
	case ctx.Err() != nil:
		return nil, pg.Fault(ctx.Err())
	}
	c, _, _ = s.cuts.Last(struct{}{})
	return c.cut, nil
}

func (s *Store) readCut(ctx context.Context) (*cut, error) {
	c, err := s.q.GetTopCut(ctx)
	if err != nil {
		return nil, missing(err, nil, "read the top quartile")
	}
	return &c, nil
}
