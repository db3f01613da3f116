package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

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

// cuts keeps the newest cut. One that is older than its life is read anew behind the
// back of its readers; for one that nobody has asked for in long they wait.
type cuts struct {
	read func(context.Context) (*cut, error)
	now  func() time.Time

	mu    sync.Mutex // guards all below
	last  *cut
	known bool
	at    time.Time // of the last reading
	life  time.Duration
	busy  chan struct{} // closed when the reading under way has ended; nil: none is
	err   error         // of the last reading
}

// get is the cut; nil while nobody can be in it.
func (c *cuts) get(ctx context.Context) (*cut, error) {
	c.mu.Lock()
	age := c.now().Sub(c.at)
	if c.known && age < c.life {
		defer c.mu.Unlock()
		return c.last, nil
	}
	if c.busy == nil {
		c.busy = make(chan struct{})
		go c.renew(context.WithoutCancel(ctx), c.busy)
	}
	busy, last, usable := c.busy, c.last, c.known && age < c.life+cutOld
	c.mu.Unlock()
	if usable {
		return last, nil
	}
	wait := time.NewTimer(cutWait)
	defer wait.Stop()
	select {
	case <-busy:
	case <-wait.C:
		return last, nil
	case <-ctx.Done():
		return nil, pg.Fault(ctx.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.err
}

func (c *cuts) renew(ctx context.Context, busy chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, cutTime)
	defer cancel()
	begun := c.now()
	last, err := c.read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil {
		c.last, c.known, c.at = last, true, c.now()
		c.life = max(cutLife, cutShare*c.at.Sub(begun))
	}
	c.busy = nil
	close(busy)
}

func (s *Store) readCut(ctx context.Context) (*cut, error) {
	c, err := s.q.GetTopCut(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read the top quartile: %w", err))
	}
	return &c, nil
}
