package edge

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/live"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// Feed reads pages of the numbered feed.
type Feed interface {
	ListFeedEvents(ctx context.Context, q feed.Query) (feed.Page, error)
}

// Boards ranks operators and counts the network.
type Boards interface {
	Scores(ctx context.Context, g board.Group, lane string, limit int) ([]board.Row, error)
	EdgeBoard(ctx context.Context, g board.Group, lane string, limit int) ([]board.Row, error)
	Pulse(ctx context.Context) (board.Totals, error)
}

// Calls lists what was called.
type Calls interface{ signal.Calls }

// Lanes places markets; lane.Service says what each faults with.
type Lanes interface {
	Categorise(ctx context.Context, items []lane.Item) ([]lane.Place, error)
	Counts(ctx context.Context) ([]lane.Count, error)
	Rule(ctx context.Context, marketID string, to syntax.Lane, category string) (string, error)
}

// Records reads the record of one operator, by handle or, without one, by id. Fault: not_found.
type Records interface {
	Operator(ctx context.Context, handle, id string) (operator.Operator, error)
	Record(ctx context.Context, handle, id string, recent, moments int) (record.Record, error)
}

// Logins verifies a token of an identity provider. Faults: unauthenticated,
// identity_provider_unavailable.
type Logins interface {
	Verify(ctx context.Context, raw string) (operator.Identity, error)
}

// Operators signs people in and keeps their keys.
type Operators interface {
	SignIn(ctx context.Context, id operator.Identity) (operator.Operator, bool, error)
	Mint(ctx context.Context, operatorID, label, prefix string, permissions []string, strict bool) (string, operator.Key, error)
	// Verify faults with unauthenticated when the key is unknown or revoked.
	Verify(ctx context.Context, hash []byte) (operator.Operator, operator.Key, error)
}

// Webhooks keeps the webhooks of operators; webhook.Service says what each faults with.
type Webhooks interface {
	Register(ctx context.Context, o webhook.Owner, d webhook.Draft) (webhook.Hook, string, error)
	List(ctx context.Context, o webhook.Owner) ([]webhook.Hook, error)
	Get(ctx context.Context, o webhook.Owner, id string) (webhook.Hook, error)
	Change(ctx context.Context, o webhook.Owner, id string, c webhook.Change) (webhook.Hook, error)
	Delete(ctx context.Context, o webhook.Owner, id string) error
	Renew(ctx context.Context, o webhook.Owner, id string) (webhook.Hook, string, error)
	Test(ctx context.Context, o webhook.Owner, id string) (webhook.Delivery, error)
	Deliveries(ctx context.Context, o webhook.Owner, id string, before int64, limit int) ([]webhook.Delivery, error)
}

// Limiter counts calls over all processes.
type Limiter interface {
	Allow(ctx context.Context, key string) limit.Decision
}

// Deps is what the edge asks and tells. All are needed but the hooks.
type Deps struct {
	Feed      Feed
	Boards    Boards
	Oracle    Oracle
	Markets   Markets
	Outcomes  Outcomes
	Logins    Logins
	Operators Operators
	History   History
	Snapshots Snapshots
	Webhooks  Webhooks
	Stations  Stations
	Calls     Calls
	Lanes     Lanes
	Records   Records
	Hub       *live.Hub

	Addresses *limit.Local // calls of one address
	Keys      Limiter      // calls of one operator key
	Sessions  Limiter      // calls of one subject of an identity provider

	Admin    Secret   // unset: nobody is an admin here
	Failures Failures // of the admin secret; needed with it

	Health *web.Health
	Log    *slog.Logger
	Now    func() time.Time
	NewID  func() string // uuid v7

	Observe  func(method, route string, status int, took time.Duration)
	Count    func(method, route string, status int) func() // as page.FrontOptions has it
	Degraded func(route, source string)
	Closed   func(code int) // a socket ended with this close code
	// Trace is put around the router; ready pages are answered before it. May be nil.
	Trace func(http.Handler) http.Handler
}

// Config is what the edge has to be told; the zero value works.
type Config struct {
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
	HubURL  string         // of the links to markets
	Sockets SocketLimits
}

type server struct {
	Deps
	hubURL                  string
	sockets                 *sockets
	feeds, ranks, attention *page.Book
}

