package apitest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/app"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// Secrets in the configuration of each API.
const (
	Mask = "test-pepper-do-not-use"           // key of the HMAC in public operator ids
	Link = "xq7Lr0Vb2mZt9Kc4Wn6Yd1Hs8Pf3Ga5J" // authenticates gRPC calls to the address that Serve returns
)

// API is the api service of a test: its services and stores on a database of the test. Proxy and Answers change the responses
// that clients receive through Conn and Serve. The background loops of the api run only after Run.
type API struct {
	Proxy
	Answers
	Database testkit.Database
	DB       *pgxpool.Pool // connections of the administrator, with schema api in the search path

	t          testing.TB
	now        func() time.Time
	app        *app.App
	ids        int                     // number of ids that id has returned
	direct     func() *grpc.ClientConn // returns a connection to the api without Proxy and Answers
	venueFails atomic.Bool
	stop       context.CancelFunc // ends Run; nil if Run was not called
	ran        chan error         // receives the result of Run
}

// Start creates a database and starts the services of the api on it. The background loops do not run, and the api listens on
// no port. The database contains the schema of the api and the schemas in more, for example that of the hub. now is the clock
// of the api. The only venue is the primary one, and it has no markets: a test stores the markets that it needs with
// AddMarket. The api is closed at the end of the test. An error ends the test.
func Start(t testing.TB, now func() time.Time, more ...pg.Schema) *API {
	t.Helper()
	db := testkit.Postgres(t, append([]pg.Schema{{Name: "api", Files: postgres.Migrations()}}, more...)...)
	// The api connects as the owner of the schema, because only the owner may store calls with a time in the past.
	sep := "?"
	if strings.Contains(db.Admin, "?") {
		sep = "&"
	}
	url := db.Admin + sep + "search_path=api"
	a := &API{t: t, now: now, Database: db, DB: testkit.Pool(t, url)}
	venue := httptest.NewServer(http.HandlerFunc(a.venue))
	t.Cleanup(venue.Close)
	environ := map[string]string{
		"ENV": "test", "DATABASE_URL": url, "REDIS_URL": testkit.Redis(t), "HUB_URL": "https://hub.example",
		"HTTP_ADDR": "127.0.0.1:0", "GRPC_ADDR": "127.0.0.1:0", "LOG_LEVEL": "error", "DRAIN_WAIT": "0s", "DB_MAX_CONNS": "8", "DB_READ_TIMEOUT": "20s",
		"LINK_SECRET": Link, "MASK_SECRET": "Mn3Bv5Cx7Zl9Kj1Hg3Fd5Sa7Po9Iu1Yt",
		"CHECKPOINT_KEY": "Ck7Ls8Rt5Yp1Nc7Xv4Bz9Kd3Hf6Gj0Mb", "WEBHOOK_SECRET_KEY": "Wq2Ls8Rt5Yp1Nc7Xv4Bz9Kd3Hf6Gj0Ma",
		"IDP_PROVIDERS":        `[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":"https://idp.example/jwks.json"}]`,
		"POLYMARKET_GAMMA_URL": venue.URL, "POLYMARKET_CLOB_URL": venue.URL, "VENUE_RPS": "10000", "QUOTE_MAX_AGE": "15m",
		"QUOTE_CONFIRM_AFTER": "off",
	}
	cfg, err := config.LoadFrom[app.Config](environ)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Mask = config.NewSecret(Mask)
	a.Proxy.answer = a.answer
	a.direct = sync.OnceValue(func() *grpc.ClientConn {
		return testkit.Link(t, func(r grpc.ServiceRegistrar) { a.app.Register(r.(*grpcx.Server)) })
	})
	if a.app, err = app.New(context.WithoutCancel(t.Context()), cfg, io.Discard, now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.end)
	return a
}

// venue handles requests to the primary venue. The list of all markets gets status 503; after FailVenue, every request gets
// it. All other requests get 404. If the list were empty, the catalogue would read each stored market and get 404.
func (a *API) venue(w http.ResponseWriter, r *http.Request) {
	if a.venueFails.Load() || strings.HasSuffix(r.URL.Path, "/keyset") {
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"error":"not found"}`)
}

// FailVenue makes the primary venue respond to every further request with status 503.
func (a *API) FailVenue() { a.venueFails.Store(true) }

// Conn returns a new in-memory gRPC connection to the api. Calls on it go through Proxy and Answers. The functions in more
// register services of the test on the same connection, for example those of the clock. The connection is closed at the end of
// the test.
func (a *API) Conn(more ...func(grpc.ServiceRegistrar)) *grpc.ClientConn {
	a.t.Helper()
	return testkit.Link(a.t, func(r grpc.ServiceRegistrar) {
		a.app.Register(r.(*grpcx.Server))
		for _, register := range more {
			register(r)
		}
	}, a.options()...)
}

// Serve serves the api at a TCP address until the test ends, and returns the address with its port. Calls go through Proxy and
// Answers. It is for tests of a whole hub, which connects to the address in its settings.
func (a *API) Serve(addr string) string {
	a.t.Helper()
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: Link, Options: a.options()})
	if err != nil {
		a.t.Fatal(err)
	}
	a.app.Register(server)
	server.SetReady(true)
	part, served := server.At(addr), make(chan error, 1)
	if err := part.Start(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	go func() { served <- part.Serve() }()
	a.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(ctx)
		if err := <-served; err != nil {
			a.t.Errorf("serve the api: %v", err)
		}
	})
	return part.Addr()
}

// Run starts the background loops of the api, for example search, boards, movement and the relay. It returns when all servers
// listen. The loops first read the data that is stored at this time, and end with the test.
func (a *API) Run() {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a.stop, a.ran = cancel, make(chan error, 1)
	go func() { a.ran <- a.app.Run(ctx) }()
	select {
	case <-a.app.Up():
	case err := <-a.ran:
		a.t.Fatalf("run the api: %v", err)
	}
}

// end stops the loops if Run was called, and closes the stores of the api.
func (a *API) end() {
	var err error
	if a.stop != nil {
		a.stop()
		err = <-a.ran
	} else {
		err = a.app.Close(context.Background())
	}
	if err != nil {
		a.t.Errorf("end the api: %v", err)
	}
}
