package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/conf"
	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/partner"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// NetworkConfig is how the rows of partner stations are read.
type NetworkConfig struct {
	Private bool          `env:"FEDERATION_ALLOW_PRIVATE"`                  // partners may be at http and private addresses
	Every   time.Duration `env:"FEDERATION_EVERY"         envDefault:"60s"` // between two reads of a partner
	Keep    time.Duration `env:"FEDERATION_KEEP"          envDefault:"10m"` // while a partner that fails is still shown
}

// check is part of Config.Check.
func (c *NetworkConfig) check(r *conf.Report) {
	if c.Private && r.Env().Production() {
		r.Fail("FEDERATION_ALLOW_PRIVATE", "must not be set in production")
	}
	if c.Every < time.Second || c.Every > 10*time.Minute {
		r.Fail("FEDERATION_EVERY", "must be from 1s to 10m")
	}
	if c.Keep < c.Every || c.Keep > 24*time.Hour {
		r.Fail("FEDERATION_KEEP", "must be from FEDERATION_EVERY to 24h")
	}
}

// networkLease is the advisory lock of the one hub that reads the partners.
const networkLease int64 = 7201023

// newNetwork builds what reads the partners and what shows them.
func (a *App) newNetwork(store *postgres.Store) {
	a.network = network.NewService(network.Config{
		Origin: a.cfg.origin(), People: a.cfg.base() + "/u/", Copies: store, Shelf: store, Links: store, Claims: a.cfg.Accounts.stations(),
		Ledger: a.api, Keep: a.cfg.Network.Keep, Now: a.now,
	})
	a.partners = partner.NewReader(partner.Options{
		Private: a.cfg.Network.Private, Origin: a.cfg.origin(), Videos: a.cfg.Videos, Now: a.now,
	})
	a.puller = network.NewPuller(a.api, a.partners, store, a.now)
	failed := a.metrics.Counter("partner_failures_total", "Answers of partner stations that were none.", "origin")
	a.puller.Failed = func(origin string, err error) {
		failed.WithLabelValues(origin).Inc()
		a.log.Warn("partner not read", "origin", origin, "error", err)
	}
}

// readPartners reads all partners in turn while this hub holds the lease. What fails is
// tried again at the next beat.
func (a *App) readPartners(ctx context.Context) error {
	lease.Lead(ctx, a.pool, networkLease, func(ctx context.Context) error {
		t := time.NewTicker(a.cfg.Network.Every)
		defer t.Stop()
		for {
			if err := a.puller.Round(ctx); err != nil && ctx.Err() == nil {
				a.log.WarnContext(ctx, "partners not read", "error", err)
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

// viewers counts one start of a tape for each address in an hour, over all hubs.
func (a *App) viewers() *limit.Limiter {
	return limit.New(a.redis, limit.Config{
		Name: "tape-view", Limit: 1, Window: time.Hour, Replicas: 1, Now: a.now, OnFallback: a.fell("tape-view"),
	})
}
