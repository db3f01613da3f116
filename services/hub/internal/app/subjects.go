package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/partner"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// issuer returns the issuer identifier in the hub's tokens. It is also the resource of a token that was requested without a
// resource parameter.
func (c *Config) issuer() string { return c.base() + "/api/protocol/v1" }

// newGrants builds a.grants, the authorization server for apps.
func (a *App) newGrants() (err error) {
	settings := grant.Settings{
		Issuer: a.cfg.issuer(), Resources: []string{a.cfg.issuer() + "/mcp"}, RetryWindow: &a.cfg.RefreshRetry,
	}
	for _, secret := range a.cfg.Successors {
		settings.SuccessorKeys = append(settings.SuccessorKeys, []byte(secret.Reveal()))
	}
	a.grants, err = grant.New(grant.Deps{
		Store: postgres.NewGrants(a.pool, a.cfg.ReadTime), Failures: caller.NewFailures(a.counters(), "client"), Settings: settings, Now: a.now,
		Announce: a.announce,
	})
	return err
}

// announceTime is the time limit of sending a new access token to the ledger before the app receives it.
const announceTime = 300 * time.Millisecond

// announce sends a new access token to the ledger. If it fails, the outbox sends the token.
func (a *App) announce(ctx context.Context, t grant.Token) {
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	if err := a.feed().StoreToken(ctx, t.Hash[:], t.GrantID, t.ExpiresAt); err != nil {
		a.log.DebugContext(ctx, "app token not announced", "grant", t.GrantID, "error", err)
	}
}

// feed returns the sender of facts to the ledger.
func (a *App) feed() upstream.Feed {
	return upstream.Feed{Ledger: a.api.FeedWrites, Operators: a.api.OperatorWrites, Handles: a.api.Operators}
}

// delegate implements caller.Tokens: it authenticates the access token of an app.
func (a *App) delegate(ctx context.Context, bearer, resource string) (caller.Delegate, error) {
	p, err := a.grants.Authenticate(ctx, bearer, resource)
	return caller.Delegate{
		UserID: operator.ID(p.UserID), AppID: p.AppID, GrantID: p.GrantID, Scopes: p.Scopes.Words(),
	}, err
}

// newMessages builds a.messages, the service of signed messages, and a.creations, which files and attests calls. It returns an
// error if HUB_KEYS is invalid.
func (a *App) newMessages() error {
	keys, err := message.ParseHubKeys(a.cfg.HubKeys.Reveal())
	if err != nil {
		return err
	}
	filer := signal.NewService(a.api, newID)
	a.messages = message.NewService(message.Config{
		Issuer: a.cfg.issuer(), Now: a.now, NewID: newID, Keys: keys, Store: a.store,
		Operators: a.api.Operators, Moderation: a.api.Moderation,
		Apply: (&effect.Effects{Ledger: a.api, Filer: filer, Profiles: a.profiles, Air: a.onair, Videos: a.cfg.Videos}).Apply,
	})
	a.creations = effect.NewService(effect.Config{
		Issuer: a.cfg.issuer(), Now: a.now, NewID: newID, Ledger: a.api, Filer: filer, Attester: a.messages, Store: a.store,
	})
	return nil
}

// messageLimit returns the limiter of signed messages. It allows each signing key message.PerMinute messages per minute, over
// all hubs.
func (a *App) messageLimit() *ratelimit.Limiter {
	fallbacks := a.metrics.Counter("message_limiter_fallback_total", "Message limit checks without Redis.")
	return ratelimit.New(a.redis, ratelimit.Config{
		Name: "hub-message", Limit: message.PerMinute, Window: time.Minute, Replicas: a.cfg.Replicas, Now: a.now,
		OnFallback: fallbacks.WithLabelValues().Inc,
	})
}

// sharedCaches returns the second level of the caches. All hubs share it.
func (a *App) sharedCaches() *httpcache.Shared {
	build := version.Read()
	return httpcache.NewShared(httpcache.SharedConfig{
		Redis: a.redis, Timeout: a.cfg.RedisTime, Now: a.now,
		Shape:  []string{serviceName, build.Version, build.Commit, a.cfg.base(), a.cfg.VenueA},
		Builds: a.metrics.CacheBuilds, Reads: a.metrics.CacheReads,
	})
}

// addresses returns the limiter of requests of an IP address. All hubs share it.
func (a *App) addresses() *ratelimit.Shared {
	return ratelimit.NewShared(a.redis, ratelimit.Config{
		Name: serviceName, Limit: a.cfg.PerAddr, Window: time.Minute, Replicas: a.cfg.Replicas, Wait: a.cfg.RedisTime, Now: a.now,
		OnFallback: a.onFallback("address"),
	})
}

// viewers returns the limiter of clip views. It counts at most one view of a clip for each IP address and hour. All hubs
// share it.
func (a *App) viewers() *ratelimit.Limiter {
	return ratelimit.New(a.redis, ratelimit.Config{
		Name: "tape-view", Limit: 1, Window: time.Hour, Replicas: 1, Now: a.now, OnFallback: a.onFallback("tape-view"),
	})
}

// newNetwork builds the reader of partner stations and the service that lists the stations and their content.
func (a *App) newNetwork() {
	a.network = federation.NewService(federation.Config{
		Origin: a.cfg.origin(), People: a.cfg.base() + "/u/", Store: a.store, Claims: a.cfg.Accounts.stations(),
		Ledger: a.api, Keep: a.cfg.Network.Keep, Now: a.now,
	})
	a.partners = partner.NewReader(partner.Options{
		Private: a.cfg.Network.Private, Origin: a.cfg.origin(), Videos: a.cfg.Videos, Now: a.now,
	})
	a.puller = federation.NewPuller(a.api, a.partners, a.store, a.now)
	failed := a.metrics.Counter("partner_failures_total", "Failed reads of partner stations.", "origin")
	a.puller.Failed = func(origin string, err error) {
		failed.WithLabelValues(origin).Inc()
		a.log.Warn("partner station read failed", "origin", origin, "error", err)
	}
}

// errClockUnavailable is the error of a request to the clock while the clock is unavailable.
var errClockUnavailable = apperr.New(apperr.Unavailable, "clock_unavailable", "the programme clock is unavailable; retry later")

// logins verifies identity tokens with the configured identity providers. It implements caller.Logins.
type logins struct{ verifier *oidc.Verifier }

// Verify implements caller.Logins.
func (l logins) Verify(ctx context.Context, raw string) (operator.Identity, error) {
	s, err := l.verifier.Verify(ctx, raw)
	return operator.Identity{
		Issuer: s.Issuer, Subject: s.Subject, Primary: s.Primary, Username: s.Username, Name: s.Name, Email: s.Email,
		SignedInAt: s.SignedInAt,
	}, err
}

// once returns a readiness check that calls test until it succeeds. After that, the check always succeeds. A running hub must
// stay ready when its ledger fails: it still answers reads from caches and rejects writes with a reason.
func once(test func(context.Context) error) func(context.Context) error {
	var seen atomic.Bool
	return func(ctx context.Context) error {
		if seen.Load() {
			return nil
		}
		err := test(ctx)
		if err == nil {
			seen.Store(true)
		}
		return err
	}
}

var errNotServing = errors.New("the service does not serve requests yet")

// serving returns a check that calls the gRPC health service over conn, with a timeout of one second. Its error is
// errNotServing if the service reports a state other than SERVING.
func serving(conn grpc.ClientConnInterface) func(context.Context) error {
	client := healthpb.NewHealthClient(conn)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		r, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && r.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			err = errNotServing
		}
		return err
	}
}
