package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/run"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/relay"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/search"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/station"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

const serviceName = "api"

// hubMemory is how many events the live hub remembers for readers that resume: about four megabytes with their frames.
const hubMemory = 4096

// App is a ledger that is built and not yet running.
type App struct {
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	time    *dbtime.Clock // follows the database; nil when now is set by hand
	health  *httpx.Health
	tracing *telemetry.Tracing
	metrics *telemetry.Metrics

	pool  *pgxpool.Pool
	redis *redisx.Client
	store *postgres.Store

	operators *operator.Service
	markets   *market.Service
	catalogue *market.Catalogue
	signals   *signal.Service
	resolves  *resolution.Service
	scanner   *resolution.Scanner
	boards    *board.Service
	search    *search.Service
	oracle    *attention.Service
	histories *history.Service
	primary   *polymarket.Adapter // the adapter of the primary venue

	broker   *broker.Broker
	ticker   *relay.Ticker
	relay    *relay.Relay
	follower *relay.Follower
	news     *relay.News
	sealer   *journal.Sealer
	sender   *delivery.Sender
	webhooks *webhook.Service
	hooks    *delivery.Worker
	stations *station.Service
	records  *record.Service

	edge     *httpapi.Server
	http     *httpx.Server
	grpc     *grpcx.Part
	internal *httpx.Server // nil without METRICS_ADDR
	up       chan struct{}
}

// New builds the parts. Nothing listens and nothing is connected yet, so the
// order in which services start does not matter.
func New(ctx context.Context, cfg Config, logTo io.Writer, now func() time.Time) (*App, error) {
	a := &App{
		cfg: cfg, now: now, log: telemetry.NewLogger(logTo, telemetry.Level(cfg.LogLevel), serviceName),
		metrics: telemetry.NewMetrics(serviceName, service.Version()), up: make(chan struct{}),
	}
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, cfg.Trace, serviceName, service.Version(), a.log); err != nil {
		return nil, err
	}
	a.pool, err = pg.Open(ctx, pg.Config{
		URL: cfg.Database.Reveal(), MaxConns: cfg.MaxConns,
		// The statements are few and fixed; planning one anew costs more than running it.
		Params: map[string]string{"plan_cache_mode": "force_generic_plan"},
	})
	if err != nil {
		return nil, err
	}
	if a.redis, err = redisx.Open(redisx.Config{URL: cfg.Redis.Reveal(), Timeout: cfg.RedisTime, Now: now}); err != nil {
		a.pool.Close()
		return nil, err
	}
	rules := cfg.Scoring.rules(cfg.PastEnd, cfg.Chunk)
	rules.HubURL, rules.ReadBudget = cfg.HubURL, cfg.ReadTime
	a.store = postgres.New(a.pool, rules, now)
	if err := a.subjects(); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.health = httpx.NewHealth(cfg.Nonce, now, httpx.Check{Name: "database", Test: a.store.Ping}, httpx.Check{Name: "feed", Test: a.caughtUp})
	if err := a.faces(); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.watch()
	return a, nil
}

var errBehind = errors.New("the feed was not read yet")

// caughtUp tells whether readers of the feed can be taken: a process that has just begun
// would send them away.
func (a *App) caughtUp(context.Context) error {
	if !a.broker.Ready() {
		return errBehind
	}
	return nil
}

// subjects builds what knows the rules.
func (a *App) subjects() error {
	meter := venue.NewMeter(a.metrics.Registerer())
	venues, err := a.venues(meter)
	if err != nil {
		return err
	}
	a.operators = operator.NewService(a.store, a.cfg.Mask.Reveal(), a.now)
	a.markets = market.NewService(a.store, venues, classify(), a.cfg.PastEnd, a.now)
	a.catalogue = market.NewCatalogue(a.markets, a.log)
	a.catalogue.ConfirmAfter = a.store.ConfirmAfter()
	if err := a.follow(meter); err != nil {
		return err
	}
	a.signals = signal.NewService(a.store, a.markets, a.now)
	a.resolves = resolution.NewService(a.store, a.now)
	a.scanner = resolution.NewScanner(a.markets, a.resolves, providers(venues), a.cfg.Grace, a.now, a.log)
	a.boards = board.NewService(a.store, a.now)
	a.records = record.NewService(a.store, a.boards, a.operators, a.now)
	a.search = search.NewService(a.store, a.now)
	a.oracle = attention.NewService(a.store, a.now)
	a.histories = history.NewService(pastPrices{a.markets}, a.primary, a.now)
	a.broker = broker.New(hubMemory)
	a.relay = &relay.Relay{Store: a.store, Redis: a.redis, Now: a.now, Slog: a.log}
	a.follower = relay.NewFollower(a.store, a.redis, a.broker, a.now, a.log)
	a.news = relay.NewNews(a.redis, a.hear)
	key, err := journal.NewKey(a.cfg.CheckKey.Reveal())
	if err != nil {
		return err
	}
	a.sealer = journal.NewSealer(a.store, key, a.now)
	a.callOut()
	a.ticker = relay.NewTicker(a.store, a.redis, a.broker, a.now, a.log)
	a.oracle.Watch(a.ticker.Everyone)
	a.signals.Count(func(id protocol.MarketID) int { return a.ticker.Counted(string(id)) })
	return nil
}

