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
	// fillLease is the advisory lock of the one replica that fills.
	fillLease int64 = 0x5343_434c_4f43_4b01
	// factLease is that of the one replica that sends facts to the ledger.
	factLease int64 = 0x5343_434c_4f43_4b02
	// fillEvery is how often the rundown is looked through when nothing changes.
	fillEvery = 5 * time.Second
	// loadEvery is how often a replica reads what another may have filled.
	loadEvery = 2 * time.Second
	// buildEvery is how often programmes are built ahead of their readers.
	buildEvery = time.Second
	// surveyEvery is how often it is looked at what airs and what aired.
	surveyEvery = 5 * time.Second
	// stationEvery is how often the rundowns of stations are looked through and told.
	stationEvery = 30 * time.Second
)

// keepMarkets renews the copy of the markets and wakes the filler.
func (a *App) keepMarkets(ctx context.Context) error {
	version := uint64(0)
	a.markets.Run(ctx, func() {
		if v := a.copies.Markets.Load().Version; v != version {
			version = v
			a.wake()
		}
	})
	return ctx.Err()
}

// wake tells the filler that something is otherwise.
func (a *App) wake() {
	select {
	case a.changed <- struct{}{}:
	default: // it has not woken yet
	}
}

// loadRundown renews the copy of the stored rundown.
func (a *App) loadRundown(ctx context.Context) error {
	failing := false
	return dbtime.Every(ctx, loadEvery, func() error {
		err := a.keeper.Load(ctx)
		switch {
		case err != nil && !failing:
			a.log.WarnContext(ctx, "the database is away, the last copy of the rundown stays", "error", err)
		case err == nil && failing:
			a.log.InfoContext(ctx, "the database is back")
		}
		failing = err != nil
		return nil
	})
}

// fillRundown fills and tells what begins, here and on stations, and follows what airs,
// while this replica is the one that does. An error of the default channel gives the lease
// away: the next try may be another replica's.
func (a *App) fillRundown(ctx context.Context) error {
	lease.Lead(ctx, a.pool, fillLease, func(ctx context.Context) error {
		work, ctx := errgroup.WithContext(ctx)
		work.Go(func() error { return a.fillDefault(ctx) })
		work.Go(func() error { return a.fillStations(ctx) })
		work.Go(func() error { return a.surveyAir(ctx) })
		return work.Wait()
	})
	return ctx.Err()
}

func (a *App) fillDefault(ctx context.Context) error {
	herald := program.NewHerald(a.desk, a.store, httpapi.Words(), a.now)
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		case <-a.changed:
		}
		if err := a.fill(ctx, herald); err != nil {
			return err
		}
		t.Reset(a.pause(fillEvery))
	}
}

// pause returns d, or the time until the next change of the programme if that is less.
func (a *App) pause(d time.Duration) time.Duration {
	now := a.now()
	return min(d, program.Boundary(now).Sub(now))
}

// fill fills the rundown once and publishes what changed.
func (a *App) fill(ctx context.Context, herald *program.Herald) error {
	done, err := a.keeper.Fill(ctx)
	if err != nil {
		return err
	}
	told, err := herald.Tell(ctx, done.Airings)
	if err == nil && done.Changed+told.Started > 0 {
		a.log.InfoContext(ctx, "rundown filled", "slots", done.Changed, "aired", told.Aired, "started", told.Started)
	}
	return err
}

// sendFacts sends the committed facts to the ledger while this replica has the lease.
func (a *App) sendFacts(ctx context.Context) error {
	lease.Lead(ctx, a.pool, factLease, a.facts.Run)
	return ctx.Err()
}

// fillStations fills the rundowns of stations and publishes them to the ledger.
func (a *App) fillStations(ctx context.Context) error {
	return paced(ctx, func() time.Duration {
		if err := a.network.Round(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "publication of station programmes failed", "error", err)
		}
		return a.pause(stationEvery)
	})
}

// surveyAir measures airings.
func (a *App) surveyAir(ctx context.Context) error {
	return paced(ctx, func() time.Duration {
		if err := a.survey.Look(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "survey of airings failed", "error", err)
		}
		return a.pause(surveyEvery)
	})
}

// buildProgrammes builds the presets before they are requested.
func (a *App) buildProgrammes(ctx context.Context) error {
	return dbtime.Every(ctx, buildEvery, func() error {
		a.desk.Refresh()
		return nil
	})
}

// paced calls do at once and again after each pause that do returns, until ctx ends.
func paced(ctx context.Context, do func() time.Duration) error {
	for {
		if err := dbtime.Sleep(ctx, do()); err != nil {
			return err
		}
	}
}
