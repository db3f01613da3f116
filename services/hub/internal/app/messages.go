package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// Of the sweep of messages and attestations that a crash left unsettled.
const (
	messageLease int64 = 7201021 // advisory lock of the one hub that sweeps
	messagePause       = 30 * time.Second
)

// newMessages builds signed messages, and the calls that the hub attests, over what
// the ledger does.
func (a *App) newMessages(store *postgres.Store) error {
	keys, err := message.ParseHubKeys(a.cfg.HubKeys.Reveal())
	if err != nil {
		return err
	}
	filer := signal.NewService(a.api, newID)
	issuer := a.cfg.base() + issuerPath
	a.messages = message.NewService(message.Config{
		Issuer: issuer, Now: a.now, NewID: newID, Keys: keys, Messages: store.Messages(), Signers: store.Signers(), OperatorKeys: upstream.NewOperators(a.ledger),
		Moderation: a.api.Moderation,
		Effects: &creation.Effects{
			Ledger: a.api, Filer: filer, Profiles: upstream.NewOperators(a.ledger),
			Air: a.onair, People: upstream.NewOperators(a.ledger), Videos: a.cfg.Videos,
		},
	})
	a.creations = creation.NewService(creation.Config{
		Issuer: issuer, Now: a.now, NewID: newID, Ledger: a.api, Filer: filer,
		Attester: a.messages, Dues: store,
	})
	return nil
}

// messageLimit counts the messages of a public key over all hubs.
func (a *App) messageLimit() *limit.Limiter {
	fell := a.metrics.Counter("message_limiter_fallback_total", "Messages counted without Redis.")
	return limit.New(a.redis, limit.Config{
		Name: "hub-message", Limit: edge.MessageLimit, Window: time.Minute, Replicas: a.cfg.Replicas, Now: a.now,
		OnFallback: fell.WithLabelValues().Inc,
	})
}

// sweepMessages settles what is unsettled while this hub holds the lease. What fails
// is tried again at the next beat.
func (a *App) sweepMessages(ctx context.Context) error {
	lease.Lead(ctx, a.pool, messageLease, func(ctx context.Context) error {
		t := time.NewTicker(messagePause)
		defer t.Stop()
		for {
			for name, sweep := range map[string]func(context.Context) (int, error){
				"messages": a.messages.Sweep, "attestations": a.creations.Sweep, "signers of revoked keys": a.messages.SweepKeys,
			} {
				n, err := sweep(ctx)
				if err != nil && ctx.Err() == nil {
					a.log.WarnContext(ctx, "left unsettled", "what", name, "error", err)
				}
				if n > 0 {
					a.log.InfoContext(ctx, "settled", "what", name, "rows", n)
				}
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
			}
		}
	})
	return ctx.Err()
}
