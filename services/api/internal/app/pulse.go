package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// pulseEvery is the shortest time between two publications of the pulse by all processes together.
const pulseEvery = 300 * time.Second

// pulse publishes the totals of the network.
type pulse struct {
	store feed.Store
	count func(ctx context.Context) (board.Totals, error)
	tell  func(ctx context.Context, e feed.Ephemeral)
	now   func() time.Time
}

// run tells until ctx ends or something fails. One process of all runs it; when it was
// told last is known to whoever is next.
func (p *pulse) run(ctx context.Context) error {
	for {
		pause, err := p.beat(ctx)
		if err != nil {
			return err
		}
		if err := dbtime.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// beat tells what has changed, when it is time, and says how long to wait. What is kept
// first is no change: nobody was told anything else.
func (p *pulse) beat(ctx context.Context) (time.Duration, error) {
	last, known, err := p.store.FindCopy(ctx, feed.Pulse)
	if err != nil {
		return 0, err
	}
	now := p.now()
	if left := last.At.Add(pulseEvery).Sub(now); known && left > 0 {
		return min(left, pulseEvery), nil
	}
	totals, err := p.count(ctx)
	if err != nil || known && httpapi.SamePulse(last.Data, &totals) {
		return pulseEvery, err
	}
	data := httpapi.PulseData(&totals)
	if err := p.store.TakeFacts(ctx, nil, []feed.Copy{{Channel: feed.Pulse, At: now, Data: data}}); err != nil {
		return 0, err
	}
	if known {
		p.tell(ctx, feed.Ephemeral{Channel: feed.Pulse, Type: feed.PulseUpdated, At: now, Data: data})
	}
	return pulseEvery, nil
}

func (a *App) newPulse() *pulse {
	return &pulse{store: a.store, count: a.boards.Pulse, tell: a.news.Publish, now: a.now}
}
