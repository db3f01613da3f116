package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// pulseEvery is the minimum time between two publications of the pulse. It applies to all processes together.
const pulseEvery = 300 * time.Second

// pulse publishes the totals of calls, operators and markets on the channel pulse.
type pulse struct {
	store   feed.Store
	count   func(ctx context.Context) (board.Totals, error)
	publish func(ctx context.Context, e feed.Ephemeral)
	now     func() time.Time
}

// run publishes the pulse until ctx ends or an error occurs. Only the leader of all replicas runs it. The time of the last
// publication is stored, so the next leader continues from it.
func (p *pulse) run(ctx context.Context) error {
	for {
		pause, err := p.publishDue(ctx)
		if err != nil {
			return err
		}
		if err := dbtime.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// publishDue publishes the totals if pulseEvery has passed since the last publication and they have changed. It returns the
// time until the next attempt. The first totals are stored but not published, because there are no earlier values to compare.
func (p *pulse) publishDue(ctx context.Context) (time.Duration, error) {
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
	if err := p.store.StoreFacts(ctx, nil, []feed.Copy{{Channel: feed.Pulse, At: now, Data: data}}); err != nil {
		return 0, err
	}
	if known {
		p.publish(ctx, feed.Ephemeral{Channel: feed.Pulse, Type: feed.PulseUpdated, At: now, Data: data})
	}
	return pulseEvery, nil
}

func (a *App) newPulse() *pulse {
	return &pulse{store: a.store, count: a.boards.Pulse, publish: a.pubsub.Publish, now: a.now}
}
