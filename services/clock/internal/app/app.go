package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/run"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/version"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/grpcapi"
	"github.com/signalcast/signalcast/services/clock/internal/httpapi"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
	"github.com/signalcast/signalcast/services/clock/internal/upstream"
)

const serviceName = "clock"

var errNoProgramme = errors.New("the markets and the rundown are not loaded yet")

// App is the clock service. New builds an App, and Run runs it.
type App struct {
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	time    *dbtime.Clock // follows the clock of the database; nil if the caller of New provides the time
	health  *httpx.Health
	tracing *telemetry.Tracing
	metrics *telemetry.Metrics

	pool     *pgxpool.Pool
	redis    *redisx.Client // nil without REDIS_URL
	ledger   *grpc.ClientConn
	copies   program.Copies
	markets  *upstream.Markets
	store    *postgres.Store
	planner  *program.Planner
	programs *program.Service
	surveyor *program.Surveyor
	stations *program.StationPlanner
	facts    outbox.Sender
	changed  chan struct{} // wakes the planner after a change

	api      *httpapi.Server
	http     *httpx.Server
	grpc     *grpcx.Part
	internal *httpx.Server // nil without METRICS_ADDR
	up       chan struct{}
}

// New builds the parts of the service. It opens no listener and waits for no connection, so that the services can start in any
// order. The parameter now is a function that returns the current time.
func New(ctx context.Context, cfg Config, logTo io.Writer, now func() time.Time) (*App, error) {
	a := &App{
		cfg: cfg, now: now, log: telemetry.NewLogger(logTo, telemetry.Level(cfg.LogLevel), serviceName),
		metrics: telemetry.NewMetrics(serviceName, version.Read()), changed: make(chan struct{}, 1), up: make(chan struct{}),
	}
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, cfg.Trace, serviceName, version.Read().Version, a.log); err != nil {
		return nil, err
	}
	if a.pool, err = pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: cfg.MaxConns}); err != nil {
		return nil, err
	}
	if cfg.Redis.IsSet() {
		if a.redis, err = redisx.Open(redisx.Config{URL: cfg.Redis.Reveal(), Timeout: cfg.RedisTimeout, Now: now}); err != nil {
			a.pool.Close()
			return nil, err
		}
	}
	a.ledger, err = grpcx.Dial(grpcx.DialConfig{Addr: cfg.Ledger, Secret: cfg.Link.Reveal(), Options: a.tracing.DialOptions()})
	if err != nil {
		return nil, errors.Join(err, a.closeStores())
	}
	a.store = postgres.New(a.pool, cfg.ReadTime)
	ledger := upstream.NewLedger(a.ledger)
	a.facts = outbox.Sender{Store: a.store, Send: ledger.Publish, Log: a.log}
	a.planner = program.NewPlanner(a.store, &a.copies, cfg.lanes(), now)
	a.surveyor = program.NewSurveyor(a.store, &a.copies, ledger.CountCalls, now)
	a.stations = program.NewStationPlanner(program.StationConfig{
		Store: a.store, Copies: &a.copies, Active: ledger.ActiveStations, Publish: ledger.PublishStation, Encode: httpapi.EncodeProgram,
		Lanes: cfg.lanes(), Now: now,
	})
	a.markets = upstream.New(marketv1.NewMarketReadServiceClient(a.ledger), &a.copies, func() []protocol.MarketID {
		return slices.Concat(a.planner.Needed(), a.surveyor.Needed(), a.stations.Needed())
	}, a.log, now)
	a.programs = program.NewService(&a.copies, cfg.lanes(), now)
	a.health = httpx.NewHealth(cfg.Nonce, now, httpx.Check{Name: "programme", Test: func(context.Context) error {
		if !a.programs.Ready() {
			return errNoProgramme
		}
		return nil
	}})
	if err := a.buildServers(); err != nil {
		a.api.Close()
		return nil, errors.Join(err, a.closeStores(), a.ledger.Close())
	}
	a.registerGauges()
	return a, nil
}

// buildServers builds the HTTP, gRPC and metrics servers, without starting them.
func (a *App) buildServers() error {
	a.api = httpapi.New(httpapi.Config{
		Programs: a.programs, Health: a.health, Log: a.log, Now: a.now, Trusted: a.cfg.Trusted, Shared: a.sharedCaches(), Addresses: a.addresses(),
		ServedBy: openapi.Hosts{
			Hub: strings.TrimRight(a.cfg.HubURL, "/"), API: strings.TrimRight(a.cfg.APIURL, "/"),
		}.Serving,
		Verify:  upstream.NewLedger(a.ledger).VerifyReader,
		Observe: a.metrics.ObserveHTTP, Degraded: a.metrics.Degraded, Count: a.metrics.CountPage, Trace: a.tracing.HTTP,
	})
	a.http = httpx.NewServer(a.cfg.HTTP, httpx.Harden(a.api, a.cfg.Env.Production()), a.cfg.Limits, a.log)
	a.http.Join(httpcache.Join, httpcache.JoinContext)
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: a.cfg.Link.Reveal(), Log: a.log, Options: a.tracing.ServerOptions()})
	if err != nil {
		return err
	}
	programs := grpcapi.NewProgram(a.programs, a.newDirector(), a.surveyor, a.now)
	programv1.RegisterProgramServiceServer(server, programs)
	programv1.RegisterProgramReadServiceServer(server, programs)
	a.grpc = server.At(a.cfg.GRPC)
	if a.cfg.Metrics != "" {
		a.internal = httpx.NewServer(a.cfg.Metrics, httpx.Internal(a.metrics.Handler(), a.health, a.api.Table()), a.cfg.Limits, a.log)
	}
	return nil
}

