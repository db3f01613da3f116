package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
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
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/proto/openapi"
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

// brokerMemory is the number of recent events that the broker stores in memory for readers that resume the feed. With their
// encoded frames, they take about 4 MB.
const brokerMemory = 4096

// App contains the parts of one process of the api service. New builds an App. Run may be called only once for each App.
type App struct {
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	time    *dbtime.Clock // reads the clock of the database; nil if a test passes another now
	health  *httpx.Health
	tracing *telemetry.Tracing
	metrics *telemetry.Metrics

	pool  *pgxpool.Pool
	redis *redisx.Client
	store *postgres.Store

	operators *operator.Service
	readers   operator.Readers
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
	pubsub   *relay.PubSub
	sealer   *journal.Sealer
	sender   *delivery.Sender
	webhooks *webhook.Service
	hooks    *delivery.Worker
	stations *station.Service
	records  *record.Service

	public   *httpapi.Server
	http     *httpx.Server
	grpc     *grpcx.Part
	internal *httpx.Server // nil without METRICS_ADDR
	up       chan struct{}
}

// New builds all parts of the process. It opens no listener and waits for no connection, so the services of an installation can
// start in any order.
func New(ctx context.Context, cfg Config, logTo io.Writer, now func() time.Time) (*App, error) {
	a := &App{
		cfg: cfg, now: now, log: telemetry.NewLogger(logTo, telemetry.Level(cfg.LogLevel), serviceName),
		metrics: telemetry.NewMetrics(serviceName, version.Read()), up: make(chan struct{}),
	}
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, cfg.Trace, serviceName, version.Read().Version, a.log); err != nil {
		return nil, err
	}
	a.pool, err = pg.Open(ctx, pg.Config{
		URL: cfg.Database.Reveal(), MaxConns: cfg.MaxConns,
		// The set of statements is small and fixed. A new plan for each execution would cost more than the execution itself.
		Params: map[string]string{"plan_cache_mode": "force_generic_plan"},
	})
	if err != nil {
		return nil, err
	}
	if a.redis, err = redisx.Open(redisx.Config{URL: cfg.Redis.Reveal(), Timeout: cfg.RedisTimeout, Now: now}); err != nil {
		a.pool.Close()
		return nil, err
	}
	rules := cfg.Scoring.rules(cfg.PastEnd, cfg.ResolveChunk)
	rules.HubURL, rules.ReadBudget = cfg.HubURL, cfg.ReadTime
	a.store = postgres.New(a.pool, rules, now)
	if err := a.buildServices(); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.health = httpx.NewHealth(cfg.Nonce, now, httpx.Check{Name: "database", Test: a.store.Ping}, httpx.Check{Name: "feed", Test: a.feedLoaded})
	if err := a.buildServers(); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.registerMetrics()
	return a, nil
}

// errFeedNotLoaded is returned by feedLoaded while the broker does not have the newest events.
var errFeedNotLoaded = errors.New("the newest events of the feed are not loaded yet")

// feedLoaded is the readiness check of the feed. It returns errFeedNotLoaded until the broker has the newest events, because
// until then the process rejects readers of the feed.
func (a *App) feedLoaded(context.Context) error {
	if !a.broker.Ready() {
		return errFeedNotLoaded
	}
	return nil
}

