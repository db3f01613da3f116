package app

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/services/clock/internal/httpapi"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// fillLease is the id of the advisory lock for filling rundowns. Only the replica that holds the lock fills and publishes
	// rundowns.
	fillLease int64 = 0x5343_434c_4f43_4b01
	// factLease is the id of the advisory lock for sending facts. Only the replica that holds the lock sends the outbox to the
	// ledger.
	factLease int64 = 0x5343_434c_4f43_4b02
	// fillEvery is the maximum time between two updates of the rundown.
	fillEvery = 5 * time.Second
	// loadEvery is the interval at which a replica loads the rundown, which another replica may have filled.
	loadEvery = 2 * time.Second
	// buildEvery is the interval at which the cached programmes are rebuilt, so that readers do not wait.
	buildEvery = time.Second
	// surveyEvery is the maximum time between two measurements of airings.
	surveyEvery = 5 * time.Second
	// stationEvery is the maximum time between two updates of the rundowns of stations.
	stationEvery = 30 * time.Second
)

// refreshMarkets refreshes the cached markets of the ledger until ctx ends. After each change of the markets, it wakes the loop
// that fills the default channel.
func (a *App) refreshMarkets(ctx context.Context) error {
	version := uint64(0)
	a.markets.Run(ctx, func() {
		if v := a.copies.Markets.Load().Version; v != version {
			version = v
			a.wake()
		}
	})
	return ctx.Err()
}

// wake makes the loop of fillDefault update the rundown immediately.
func (a *App) wake() {
	select {
	case a.changed <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// loadRundown loads the stored rundown of the default channel every loadEvery. If a load fails, the last loaded rundown remains
// in use.
func (a *App) loadRundown(ctx context.Context) error {
	failing := false
	return dbtime.Every(ctx, loadEvery, func() error {
		err := a.planner.Load(ctx)
		switch {
		case err != nil && !failing:
			a.log.WarnContext(ctx, "rundown load failed", "serving", "last copy", "error", err)
		case err == nil && failing:
			a.log.InfoContext(ctx, "rundown load recovered")
		}
		failing = err != nil
		return nil
	})
}

// fillRundown runs three tasks while this replica holds fillLease. It fills the rundown of the default channel, fills the
// rundowns of stations, and measures airings. After an error in the default channel, the replica releases the lease, so that
// another replica can take it.
func (a *App) fillRundown(ctx context.Context) error {
	lease.Lead(ctx, a.pool, "filler", fillLease, func(ctx context.Context) error {
		work, ctx := errgroup.WithContext(ctx)
		work.Go(func() error { return a.fillDefault(ctx) })
		work.Go(func() error { return a.fillStations(ctx) })
		work.Go(func() error { return a.surveyAirings(ctx) })
		return work.Wait()
	})
	return ctx.Err()
}

// fillDefault updates the rundown of the default channel after each change of the markets, at each segment boundary, and at least
// every fillEvery. It returns the first error.
func (a *App) fillDefault(ctx context.Context) error {
	publisher := program.NewPublisher(a.programs, a.store, httpapi.Encoder(), a.now)
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		case <-a.changed:
		}
		if err := a.fill(ctx, publisher); err != nil {
			return err
		}
		t.Reset(a.pause(fillEvery))
	}
}

// pause returns the shorter of two durations: d, and the time until the next segment boundary.
func (a *App) pause(d time.Duration) time.Duration {
	now := a.now()
	return min(d, program.Boundary(now).Sub(now))
}

// fill updates the rundown of the default channel once and publishes the changes.
func (a *App) fill(ctx context.Context, publisher *program.Publisher) error {
	done, err := a.planner.Fill(ctx)
	if err != nil {
		return err
	}
	published, err := publisher.Publish(ctx, done.Airings)
	if err == nil && done.Changed+published.Started > 0 {
		a.log.InfoContext(ctx, "rundown filled", "slots", done.Changed, "aired", published.Aired, "started", published.Started)
	}
	return err
}

// sendFacts sends the facts in the outbox to the ledger while this replica holds factLease.
func (a *App) sendFacts(ctx context.Context) error {
	lease.Lead(ctx, a.pool, "facts", factLease, a.facts.Run)
	return ctx.Err()
}

// fillStations fills the rundowns of all stations and publishes the programmes to the ledger, at each segment boundary and at
// least every stationEvery. It logs errors and continues.
func (a *App) fillStations(ctx context.Context) error {
	return repeat(ctx, func() time.Duration {
		if err := a.stations.FillAll(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "station programme update failed", "error", err)
		}
		return a.pause(stationEvery)
	})
}

// surveyAirings measures airings at each segment boundary and at least every surveyEvery. It logs errors and continues.
func (a *App) surveyAirings(ctx context.Context) error {
	return repeat(ctx, func() time.Duration {
		if err := a.surveyor.MeasureDue(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "measurement of airings failed", "error", err)
		}
		return a.pause(surveyEvery)
	})
}

// buildProgrammes rebuilds the outdated programmes of the default channel and of the presets every buildEvery, so that readers do
// not wait.
func (a *App) buildProgrammes(ctx context.Context) error {
	return dbtime.Every(ctx, buildEvery, func() error {
		a.programs.Refresh()
		return nil
	})
}

// repeat calls the function do repeatedly until ctx ends. do returns the pause before its next call.
func repeat(ctx context.Context, do func() time.Duration) error {
	for {
		if err := dbtime.Sleep(ctx, do()); err != nil {
			return err
		}
	}
}