// faces builds what listens.
func (a *App) faces() error {
	providers, err := oidc.ParseConfig(a.cfg.Providers.Reveal())
	if err != nil {
		return err
	}
	fell := a.metrics.Counter("limiter_fallback_total", "Calls decided without Redis.", "limit")
	per := func(name string, n int) *ratelimit.Limiter {
		return ratelimit.New(a.redis, ratelimit.Config{
			Name: name, Limit: n, Window: time.Minute, Replicas: a.cfg.Replicas, Now: a.now,
			OnFallback: fell.WithLabelValues(name).Inc,
		})
	}
	closed := a.metrics.Counter("socket_closed_total", "Sockets that ended, by close code.", "code")
	a.edge = httpapi.New(httpapi.Deps{
		Trusted: a.cfg.Trusted, HubURL: a.cfg.HubURL,
		Feed: a.store, Boards: a.boards, Oracle: a.oracle, Markets: a.markets, Outcomes: a.resolves, Operators: a.operators,
		Webhooks: a.webhooks, Stations: a.stations, Signals: a.signals, Lanes: lane.NewService(a.store, a.now),
		Records: a.records, Broker: a.broker, Login: login(oidc.NewVerifier(providers, a.now)), Viewers: a.ticker.Viewers,
		Addresses: ratelimit.NewLocal(serviceName, a.cfg.PerAddr, time.Minute, a.now),
		Keys:      per("api-key", a.cfg.PerKey), Sessions: per("login", loginLimit),
		Admin: protocol.NewSecret(a.cfg.Admin.Reveal()), Failures: per("api-failed-secret", httpapi.MaxFailures),
		Health: a.health, Log: a.log, Now: a.now,
		Observe: a.metrics.ObserveHTTP, Degraded: a.metrics.Degraded, Count: a.metrics.CountPage, Trace: a.tracing.HTTP,
		Closed: func(code int) { closed.WithLabelValues(strconv.Itoa(code)).Inc() },
	})
	a.http = httpx.NewServer(a.cfg.HTTP, httpx.Harden(a.edge, a.cfg.Env.Production()), a.cfg.Limits, a.log)
	a.http.Join(httpcache.Join, httpcache.JoinContext)
	if a.grpc, err = a.serveCalls(); err != nil {
		return err
	}
	if a.cfg.Metrics != "" {
		a.internal = httpx.NewServer(a.cfg.Metrics, httpx.Internal(a.metrics.Handler(), a.health, a.edge.Table()), a.cfg.Limits, a.log)
	}
	return nil
}

// loginLimit is how often one subject of an identity provider may call a minute, here
// and at the hub together.
const loginLimit = 120

// watch registers what the operators of the service look at.
func (a *App) watch() {
	sweeps := a.metrics.Counter("catalogue_sweeps_total", "Full sweeps of a venue that came to their end.", "provider")
	answers := a.metrics.Counter("catalogue_answers_total", "Records that full sweeps read.", "provider")
	seconds := a.metrics.Counter("catalogue_sweep_seconds_total", "Time that full sweeps took.", "provider")
	a.catalogue.Swept = func(p protocol.Provider, n int, took time.Duration) {
		sweeps.WithLabelValues(string(p)).Inc()
		answers.WithLabelValues(string(p)).Add(float64(n))
		seconds.WithLabelValues(string(p)).Add(took.Seconds())
	}
	a.metrics.GaugeFunc("feed_head", "Number of the newest event that this process has delivered.", func() float64 { return float64(a.broker.Head()) })
	a.metrics.GaugeFunc("sockets", "Open sockets.", func() float64 { return float64(a.edge.Sockets()) })
	a.metrics.GaugeFunc("filings_waiting", "Calls that wait to be written.", func() float64 { return float64(a.store.Waiting()) })
	a.metrics.GaugeFunc("movement_age_seconds", "Age of what attention and the wire are served from.", func() float64 { return a.oracle.Age().Seconds() })
	a.metrics.GaugeFunc("database_connections", "Connections in use.", func() float64 { return float64(a.pool.Stat().AcquiredConns()) })
}