// buildServices builds the domain services and the background workers, and connects them.
func (a *App) buildServices() error {
	meter := venue.NewMeter(a.metrics.Registerer())
	venues, err := a.venues(meter)
	if err != nil {
		return err
	}
	a.operators = operator.NewService(a.store, a.cfg.Mask.Reveal(), a.now)
	a.markets = market.NewService(a.store, venues, classify(), a.cfg.PastEnd, a.now)
	a.catalogue = market.NewCatalogue(a.markets, a.log)
	a.catalogue.ConfirmAfter = a.store.ConfirmAfter()
	if err := a.followPrices(meter); err != nil {
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
	a.broker = broker.New(brokerMemory)
	a.relay = &relay.Relay{Store: a.store, Redis: a.redis, Now: a.now, Slog: a.log}
	a.follower = relay.NewFollower(a.store, a.redis, a.broker, a.now, a.log)
	a.pubsub = relay.NewPubSub(a.redis, a.publishNews)
	key, err := journal.NewKey(a.cfg.CheckpointKey.Reveal())
	if err != nil {
		return err
	}
	a.sealer = journal.NewSealer(a.store, key, a.now)
	a.buildOutbound()
	a.ticker = relay.NewTicker(a.store, a.redis, a.broker, a.now, a.log)
	a.store.OnMoved(a.pubsub.PublishMoved)
	a.oracle.Watch(a.ticker.AllViewers)
	a.signals.SetViewerCounter(func(id protocol.MarketID, token string) int {
		return cmp.Or(a.ticker.TokenViewers(token), a.ticker.CachedViewers(string(id)))
	})
	return nil
}

// buildServers builds the public HTTP server, the gRPC server and, if METRICS_ADDR is set, the internal server for metrics.
func (a *App) buildServers() error {
	providers, err := oidc.ParseConfig(a.cfg.Providers.Reveal())
	if err != nil {
		return err
	}
	a.readers = operator.Readers{Operators: a.operators, Login: login(oidc.NewVerifier(providers, a.now))}
	fallbacks := a.metrics.Counter("limiter_fallback_total", "Rate limit decisions made without Redis, by the local fallback.", "limit")
	limit := func(name string, n int) ratelimit.Config {
		return ratelimit.Config{
			Name: name, Limit: n, Window: time.Minute, Replicas: a.cfg.Replicas, Wait: a.cfg.RedisTimeout, Now: a.now,
			OnFallback: fallbacks.WithLabelValues(name).Inc,
		}
	}
	per := func(name string, n int) *ratelimit.Limiter { return ratelimit.New(a.redis, limit(name, n)) }
	closed := a.metrics.Counter("socket_closed_total", "Websocket connections closed, by close code.", "code")
	a.public = httpapi.New(httpapi.Deps{
		Trusted: a.cfg.Trusted, HubURL: a.cfg.HubURL,
		ServedBy: openapi.Hosts{
			Hub: strings.TrimRight(a.cfg.HubURL, "/"), Clock: strings.TrimRight(a.cfg.ClockURL, "/"),
		}.Serving,
		Feed: a.store, Boards: a.boards, Oracle: a.oracle, Markets: a.markets, Outcomes: a.resolves, Operators: a.operators,
		Webhooks: a.webhooks, Stations: a.stations, Signals: a.signals, Lanes: lane.NewService(a.store, a.now),
		Records: a.records, Broker: a.broker, Login: a.readers.Login, Readers: a.readers, Viewers: a.ticker.Viewers,
		Shared:    a.sharedCaches(),
		Addresses: ratelimit.NewShared(a.redis, limit(serviceName, a.cfg.AnonLimit)),
		Keys:      per("api-key", a.cfg.KeyLimit), Tokens: per("api-token", a.cfg.KeyLimit), Sessions: per("login", loginLimit),
		Slots: func(name string, limit int) *ratelimit.Slots {
			return ratelimit.NewSlots(a.redis, ratelimit.SlotConfig{
				Name: name, Limit: limit, Replicas: a.cfg.Replicas, OnFallback: fallbacks.WithLabelValues(name).Inc,
			})
		},
		Admin: protocol.NewSecret(a.cfg.Admin.Reveal()), Failures: per("api-failed-secret", httpapi.MaxFailures),
		Health: a.health, Log: a.log, Now: a.now,
		Observe: a.metrics.ObserveHTTP, Degraded: a.metrics.Degraded, Count: a.metrics.CountPage, Trace: a.tracing.HTTP,
		Closed: func(code int) { closed.WithLabelValues(strconv.Itoa(code)).Inc() },
	})
	a.http = httpx.NewServer(a.cfg.HTTP, httpx.Harden(a.public, a.cfg.Env.Production()), a.cfg.Limits, a.log)
	a.http.Join(httpcache.Join, httpcache.JoinContext)
	if a.grpc, err = a.newGRPC(); err != nil {
		return err
	}
	if a.cfg.Metrics != "" {
		a.internal = httpx.NewServer(a.cfg.Metrics, httpx.Internal(a.metrics.Handler(), a.health, a.public.Table()), a.cfg.Limits, a.log)
	}
	return nil
}

// sharedCaches returns the second level of the caches. All api processes share it.
func (a *App) sharedCaches() *httpcache.Shared {
	build := version.Read()
	return httpcache.NewShared(httpcache.SharedConfig{
		Redis: a.redis, Timeout: a.cfg.RedisTimeout, Now: a.now, Shape: []string{serviceName, build.Version, build.Commit, a.cfg.HubURL},
		Builds: a.metrics.CacheBuilds, Reads: a.metrics.CacheReads,
	})
}

// loginLimit is the maximum number of requests per minute for one subject of an identity provider. The api and the hub share
// this limit.
const loginLimit = 120

// registerMetrics registers counters of the catalogue and gauges of the process.
func (a *App) registerMetrics() {
	sweeps := a.metrics.Counter("catalogue_sweeps_total", "Completed full reads of a venue's catalogue.", "provider")
	answers := a.metrics.Counter("catalogue_answers_total", "Market records read by full reads of a venue's catalogue.", "provider")
	seconds := a.metrics.Counter("catalogue_sweep_seconds_total", "Duration of full reads of a venue's catalogue, in seconds.", "provider")
	a.catalogue.Swept = func(p protocol.Provider, n int, took time.Duration) {
		sweeps.WithLabelValues(string(p)).Inc()
		answers.WithLabelValues(string(p)).Add(float64(n))
		seconds.WithLabelValues(string(p)).Add(took.Seconds())
	}
	a.metrics.GaugeFunc("feed_head", "Sequence number of the newest event that this process has delivered.", func() float64 { return float64(a.broker.Head()) })
	a.metrics.GaugeFunc("sockets", "Open websocket connections.", func() float64 { return float64(a.public.Sockets()) })
	a.metrics.GaugeFunc("filings_waiting", "Calls queued for the database.", func() float64 { return float64(a.store.Waiting()) })
	a.metrics.GaugeFunc("movement_age_seconds", "Age of the market data from which attention and movement are served, in seconds.", func() float64 { return a.oracle.Age().Seconds() })
	a.metrics.GaugeFunc("database_connections", "Database connections in use.", func() float64 { return float64(a.pool.Stat().AcquiredConns()) })
}

// Keys of Postgres advisory locks. Only the replica that holds a lock runs the loop of that name.
const (
	catalogueLease int64 = 7201010
	scanLease      int64 = 7201011
	sweepLease     int64 = 7201012
	movementLease  int64 = 7201013
	journalLease   int64 = 7201016
	pulseLease     int64 = 7201015
)

// Run serves until ctx ends, the process receives a signal, or a part fails, and then stops all parts. It must be called only
// once.
func (a *App) Run(ctx context.Context) error {
	lead := func(name string, key int64, do func(context.Context) error) run.Part {
		return run.Loop(name, func(ctx context.Context) error {
			lease.Lead(ctx, a.pool, name, key, do)
			return ctx.Err()
		})
	}
	parts := []run.Part{
		{Name: "traces", Stop: a.tracing.Stop},
		{Name: "stores", Stop: a.Close},
		run.Loop("follower", a.follower.Run),
		run.Loop("pubsub", a.pubsub.Run),
		lead("relay", relay.LeaseKey, a.relay.Run),
		lead("webhooks", delivery.LeaseKey, a.hooks.Run),
		lead("catalogue", catalogueLease, a.catalogue.Run),
		lead("scan", scanLease, a.scanner.Run),
		lead("sweep", sweepLease, a.sweep),
		run.Loop("boards", func(ctx context.Context) error {
			return a.boards.Run(ctx, func(err error) { a.log.Warn("board update failed", "error", err) })
		}),
		run.Loop("price tolerance", a.recordTolerance),
		run.Loop("quotes", func(ctx context.Context) error {
			a.markets.Warm(ctx, a.cfg.Scoring.QuoteAge)
			return ctx.Err()
		}),
		run.Loop("wire", a.publishMoves),
		run.Loop("ticks", a.ticker.Run),
		run.Loop("movement", func(ctx context.Context) error {
			return a.oracle.Run(ctx, a.cfg.MovementEvery, func(err error) { a.log.Warn("reading open markets failed", "error", err) })
		}),
		lead("movement history", movementLease, func(ctx context.Context) error {
			return a.oracle.Keep(ctx, func(err error) { a.log.Warn("storing movement history failed", "error", err) })
		}),
		lead("journal", journalLease, a.sealer.Run),
		lead("pulse", pulseLease, a.newPulse().run),
		run.Of("grpc", a.grpc),
		run.Of("http", a.http),
		// Stop the sockets before the HTTP server: the server waits for their streams as for any other response.
		{Name: "sockets", Stop: func(ctx context.Context) error { a.public.CloseSockets(ctx); return nil }},
	}
	return service.Life{
		Log: a.log, Health: a.health, HTTP: a.http, Internal: a.internal, GRPC: a.grpc,
		Clock: a.time, Time: pg.Time(a.pool), Linger: a.cfg.Linger, Up: func() { close(a.up) },
	}.Run(ctx, parts...)
}

// recordTolerance adds the configured price tolerance to the stored history of tolerances. It retries every second until the
// database accepts it, and then waits until ctx ends.
func (a *App) recordTolerance(ctx context.Context) error {
	for {
		err := a.store.AddTolerance(ctx)
		if err == nil {
			break
		}
		a.log.Warn("storing price tolerance failed", "error", err)
		if err := dbtime.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// sweepEvery is the interval at which sweep deletes expired data.
const sweepEvery = time.Minute

// sweep deletes expired idempotency keys, event ids, entries of the webhook delivery log, and market proposals without a
// decision. It repeats this every sweepEvery until ctx ends or an error occurs, and returns the error.
func (a *App) sweep(ctx context.Context) error {
	return dbtime.Every(ctx, sweepEvery, func() error {
		for _, sweep := range []func(context.Context) error{
			a.store.SweepKeys, a.store.DeleteExpiredProposals, a.store.SweepPublished, a.store.SweepDeliveries,
		} {
			if err := sweep(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close closes the caches, the stores and the connections. Run calls Close before it returns. If Run is not called, the caller
// of New must call Close.
func (a *App) Close(ctx context.Context) error {
	if a.public != nil {
		a.public.Close(ctx)
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
		errs = append(errs, a.follower.Close(), a.pubsub.Close())
		a.sender.Close()
		a.broker.Close()
	}
	a.pool.Close()
	return errors.Join(append(errs, a.redis.Close())...)
}

// Up returns a channel that is closed once all servers listen. From then on, their addresses are known.
func (a *App) Up() <-chan struct{} { return a.up }
