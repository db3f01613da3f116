package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/services/hub/internal/audience"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// Of what watches over those who are live.
const (
	onairLease  int64 = 7201027 // advisory lock of the one hub that does
	onairPause        = time.Second
	onairRounds       = int(onair.SampleEvery / onairPause) // viewers are counted once in so many
)

// newOnAir builds what happens on the air.
func (a *App) newOnAir(store *postgres.Store) {
	a.onair = onair.NewService(onair.Config{
		Store: store.OnAir(), Streams: a.ingest, Audience: audience.New(a.redis),
		Records: a.api.Records, People: upstream.NewOperators(a.ledger), Now: a.now, NewID: newID,
	})
}

// watchAir ends sessions without a heartbeat and counts viewers while this hub holds the
// lease. What fails is tried again at the next beat.
func (a *App) watchAir(ctx context.Context) error {
	lease.Lead(ctx, a.pool, onairLease, func(ctx context.Context) error {
		t := time.NewTicker(onairPause)
		defer t.Stop()
		sampler := onair.NewSampler(a.onair, a.api.FeedWrites)
		failing := false
		for n := 0; ; n++ {
			_, err := a.onair.Sweep(ctx)
			if err == nil && n%onairRounds == 0 {
				err = sampler.Round(ctx)
			}
			if err != nil && !failing && ctx.Err() == nil {
				a.log.WarnContext(ctx, "sessions are not watched over", "error", err)
			}
			failing = err != nil
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
			}
		}
	})
	return ctx.Err()
}