// Server is the HTTP face of the api host.
type Server struct {
	edge    *web.Edge
	handler http.Handler
	inner   *server
}

// New builds the face with all its routes and starts what keeps sockets alive.
// Close ends it.
func New(cfg Config, d Deps) *Server {
	if d.Closed == nil {
		d.Closed = func(int) {}
	}
	hubURL := strings.TrimRight(cfg.HubURL, "/")
	s := &server{
		Deps: d, hubURL: hubURL, sockets: newSockets(cfg.Sockets, hubURL, d),
		feeds:     page.New(page.Options{TTL: 250 * time.Millisecond, Stale: 750 * time.Millisecond, Now: d.Now}),
		ranks:     page.New(page.Options{TTL: time.Second, Stale: 9 * time.Second, Now: d.Now, MaxKeys: 1024}),
		attention: page.New(page.Options{TTL: 2 * time.Second, Stale: 8 * time.Second, Timeout: 3 * time.Second, Now: d.Now}),
	}
	e := web.New(web.Config{
		Log: d.Log, Now: d.Now, NewID: d.NewID, Trusted: cfg.Trusted, Health: d.Health, Probes: web.Open,
		Observe: d.Observe, Degraded: d.Degraded,
	})
	e.Use(s.perAddress)
	web.Mount(e, s.routes())
	var router http.Handler = e
	if d.Trace != nil {
		router = d.Trace(e)
	}
	return &Server{edge: e, handler: s.front(router, cfg.Trusted), inner: s}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Revoked tells that a key of an operator was revoked: sockets that carry it end.
func (s *Server) Revoked(handle string) { s.inner.sockets.revoked(handle) }

// Table lists the mounted routes.
func (s *Server) Table() []web.Route { return s.edge.Table() }

// Sockets is the number of open sockets.
func (s *Server) Sockets() int { return s.inner.sockets.count() }

// Leave tells every socket and stream to come back elsewhere (1001), waits for them
// while ctx lasts and cuts the rest. New ones are refused; other requests are
// answered as before.
func (s *Server) Leave(ctx context.Context) { s.inner.sockets.close(ctx) }

// Close is Leave, and then it ends the builds of pages.
func (s *Server) Close(ctx context.Context) {
	s.Leave(ctx)
	s.inner.feeds.Close()
	s.inner.ranks.Close()
	s.inner.attention.Close()
}

// front answers hits of the hot reads before the router runs.
func (s *server) front(next http.Handler, trusted []netip.Prefix) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return s.Addresses.Allow(addressKey(web.Peer(r, trusted))).Allowed
	}
	hot := func(pattern, cache string, book *page.Book, key func(param, rawQuery string) (string, bool)) page.Hot {
		header := web.Open.Headers()
		header.Set("Cache-Control", cache)
		return page.Hot{Pattern: pattern, Book: book, Header: header, Key: key}
	}
	byQuery := func(key func(string) string) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery), true }
	}
	ofOne := func(key func(string) (string, bool)) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery) }
	}
	return page.NewFront(next, page.FrontOptions{Allow: allow, Count: s.Count},
		hot("/api/v1/feed", cacheFeed, s.feeds, byQuery(func(raw string) string { return readFeed(raw).key() })),
		hot("/api/v1/signals/leaderboard", cacheBoard, s.ranks, byQuery(func(raw string) string { return readBoard(raw).key() })),
		hot("/api/v1/signals/external", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("external") })),
		hot("/api/aura/top", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("top") })),
		hot("/api/aura/score", cacheAura, s.attention, ofOne(scoreKey)),
		hot("/api/aura/history", cacheAura, s.attention, ofOne(historyKey)),
		hot("/api/v1/oracle/markets/*", cacheOne, s.attention, func(id, _ string) (string, bool) { return oracleKey(id) }),
	)
}

// perAddress counts every request against its address, before anything is known
// about the caller.
func (s *server) perAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if d := s.Addresses.Allow(addressKey(c.RealIP())); !d.Allowed {
			d.SetHeaders(c.Response().Header())
			return d.Fault()
		}
		return next(c)
	}
}

// addressKey is what an address is counted under; an IPv6 network of 64 bits is
// one caller.
func addressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return limit.AddrKey(addr)
}
