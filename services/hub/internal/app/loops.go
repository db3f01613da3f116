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

// readPartners reads all partner stations every FEDERATION_EVERY. If a read fails, the next round repeats it.
func (a *App) readPartners(ctx context.Context) error {
	return dbtime.Every(ctx, a.cfg.Network.Every, func() error {
		if err := a.puller.Round(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "partner list update failed", "error", err)
		}
		return nil
	})
}

// watchAir checks once a second for live sessions without heartbeats and ends them. It counts viewers every
// livestream.SampleEvery. It continues after an error and logs only the first of consecutive errors.
func (a *App) watchAir(ctx context.Context) error {
	const pause = time.Second
	sampler := livestream.NewSampler(a.onair, a.api.FeedWrites)
	round, failing := 0, false
	return dbtime.Every(ctx, pause, func() error {
		_, err := a.onair.Sweep(ctx)
		if err == nil && round%int(livestream.SampleEvery/pause) == 0 {
			err = sampler.Round(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			a.log.WarnContext(ctx, "live session update failed", "error", err)
		}
		round, failing = round+1, err != nil
		return nil
	})
}

// reportTapes reports the number of tapes of each market to the ledger every clip.ReportEvery. It continues after an error and
// logs only the first of consecutive errors.
func (a *App) reportTapes(ctx context.Context) error {
	reporter := clip.Reporter{Store: a.store, Ledger: a.api.FeedWrites, Now: a.now}
	failing := false
	return dbtime.Every(ctx, clip.ReportEvery, func() error {
		err := reporter.Report(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			a.log.WarnContext(ctx, "tape report failed", "error", err)
		}
		failing = err != nil
		return nil
	})
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

// notifyClosing notifies users of markets that close soon, every five minutes. If a round fails, the next one repeats it.
func (a *App) notifyClosing(ctx context.Context) error {
	return dbtime.Every(ctx, 5*time.Minute, func() error {
		if err := a.notices.NotifyClosing(ctx, a.now()); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "notifications of closing markets failed", "error", err)
		}
		return nil
	})
}

// notifyOperators notifies users of the notices of the ledger every notification.NoticeInterval. It continues after an error and logs
// only the first of consecutive errors.
func (a *App) notifyOperators(ctx context.Context) error {
	failing := false
	return dbtime.Every(ctx, notification.NoticeInterval, func() error {
		err := a.notices.NotifyOperators(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			a.log.WarnContext(ctx, "notifications of the ledger delayed", "error", err)
		}
		failing = err != nil
		return nil
	})
}

// sendLetters sends letters to users every email.RoundEvery. It continues after an error and logs only the first of consecutive
// errors.
func (a *App) sendLetters(ctx context.Context) error {
	failing := false
	return dbtime.Every(ctx, email.RoundEvery, func() error {
		err := a.letters.Round(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			a.log.WarnContext(ctx, "letters delayed", "error", err)
		}
		failing = err != nil
		return nil
	})
}
