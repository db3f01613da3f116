package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

// sweepGrants deletes expired grants, tokens and sessions, and old notifications and network addresses, once a minute. It returns on
// the first error, so that another hub can take over the loop.
func (a *App) sweepGrants(ctx context.Context) error {
	return dbtime.Every(ctx, time.Minute, func() error {
		grants, err := a.grants.Sweep(ctx)
		if err != nil {
			return err
		}
		now := a.now()
		sessions, err := a.store.SweepSessions(ctx, now.Add(-caller.SessionIdle-time.Hour), now.Add(-caller.DeviceLife))
		if err != nil {
			return err
		}
		if err := a.store.DeleteAuditAddresses(ctx, now.Add(-audit.AddressLife)); err != nil {
			return err
		}
		notices, err := a.store.SweepNotifications(ctx, now.Add(-notification.Retention))
		if err == nil && grants+sessions+notices > 0 {
			a.log.InfoContext(ctx, "expired data deleted", "grants", grants, "sessions", sessions, "notifications", notices)
		}
		return err
	})
}

// sweepMessages runs every 30 seconds. It completes messages, attestations and key revocations that a crash has interrupted.
// If one of these steps fails, the next round repeats it.
func (a *App) sweepMessages(ctx context.Context) error {
	sweeps := map[string]func(context.Context) (int, error){
		"messages": a.messages.Sweep, "attestations": a.creations.Sweep, "signers of revoked keys": a.messages.SweepKeys,
	}
	return dbtime.Every(ctx, 30*time.Second, func() error {
		for name, sweep := range sweeps {
			n, err := sweep(ctx)
			if err != nil && ctx.Err() == nil {
				a.log.WarnContext(ctx, "interrupted work recovery failed", "kind", name, "error", err)
			}
			if n > 0 {
				a.log.InfoContext(ctx, "interrupted work completed", "kind", name, "count", n)
			}
		}
		return nil
	})
}

// readPartners reads all partner stations every FEDERATION_EVERY.
func (a *App) readPartners(ctx context.Context) error {
	return a.repeat(ctx, a.cfg.Network.Every, "partner list update failed", func() error { return a.puller.Round(ctx) })
}

// repeat calls do every pause until ctx ends. It continues after an error and logs only the first of consecutive errors, with message.
func (a *App) repeat(ctx context.Context, pause time.Duration, message string, do func() error) error {
	failing := false
	return dbtime.Every(ctx, pause, func() error {
		err := do()
		if err != nil && !failing && ctx.Err() == nil {
			a.log.WarnContext(ctx, message, "error", err)
		}
		failing = err != nil
		return nil
	})
}

// watchAir checks once a second for live sessions without heartbeats and ends them. It counts viewers every livestream.SampleEvery.
func (a *App) watchAir(ctx context.Context) error {
	const pause = time.Second
	sampler := livestream.NewSampler(a.onair, a.api.FeedWrites)
	round := 0
	return a.repeat(ctx, pause, "live session update failed", func() error {
		_, err := a.onair.Sweep(ctx)
		if err == nil && round%int(livestream.SampleEvery/pause) == 0 {
			err = sampler.Round(ctx)
		}
		round++
		return err
	})
}

// reportTapes reports the number of tapes of each market to the ledger every clip.ReportEvery.
func (a *App) reportTapes(ctx context.Context) error {
	reporter := clip.Reporter{Store: a.store, Ledger: a.api.FeedWrites, Now: a.now}
	return a.repeat(ctx, clip.ReportEvery, "tape report failed", func() error { return reporter.Report(ctx) })
}

// settleAccounts completes interrupted changes of handles and deletes accounts whose deletion is due, once a minute. If one of
// them fails, the next round repeats it.
func (a *App) settleAccounts(ctx context.Context) error {
	return dbtime.Every(ctx, time.Minute, func() error {
		if err := a.handles.Settle(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "settling changes of handles failed", "error", err)
		}
		n, err := a.deletion.Erase(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "account deletion failed", "error", err)
		}
		if n > 0 {
			a.log.InfoContext(ctx, "accounts deleted", "count", n)
		}
		return nil
	})
}

// notifyClosing notifies users of markets that close soon, every five minutes.
func (a *App) notifyClosing(ctx context.Context) error {
	return a.repeat(ctx, 5*time.Minute, "notifications of closing markets failed", func() error {
		return a.notices.NotifyClosing(ctx, a.now())
	})
}

// notifyOperators notifies users of the notices of the ledger every notification.NoticeInterval.
func (a *App) notifyOperators(ctx context.Context) error {
	return a.repeat(ctx, notification.NoticeInterval, "notifications of the ledger delayed", func() error {
		return a.notices.NotifyOperators(ctx)
	})
}

// sendLetters sends letters to users every email.RoundEvery.
func (a *App) sendLetters(ctx context.Context) error {
	return a.repeat(ctx, email.RoundEvery, "letters delayed", func() error { return a.letters.Round(ctx) })
}