// Advisory locks of what runs once over all replicas.
const (
	catalogueLease int64 = 7201010
	scanLease      int64 = 7201011
	sweepLease     int64 = 7201012
	movementLease  int64 = 7201013
	journalLease   int64 = 7201016
	pulseLease     int64 = 7201015
)

// Run serves until ctx ends, a signal comes or a part fails, and stops everything
// again. An App runs once.
func (a *App) Run(ctx context.Context) error {
	lead := func(name string, key int64, do func(context.Context) error) run.Part {
		return run.Loop(name, func(ctx context.Context) error {
			lease.Lead(ctx, a.pool, key, do)
			return ctx.Err()
		})
	}
	parts := []run.Part{
		{Name: "traces", Stop: a.tracing.Stop},
		{Name: "stores", Stop: a.Close},
		run.Loop("follower", a.follower.Run),
		run.Loop("news", a.news.Run),
		lead("relay", relay.LeaseKey, a.relay.Run),
		lead("webhooks", delivery.LeaseKey, a.hooks.Run),
		lead("catalogue", catalogueLease, a.catalogue.Run),
		lead("scan", scanLease, a.scanner.Run),
		lead("sweep", sweepLease, a.sweep),
		run.Loop("boards", func(ctx context.Context) error {
			return a.boards.Run(ctx, func(err error) { a.log.Warn("boards not followed up", "error", err) })
		}),
		run.Loop("price tolerance", a.noteTolerance),
		run.Loop("quotes", func(ctx context.Context) error {
			a.markets.Warm(ctx, a.cfg.Scoring.QuoteAge)
			return ctx.Err()
		}),
		run.Loop("wire", a.tellMoves),
		run.Loop("ticks", a.ticker.Run),
		run.Loop("movement", func(ctx context.Context) error {
			return a.oracle.Run(ctx, a.cfg.Movement, func(err error) { a.log.Warn("open markets not read", "error", err) })
		}),
		lead("movement history", movementLease, func(ctx context.Context) error {
			return a.oracle.Keep(ctx, func(err error) { a.log.Warn("movement not kept", "error", err) })
		}),
		lead("journal", journalLease, a.sealer.Run),
		lead("pulse", pulseLease, a.newPulse().run),
		run.Of("grpc", a.grpc),
		run.Of("http", a.http),
		// Before the server, which waits for the streams as for any other answer.
		{Name: "sockets", Stop: func(ctx context.Context) error { a.edge.Leave(ctx); return nil }},
	}
	return service.Life{
		Log: a.log, Health: a.health, HTTP: a.http, Internal: a.internal, GRPC: a.grpc,
		Clock: a.time, Time: pg.Time(a.pool), Linger: a.cfg.Linger, Up: func() { close(a.up) },
	}.Run(ctx, parts...)
}

// noteTolerance writes the price tolerance into its history, as soon as the database
// answers.
func (a *App) noteTolerance(ctx context.Context) error {
	for {
		err := a.store.NoteTolerance(ctx)
		if err == nil {
			break
		}
		a.log.Warn("price tolerance not noted", "error", err)
		if err := dbtime.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// sweepEvery is how often what has run out is deleted.
const sweepEvery = time.Minute

// sweep deletes what nothing counts any more: idempotency keys, ids of facts
// and deliveries that have run out, and proposals that nobody has decided on.
func (a *App) sweep(ctx context.Context) error {
	return dbtime.Every(ctx, sweepEvery, func() error {
		for _, sweep := range []func(context.Context) error{
			a.store.SweepKeys, a.store.LapseProposals, a.store.SweepPublished, a.store.SweepDeliveries,
		} {
			if err := sweep(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close closes the caches of pages, the stores and the connections, after everything that uses them. Run calls it at its end; an
// App that does not run must be closed.
func (a *App) Close(ctx context.Context) error {
	if a.edge != nil {
		a.edge.Close(ctx)
	}
	if a.histories != nil {
		a.histories.Close()
	}
	if a.search != nil {
		a.search.Close()
	}
	if a.markets != nil {
		a.markets.Close()
	}
	a.store.Close()
	var errs []error
	if a.follower != nil {
		errs = append(errs, a.follower.Close(), a.news.Close())
		a.sender.Close()
		a.broker.Close()
	}
	a.pool.Close()
	return errors.Join(append(errs, a.redis.Close())...)
}

// Up is closed when everything listens; the addresses are known from then on.
func (a *App) Up() <-chan struct{} { return a.up }
