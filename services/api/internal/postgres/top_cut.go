package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// cut is the last operator of the top quartile.
type cut = db.GetTopCutRow

// Times of a cut. Reading it looks at every operator, so it is read the less often the
// longer that takes.
const (
	cutLife  = 5 * time.Second
	cutShare = 50 // times as long as the last reading took
	cutOld   = time.Minute
	// cutTime is how long a reading may take, and cutWait how long a reader waits for one:
	// then it shows no consensus.
	cutTime = time.Minute
	cutWait = time.Second
)

// lastingCut is a cut and how long it is used before it is read again.
type lastingCut struct {
	cut  *cut
	life time.Duration
}

func newCuts(now func() time.Time) *cache.Cache[struct{}, lastingCut] {
	return cache.New(cache.Options[struct{}, lastingCut]{
		Life: func(c lastingCut) time.Duration { return c.life }, Stale: cutOld, Hold: -1, Timeout: cutTime, Values: true, Now: now,
	})
}

// topCut returns the cut; nil while no operator can be in the top quartile. A stale one is read again while it is used. If
// reading takes longer than cutWait, topCut returns the last one.
func (s *Store) topCut(ctx context.Context) (*cut, error) {
	within, cancel := context.WithTimeout(ctx, cutWait)
	defer cancel()
	c, err := s.cuts.Get(within, struct{}{}, func(ctx context.Context, _ lastingCut) (lastingCut, error) {
		begun := s.now()
		c, err := s.readCut(ctx)
		return lastingCut{cut: c, life: max(cutLife, cutShare*s.now().Sub(begun))}, err
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