// sharedCaches returns the second level of the caches, which all clocks share, or nil without REDIS_URL.
func (a *App) sharedCaches() *httpcache.Shared {
	if a.redis == nil {
		return nil
	}
	build, shape := version.Read(), []string{serviceName}
	for _, lane := range a.cfg.lanes() {
		shape = append(shape, string(lane))
	}
	return httpcache.NewShared(httpcache.SharedConfig{
		Redis: a.redis, Timeout: a.cfg.RedisTimeout, Now: a.now, Shape: append(shape, build.Version, build.Commit),
		Builds: a.metrics.CacheBuilds, Reads: a.metrics.CacheReads,
	})
}

// addresses returns the limit of requests of an IP address. All clocks share it, unless REDIS_URL is empty.
func (a *App) addresses() *ratelimit.Shared {
	fallbacks := a.metrics.Counter("limiter_fallback_total", "Rate limit decisions made without Redis.", "limit")
	return ratelimit.NewShared(a.redis, ratelimit.Config{
		Name: "addr", Limit: a.cfg.PerAddr, Window: time.Minute, Replicas: a.cfg.Replicas, Wait: a.cfg.RedisTimeout, Now: a.now,
		OnFallback: fallbacks.WithLabelValues("address").Inc,
	})
}

// newDirector returns the Director, which adds, cancels and lists entries that replace the planned markets of the programme.
func (a *App) newDirector() *program.Director {
	return &program.Director{
		Store: a.store, Copies: &a.copies, Refresh: a.markets.Refresh, Lanes: a.cfg.lanes(), Encoder: httpapi.Encoder(), Now: a.now,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Changed: a.wake,
	}
}

// registerGauges registers metrics for the age of the cached markets and of the cached rundown. The rundown contains the planned
// slots of a channel.
func (a *App) registerGauges() {
	a.metrics.GaugeFunc("clock_markets_age_seconds", "Age of the copy of the ledger's markets, -1 before the first.", func() float64 {
		if p := a.copies.Markets.Load(); p != nil {
			return a.now().Sub(p.FetchedAt).Seconds()
		}
		return -1
	})
	a.metrics.GaugeFunc("clock_rundown_age_seconds", "Age of the copy of the stored rundown, -1 before the first.", func() float64 {
		if r := a.copies.Rundown.Load(); r != nil {
			return a.now().Sub(r.LoadedAt).Seconds()
		}
		return -1
	})
}

// Run serves until ctx ends, the process receives a signal, or a part fails. It then stops all parts. Call Run only once.
func (a *App) Run(ctx context.Context) error {
	parts := []run.Part{
		{Name: "traces", Stop: a.tracing.Stop},
		{Name: "stores", Stop: func(context.Context) error { return a.closeStores() }},
		{Name: "ledger", Stop: func(context.Context) error { return a.ledger.Close() }},
		run.Loop("markets", a.refreshMarkets),
		run.Loop("rundown", a.loadRundown),
		run.Loop("filler", a.fillRundown),
		run.Loop("facts", a.sendFacts),
		run.Loop("programmes", a.buildProgrammes),
		{Name: "pages", Stop: func(context.Context) error { a.api.Close(); return nil }},
		run.Of("grpc", a.grpc),
		run.Of("http", a.http),
	}
	return service.Life{
		Log: a.log, Health: a.health, HTTP: a.http, Internal: a.internal, GRPC: a.grpc,
		Clock: a.time, Time: pg.Time(a.pool), Linger: a.cfg.Linger, Up: func() { close(a.up) },
	}.Run(ctx, parts...)
}

// closeStores closes the connections of Postgres and Redis.
func (a *App) closeStores() error {
	a.pool.Close()
	if a.redis == nil {
		return nil
	}
	return a.redis.Close()
}

// Up returns a channel that is closed when all servers listen. HTTPAddr and GRPCAddr are valid from then on.
func (a *App) Up() <-chan struct{} { return a.up }

// HTTPAddr returns the address of the public HTTP server.
func (a *App) HTTPAddr() string { return a.http.Addr() }

// GRPCAddr returns the address of the internal gRPC server.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }
