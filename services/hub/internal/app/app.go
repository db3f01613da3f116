package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/docs/guide"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/run"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/download"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/partner"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
	"github.com/signalcast/signalcast/services/hub/internal/push"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

const (
	serviceName   = "hub"
	referencePath = "/docs" // path of the reference of HTTP routes
)

// App is a hub with its connections and services. New builds it and Run runs it.
type App struct {
	cfg        Config
	log        *slog.Logger
	now        func() time.Time
	time       *dbtime.Clock // database time; nil in tests, which set now
	tracing    *telemetry.Tracing
	metrics    *telemetry.Metrics
	onFallback func(limit string) func() // returns a function that counts one check of the limit without Redis
	health     *httpx.Health
	missing    site.DegradedSources // sources that responses lacked

	pool   *pgxpool.Pool
	store  *postgres.Store // uses pool
	redis  *redisx.Client
	ledger *grpc.ClientConn
	clock  *grpc.ClientConn     // nil without CLOCK_ADDR
	api    *ledgerclient.Client // uses ledger

	grants    *grant.Service
	messages  *message.Service
	creations *effect.Service
	facts     outbox.Sender
	onair     *livestream.Service
	network   *federation.Service
	partners  *partner.Reader
	puller    *federation.Puller
	ingest    *ingest.Service
	videoHost ingest.Provider
	clips     *clip.Service
	notices   notification.Worker
	pushes    *push.Sender  // nil without web push
	letters   *email.Worker // nil without a mail server
	pictures  *picture.Service
	profiles  *profile.Service
	deletion  account.Deletion
	handles   account.Handles
	origin    *hls.Origin            // nil if this hub has no video origin
	videoHTTP *httpx.Server          // HTTP server of origin; nil without origin
	videoAddr atomic.Pointer[string] // address of videoHTTP; nil before it listens
	server    *httpapi.Server
	http      *httpx.Server
	internal  *httpx.Server // nil without METRICS_ADDR
	up        chan struct{} // closed when all servers listen
}

