package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/station"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// Deps are the services that the routes use, and the settings of the process. All are needed but the hooks.
type Deps struct {
	Feed      feed.Store
	Boards    *board.Service
	Oracle    *attention.Service
	Markets   *market.Service
	Outcomes  *resolution.Service
	Operators *operator.Service
	Webhooks  *webhook.Service
	Stations  *station.Service
	Signals   *signal.Service
	Lanes     *lane.Service
	Records   *record.Service
	Broker    *broker.Broker

	// Login verifies a token of an identity provider. Faults: unauthenticated, identity_provider_unavailable.
	Login func(ctx context.Context, raw string) (operator.Identity, error)
	// Viewers returns the number of readers of a market and of viewers of its streams.
	Viewers func(ctx context.Context, marketID string) int

	Addresses *ratelimit.Local   // calls of one address
	Keys      *ratelimit.Limiter // calls of one operator key
	Sessions  *ratelimit.Limiter // calls of one subject of an identity provider

	Admin    protocol.Secret    // unset: no request is one of an admin
	Failures *ratelimit.Limiter // wrong admin secrets of one address; needed with Admin

	Health *httpx.Health
	Log    *slog.Logger
	Now    func() time.Time

	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
	HubURL  string         // base address of the links to markets
	Limits  SocketLimits   // zero values: the defaults

	Observe  func(method, route string, status int, took time.Duration)
	Count    func(method, route string, status int) func() // as httpcache.FrontOptions has it
	Degraded func(route, source string)
	Closed   func(code int) // a socket ended with this close code
	// Trace is put around the router; ready pages are answered before it. May be nil.
	Trace func(http.Handler) http.Handler
}

// Server serves the public HTTP routes of the api host.
type Server struct {
	Deps
	edge                    *httpx.Router
	handler                 http.Handler
	sockets                 *sockets
	feeds, ranks, attention *httpcache.Book
}

// New returns a Server with all routes and starts the goroutine that sends beats. Close ends it.
func New(d Deps) *Server {
	if d.Closed == nil {
		d.Closed = func(int) {}
	}
	d.HubURL, d.Limits = strings.TrimRight(d.HubURL, "/"), d.Limits.withDefaults()
	s := &Server{
		Deps: d, sockets: newSockets(d),
		feeds:     httpcache.New(httpcache.Options{TTL: 250 * time.Millisecond, Stale: 750 * time.Millisecond, Now: d.Now}),
		ranks:     httpcache.New(httpcache.Options{TTL: time.Second, Stale: 9 * time.Second, Now: d.Now, MaxKeys: 1024}),
		attention: httpcache.New(httpcache.Options{TTL: 2 * time.Second, Stale: 8 * time.Second, Timeout: 3 * time.Second, Now: d.Now}),
	}
	s.edge = httpx.New(httpx.Config{
		Log: d.Log, Now: d.Now, Trusted: d.Trusted, Health: d.Health, Probes: httpx.Open,
		Observe: d.Observe, Degraded: d.Degraded,
	})
	s.edge.Use(s.perAddress)
	httpx.Mount(s.edge, s.routes())
	var router http.Handler = s.edge
	if d.Trace != nil {
		router = d.Trace(s.edge)
	}
	s.handler = s.front(router)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Revoked tells that a key of an operator was revoked: sockets that carry it end.
func (s *Server) Revoked(handle string) { s.sockets.revoked(handle) }

// Table lists the mounted routes.
func (s *Server) Table() []httpx.Route { return s.edge.Table() }

// Sockets is the number of open sockets.
func (s *Server) Sockets() int { return s.sockets.count() }

// Leave tells every socket and stream to come back elsewhere (1001), waits for them
// while ctx lasts and cuts the rest. New ones are refused; other requests are
// answered as before.
func (s *Server) Leave(ctx context.Context) { s.sockets.close(ctx) }

// Close does what Leave does and then cancels the running builds of pages.
func (s *Server) Close(ctx context.Context) {
	s.Leave(ctx)
	s.feeds.Close()
	s.ranks.Close()
	s.attention.Close()
}

// front answers hits of the hot reads before the router runs.
func (s *Server) front(next http.Handler) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return s.Addresses.Allow(addressKey(httpx.Peer(r, s.Trusted))).Allowed
	}
	hot := func(pattern, cache string, book *httpcache.Book, key func(param, rawQuery string) (string, bool)) httpcache.Hot {
		header := httpx.Open.Headers()
		header.Set("Cache-Control", cache)
		return httpcache.Hot{Pattern: pattern, Book: book, Header: header, Key: key}
	}
	byQuery := func(key func(string) string) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery), true }
	}
	ofOne := func(key func(string) (string, bool)) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery) }
	}
	return httpcache.NewFront(next, httpcache.FrontOptions{Allow: allow, Count: s.Count},
		hot("/api/v1/feed", cacheFeed, s.feeds, byQuery(func(raw string) string { return readFeed(raw).key() })),
		hot("/api/v1/signals/leaderboard", cacheBoard, s.ranks, byQuery(func(raw string) string { return readBoard(raw).key() })),
		hot("/api/v1/signals/external", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("external") })),
		hot("/api/aura/top", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("top") })),
		hot("/api/aura/score", cacheAura, s.attention, ofOne(scoreKey)),
		hot("/api/aura/history", cacheAura, s.attention, ofOne(historyKey)),
		hot("/api/v1/oracle/markets/*", cacheOne, s.attention, func(id, _ string) (string, bool) { return oracleKey(id) }),
	)
}

// serve answers a request with the page of a key. build returns the value whose JSON the page is.
func serve(c echo.Context, book *httpcache.Book, key string, build func(context.Context) (any, error)) error {
	return book.Serve(c.Response(), c.Request(), key, func(ctx context.Context) ([]byte, error) {
		v, err := build(ctx)
		if err != nil {
			return nil, err
		}
		return httpx.Marshal(v)
	})
}

// answer answers with the JSON of show(&v), or returns err, which was returned with v.
func answer[T, V any](c echo.Context, status int, v T, err error, show func(*T) V) error {
	if err != nil {
		return err
	}
	return httpx.JSON(c, status, show(&v))
}

// perAddress counts every request against its address, before anything is known
// about the caller.
func (s *Server) perAddress(next echo.HandlerFunc) echo.HandlerFunc {
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
	return ratelimit.AddrKey(addr)
}
