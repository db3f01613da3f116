package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
)

const (
	// fillLease is the advisory lock of the one replica that fills.
	fillLease int64 = 0x5343_434c_4f43_4b01
	// fillEvery is how often the rundown is looked through when nothing changes.
	fillEvery = 5 * time.Second
	// loadEvery is how often a replica reads what another may have filled.
	loadEvery = 2 * time.Second
	// buildEvery is how often programmes are built ahead of their readers.
	buildEvery = time.Second
)

// keepMarkets renews the copy of the markets and wakes the filler.
func (a *App) keepMarkets(ctx context.Context) error {
	version := uint64(0)
	a.markets.Run(ctx, func() {
		if v := a.markets.Pool().Version; v != version {
			version = v
			select {
			case a.changed <- struct{}{}:
			default: // it has not woken yet
			}
		}
	})
	return ctx.Err()
}

// loadRundown renews the copy of the stored rundown.
func (a *App) loadRundown(ctx context.Context) error {
	failing := false
	return every(ctx, loadEvery, nil, func() error {
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

// fillRundown fills while this replica is the one that does. An error gives
// the lease away: the next try may be another replica's.
func (a *App) fillRundown(ctx context.Context) error {
	pg.Leader(ctx, a.pool, fillLease, func(ctx context.Context) error {
		return every(ctx, fillEvery, a.changed, func() error {
			done, err := a.keeper.Fill(ctx)
			if done.Changed > 0 {
				a.log.InfoContext(ctx, "rundown filled", "slots", done.Changed, "aired", done.Aired)
			}
			return err
		})
	})
	return ctx.Err()
}

// buildProgrammes keeps the presets built, so that no reader waits.
func (a *App) buildProgrammes(ctx context.Context) error {
	return every(ctx, buildEvery, nil, func() error {
		a.desk.Refresh()
		return nil
	})
}

// every does something at once, then after each pause or wake, until ctx ends
// or it fails.
func every(ctx context.Context, pause time.Duration, wake <-chan struct{}, do func() error) error {
	t := time.NewTicker(pause)
	defer t.Stop()
	for {
		if err := do(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		case <-wake:
		}
	}
}