// New builds a hub that does not listen yet. The database, Redis, the ledger and the clock may start later than the hub, so the
// start order of services does not matter. New writes the log to logTo.
func New(ctx context.Context, cfg Config, logTo io.Writer, now func() time.Time) (*App, error) {
	a := &App{
		cfg: cfg, now: now, log: telemetry.NewLogger(logTo, telemetry.Level(cfg.LogLevel), serviceName),
		metrics: telemetry.NewMetrics(serviceName, version.Read()), up: make(chan struct{}),
	}
	fallbacks := a.metrics.Counter("limiter_fallback_total", "Rate limit checks without Redis.", "limit")
	a.onFallback = func(limit string) func() { return fallbacks.WithLabelValues(limit).Inc }
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, cfg.Trace, serviceName, version.Read().Version, a.log); err != nil {
		return nil, err
	}
	if err := a.connect(ctx); err != nil {
		return nil, errors.Join(err, a.close())
	}
	if err := a.buildServers(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// connect creates the database pool and the clients of Redis, the ledger and the clock.
func (a *App) connect(ctx context.Context) (err error) {
	if a.pool, err = pg.Open(ctx, pg.Config{URL: a.cfg.Database.Reveal(), MaxConns: a.cfg.MaxConns}); err != nil {
		return err
	}
	a.store = postgres.New(a.pool, a.cfg.ReadTime)
	if a.redis, err = redisx.Open(redisx.Config{URL: a.cfg.Redis.Reveal(), Timeout: a.cfg.RedisTime, Now: a.now}); err != nil {
		return err
	}
	if a.ledger, err = grpcx.Dial(grpcx.DialConfig{
		Addr: a.cfg.API, Secret: a.cfg.Link.Reveal(), Options: a.tracing.DialOptions(),
	}); err != nil {
		return err
	}
	a.api = ledgerclient.New(a.ledger)
	if a.cfg.Clock == "" {
		return nil
	}
	a.clock, err = grpcx.Dial(grpcx.DialConfig{
		Addr: a.cfg.Clock, Secret: a.cfg.Link.Reveal(), Unavailable: errClockUnavailable, Options: a.tracing.DialOptions(),
	})
	return err
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// buildServers builds the services, the HTTP servers and the routes.
func (a *App) buildServers() error {
	providers, err := oidc.ParseConfig(a.cfg.Providers.Reveal())
	if err != nil {
		return err
	}
	a.health = httpx.NewHealth(a.cfg.Nonce, a.now,
		httpx.Check{Name: "database", Test: once(a.store.Ready)},
		httpx.Check{Name: "ledger", Test: once(serving(a.ledger))})
	if err := a.newGrants(); err != nil {
		return err
	}
	a.videoHost = a.provider()
	a.ingest = ingest.NewService(a.videoHost, a.store, newID, a.now)
	a.onair = livestream.NewService(livestream.Config{
		Store: a.store.OnAir(), Ingest: a.ingest, Redis: a.redis,
		Records: a.api.Records, People: operator.Directory{Ledger: a.api.Operators}, Now: a.now, NewID: newID,
	})
	a.profiles = profile.NewService(a.api.OperatorWrites, a.store, a.log, newID, a.now)
	if a.pictures, err = picture.NewService(a.store, download.New(), a.cfg.base(), a.now, a.log); err != nil {
		return err
	}
	if err := a.newMessages(); err != nil {
		return err
	}
	a.facts = outbox.Sender{Store: a.store, Send: a.feed().Publish, Log: a.log}
	a.notices = notification.Worker{Store: a.store, Feed: a.api.Feed, Signals: a.api.Signals, Operators: a.api.Operators, Log: a.log}
	if a.cfg.Accounts.PushKey.IsSet() {
		key, err := push.ParseKey(a.cfg.Accounts.PushKey.Reveal())
		if err != nil {
			return err
		}
		a.pushes = push.NewSender(a.store, a.api.Markets, key, cmp.Or(a.cfg.Contact, a.cfg.base()), a.now, a.log)
	}
	a.deletion = account.Deletion{Ledger: a.api.OperatorWrites, Reads: a.api.Operators, Store: a.store, Notices: a.store, Hide: a.onair.Hide, Now: a.now}
	a.handles = account.Handles{
		Ledger: a.api.OperatorWrites, People: operator.Directory{Ledger: a.api.Operators}, Store: a.store,
		IsLive: a.onair.IsLive, Picture: a.pictures.Address, UpdateProfile: a.profiles.Update, Now: a.now, Log: a.log,
	}
	verifier := oidc.NewVerifier(providers, a.now)
	a.newNetwork()
	d := a.deps(logins{verifier})
	if d.Accounts, err = a.accounts(verifier, d.Sessions); err != nil {
		return err
	}
	secure := a.cfg.Env.SecureCookies()
	a.server = httpapi.New(httpapi.Config{
		HubURL: a.cfg.base(), APIURL: strings.TrimSuffix(a.cfg.APIURL, "/"), ClockURL: strings.TrimSuffix(a.cfg.ClockURL, "/"),
		Origin: a.cfg.origin(), Secure: secure, Social: a.cfg.Social, VenueA: a.cfg.VenueA,
		OpenAPI: openapi.JSON, Source: docs.OpenAPI, Trusted: a.cfg.Trusted, Videos: a.cfg.Videos, AnyHost: a.cfg.AnyHost,
	}, d)
	guides, err := guide.New(docs.Files, guide.Options{Reference: referencePath, Repository: guide.Project, Home: "/markets"})
	if err != nil {
		return fmt.Errorf("build the guides: %w", err)
	}
	ref, err := reference.Read(a.server.Description())
	if err != nil {
		return err
	}
	err = pages.Mount(a.server.Router(), site.Deps{
		HubURL:   a.cfg.base(),
		Origin:   a.cfg.origin(),
		APIURL:   strings.TrimSuffix(a.cfg.APIURL, "/"),
		LoginURL: a.cfg.LoginURL,
		Secure:   secure,

		SecurityContact: a.cfg.Contact,
		ReleasedAt:      version.Read().Date,
		Withheld:        a.store.OnAir().Withheld,

		FailedChecks: a.health.Failed,
		Missing:      &a.missing,

		Ledger:   a.api,
		Pins:     d.Pins,
		Clips:    d.Stations,
		Links:    d.Links,
		Network:  d.Network,
		Keep:     a.cfg.Network.Keep,
		Messages: a.messages,
		Provider: providerName(providers),
		People: site.People{
			Follows:  d.Accounts.Follows,
			Claims:   d.Accounts.Claims,
			Payouts:  d.Accounts.Payouts,
			Profiles: d.Accounts.Profiles,
			Watches:  a.store,
			Data:     a.store,
			Archive:  a.server.Archive,
			Deletion: a.deletion,
			Handles:  a.handles,
			Pictures: d.Accounts.Pictures,
		},
		Notices:      d.Accounts.Notices,
		Push:         a.store,
		Email:        d.Accounts.Email,
		PushKey:      a.pushKey(),
		PublicRead:   a.server.PublicRead,
		Login:        a.server.Login,
		Visitor:      a.server.Visitor,
		CountConsent: a.server.CountConsent,
		StartSession: a.server.StartSession,
		EndSession:   a.server.EndSession,
		Sessions:     d.Sessions,
		SessionStart: a.server.SessionStart,
		SendReport:   d.Moderation.Report,
		MintKey:      a.server.MintKey,
		RevokeKey:    a.server.RevokeKey,
		OwnPage:      a.server.OwnPage,
		FileCall:     a.server.FileCall,
		AppendEvent:  a.server.AppendEvent,
		SessionOwner: a.server.SessionOwner,
		Seal:         d.Sessions.Seal,
		Unseal:       d.Sessions.Unseal,
		FormToken:    a.server.FormToken,
		IsFormToken:  a.server.IsFormToken,
		Grants:       a.grants,
		ReceiptJSON:  a.server.Receipt,
		VenueA:       a.cfg.VenueA,
		Videos:       a.cfg.Videos,
		Programs:     d.Programs,
		OnAir:        a.onair,
		Ingest:       a.provisioner(),
		Guides:       guides,
		Reference:    ref,
		Now:          a.now,
		Log:          a.log,
	})
	if err != nil {
		return err
	}
	a.http = httpx.NewServer(a.cfg.HTTP, httpx.Harden(a.server, a.cfg.Env.Production()), a.cfg.Limits, a.log)
	a.http.Join(httpcache.Join, httpcache.JoinContext)
	if a.cfg.Metrics != "" {
		a.internal = httpx.NewServer(a.cfg.Metrics, httpx.Internal(a.metrics.Handler(), a.health, a.server.Table()), a.cfg.Limits, a.log)
	}
	return nil
}

// deps builds the services that the HTTP server uses. It uses the connections that the method connect has opened.
func (a *App) deps(verifier caller.Logins) httpapi.Deps {
	var secrets []string
	for _, s := range a.cfg.Sessions {
		secrets = append(secrets, s.Reveal())
	}
	sessions := caller.NewSessions(secrets, a.store, a.cfg.Env.SecureCookies(), a.now)
	var director programv1.ProgramServiceClient
	var programs programv1.ProgramReadServiceClient
	if a.clock != nil {
		director = programv1.NewProgramServiceClient(a.clock)
		programs = programv1.NewProgramReadServiceClient(ledgerclient.WithDeadlines(a.clock))
	}
	a.newVideo()
	return httpapi.Deps{
		Ledger: a.api,
		Callers: caller.New(caller.Deps{
			Sessions: sessions, Logins: verifier, Tokens: a.delegate,
			Directory: operator.Directory{Ledger: a.api.Operators}, Limits: caller.NewLimits(a.counters()),
			Admin: protocol.NewSecret(a.cfg.Admin.Reveal()), Cron: protocol.NewSecret(a.cfg.Cron.Reveal()),
			Failures: caller.NewFailures(a.counters(), "secret"), Now: a.now,
		}),
		Sessions:   sessions,
		Grants:     a.grants,
		Messages:   a.messages,
		Creations:  a.creations,
		Keys:       a.messageLimit(),
		Signals:    signal.NewService(a.api, newID),
		Links:      a.store,
		Pins:       a.store,
		Stations:   a.store,
		OnAir:      a.onair,
		Moderation: moderation.NewService(a.api.Moderation, a.store.Moderation(), a.onair, a.store, newID, a.now),
		Ingest:     a.ingest,
		Clips:      a.clips,
		Network:    a.network,
		Viewers:    a.viewers(),
		Programs:   programs,
		Director:   director,
		Broadcast:  broadcast.New(broadcast.Deps{Ledger: a.api, Live: a.onair.Live, Store: a.store, Programs: programs, Now: a.now}),
		Audit:      a.store,
		Shared:     a.sharedCaches(),
		Addresses:  a.addresses(),
		Health:     a.health,
		Log:        a.log,
		Now:        a.now,
		NewID:      newID,
		Observe:    a.metrics.ObserveHTTP,
		Count:      a.metrics.CountPage,
		Degraded: func(route, source string) {
			a.metrics.Degraded(route, source)
			a.missing.Mark(source, a.now())
		},
		Trace: a.tracing.HTTP,
	}
}

// pushKey returns the public key for web push; empty: there is no web push.
func (a *App) pushKey() string {
	if a.pushes == nil {
		return ""
	}
	return a.pushes.PublicKey()
}

// counters returns the configuration of the counters of requests and failures. All hubs share these counters in Redis.
func (a *App) counters() caller.Counters {
	return caller.Counters{Redis: a.redis, Replicas: a.cfg.Replicas, Now: a.now, OnFallback: a.onFallback}
}

// Keys of Postgres advisory locks, one for each loop that only one hub at a time may run. The hub that holds the lock runs the
// loop.
const (
	grantLease   int64 = 7201020
	messageLease int64 = 7201021
	factLease    int64 = 7201022
	networkLease int64 = 7201023
	onairLease   int64 = 7201027
	tapeLease    int64 = 7201028
	noticeLease  int64 = 7201029
	eraseLease   int64 = 7201030
	closingLease int64 = 7201031
	pushLease    int64 = 7201032
	emailLease   int64 = 7201033
	ledgerLease  int64 = 7201034
)

// Run starts all servers and loops. It blocks until ctx ends, the process receives a stop signal, or a part fails, and then
// stops all parts. It must be called at most once.
func (a *App) Run(ctx context.Context) error {
	lead := func(name string, lock int64, do func(context.Context) error) run.Part {
		return run.Loop(name, func(ctx context.Context) error {
			lease.Lead(ctx, a.pool, name, lock, do)
			return ctx.Err()
		})
	}
	parts := []run.Part{
		{Name: "traces", Stop: a.tracing.Stop},
		{Name: "stores", Stop: func(context.Context) error { return a.close() }},
		{Name: "pages", Stop: func(context.Context) error { a.server.Close(); a.pictures.Close(); return nil }},
		lead("grants", grantLease, a.sweepGrants),
		lead("messages", messageLease, a.sweepMessages),
		lead("facts", factLease, a.facts.Run),
		lead("partners", networkLease, a.readPartners),
		lead("on air", onairLease, a.watchAir),
		lead("tapes", tapeLease, a.reportTapes),
		lead("notifications", noticeLease, a.notices.Run),
		lead("accounts", eraseLease, a.settleAccounts),
		lead("closing markets", closingLease, a.notifyClosing),
		lead("ledger notices", ledgerLease, a.notifyOperators),
		run.Of("http", a.http),
	}
	if a.pushes != nil {
		parts = append(parts, lead("web push", pushLease, a.pushes.Run))
	}
	if a.letters != nil {
		parts = append(parts, lead("letters", emailLease, a.sendLetters))
	}
	parts = append(parts, a.videoParts()...)
	return service.Life{
		Log: a.log, Health: a.health, HTTP: a.http, Internal: a.internal,
		Clock: a.time, Time: pg.Time(a.pool), Linger: a.cfg.Linger, Up: func() { close(a.up) },
	}.Run(ctx, parts...)
}

// close closes the connections and pools that the method connect has opened, and the reader of partner stations.
func (a *App) close() error {
	var errs []error
	for _, conn := range []*grpc.ClientConn{a.clock, a.ledger} {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	if a.partners != nil {
		a.partners.Close()
	}
	if a.redis != nil {
		errs = append(errs, a.redis.Close())
	}
	if a.pool != nil {
		a.pool.Close()
	}
	return errors.Join(errs...)
}

// Up returns a channel that is closed when all parts of the hub have started. HTTPAddr and MetricsAddr are valid only after that.
func (a *App) Up() <-chan struct{} { return a.up }

// HTTPAddr returns the address of the public HTTP server.
func (a *App) HTTPAddr() string { return a.http.Addr() }

// MetricsAddr returns the address of the internal HTTP server for metrics and health. It is empty without METRICS_ADDR.
func (a *App) MetricsAddr() string {
	if a.internal == nil {
		return ""
	}
	return a.internal.Addr()
}
