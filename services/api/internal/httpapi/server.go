package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/reader"
	"github.com/signalcast/signalcast/proto/openapi"
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

// Deps contains the services that the routes use, and the settings of the process. All members are required except Admin,
// Failures, Shared, Slots, Trusted, Limits, Observe, Count, Degraded, Closed and Trace.
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

	// Login verifies a token of an identity provider and returns the identity in it. Errors: unauthenticated,
	// identity_provider_unavailable.
	Login   func(ctx context.Context, raw string) (operator.Identity, error)
	Readers operator.Readers // verifies the credentials of public reads
	// Viewers returns the number of viewers of a market: readers of its channel, and viewers of streams that show it.
	Viewers func(ctx context.Context, marketID string) int

	Shared    *httpcache.Shared  // caches that all replicas share; nil: each replica has its own
	Addresses *ratelimit.Shared  // limit per IP address
	Keys      *ratelimit.Limiter // limit per operator key
	Tokens    *ratelimit.Limiter // limit per grant of an app, on public reads
	Sessions  *ratelimit.Limiter // limit per subject of an identity provider
	// Slots returns a limit of open sockets over all processes. The server closes it. Nil: sockets are limited in this process only.
	Slots func(name string, limit int) *ratelimit.Slots

	Admin    protocol.Secret    // unset: the administrator routes are off
	Failures *ratelimit.Limiter // limit of wrong admin secrets per IP address; required if Admin is set

	Health *httpx.Health
	Log    *slog.Logger
	Now    func() time.Time

	Trusted []netip.Prefix // proxies whose X-Forwarded-For is trusted
	HubURL  string         // base URL of links to markets
	// ServedBy returns the base URL of the host of this installation that serves a path, or "".
	ServedBy func(path string) string
	Limits   SocketLimits // limits of sockets; zero values select the defaults

	Observe  func(method, route string, status int, took time.Duration)
	Count    func(method, route string, status int) func() // see httpcache.HandlerOptions
	Degraded func(route, source string)
	Closed   func(code int) // called with the close code of each socket that has ended
	// Trace wraps the router. Responses from the cache are sent before the router and are not traced.
	Trace func(http.Handler) http.Handler
}

// Server is the http.Handler of all public routes of the api.
type Server struct {
	Deps
	router                  *httpx.Router
	handler                 http.Handler
	sockets                 *sockets
	feeds, ranks, attention *httpcache.Cache
	readers                 *reader.Guard
}

// queries returns the query parameters of the reads of this service. They are read from the OpenAPI document once.
var queries = sync.OnceValue(func() *httpx.Queries { return httpx.ParseQueries(openapi.JSON, "api") })

// New returns a Server with all routes, and starts the goroutine that sends heartbeats. Close stops that goroutine.
func New(d Deps) *Server {
	if d.Closed == nil {
		d.Closed = func(int) {}
	}
	if d.Slots == nil {
		d.Slots = func(name string, limit int) *ratelimit.Slots {
			return ratelimit.NewSlots(nil, ratelimit.SlotConfig{Name: name, Limit: limit})
		}
	}
	d.HubURL, d.Limits = strings.TrimRight(d.HubURL, "/"), d.Limits.withDefaults()
	s := &Server{
		Deps: d, sockets: newSockets(d),
		feeds:     httpcache.New(httpcache.Options{TTL: 250 * time.Millisecond, Stale: 750 * time.Millisecond, Now: d.Now}),
		ranks:     d.Shared.Open("board", httpcache.Options{TTL: time.Second, Stale: 9 * time.Second, Now: d.Now, MaxKeys: 1024}),
		attention: httpcache.New(httpcache.Options{TTL: 2 * time.Second, Stale: 8 * time.Second, Timeout: 3 * time.Second, Now: d.Now}),
	}
	s.router = httpx.New(httpx.Config{
		Log: d.Log, Now: d.Now, Trusted: d.Trusted, Health: d.Health, Probes: httpx.Open, Source: "db", ServedBy: d.ServedBy,
		Observe: d.Observe, Degraded: d.Degraded,
	})
	s.readers = reader.New(reader.Config{Verify: s.verifyReader, Addresses: d.Addresses, Count: s.countReader, Now: d.Now})
	s.router.Use(s.readers.Limit)
	httpx.Mount(s.router, s.routes())
	var router http.Handler = s.router
	if d.Trace != nil {
		router = d.Trace(s.router)
	}
	s.handler = queries().NameIgnored(s.front(router))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Revoked checks in the background whether the keys of an operator's open sockets are still valid. It closes each socket
// whose key was revoked.
func (s *Server) Revoked(handle string) { s.sockets.revoked(handle) }

// Table returns all routes of the server.
func (s *Server) Table() []httpx.Route { return s.router.Table() }

// Sockets returns the number of open websockets and streams of server-sent events.
func (s *Server) Sockets() int { return s.sockets.count() }

// CloseSockets closes every websocket and stream with code 1001, and waits until they have ended. When ctx ends, it aborts the
// remaining connections. Afterwards the server rejects new sockets, but still answers other requests.
func (s *Server) CloseSockets(ctx context.Context) { s.sockets.close(ctx) }

// Close calls CloseSockets and then closes the caches, which cancels running builds of responses.
func (s *Server) Close(ctx context.Context) {
	s.CloseSockets(ctx)
	s.feeds.Close()
	s.ranks.Close()
	s.attention.Close()
	s.readers.Close()
}

// front returns a handler that serves cached responses of frequent reads. It passes all other requests to next, the router.
func (s *Server) front(next http.Handler) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return s.Addresses.Allow(r.Context(), ratelimit.AddressKey(httpx.Peer(r, s.Trusted))).Allowed
	}
	hot := func(pattern, cache string, book *httpcache.Cache, key func(param, rawQuery string) (string, bool)) httpcache.Hot {
		header := httpx.Open.Headers()
		header.Set("Cache-Control", cache)
		return httpcache.Hot{Pattern: pattern, Cache: book, Header: header, Key: key}
	}
	byQuery := func(key func(string) string) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery), true }
	}
	ofOne := func(key func(string) (string, bool)) func(string, string) (string, bool) {
		return func(_, rawQuery string) (string, bool) { return key(rawQuery) }
	}
	return httpcache.NewHandler(next, httpcache.HandlerOptions{Allow: allow, Count: s.Count},
		hot("/api/v1/feed", cacheFeed, s.feeds, ofOne(feedKey)),
		hot("/api/v1/signals/leaderboard", cacheBoard, s.ranks, byQuery(func(raw string) string { return readBoard(raw).key() })),
		hot("/api/v1/signals/external", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("external") })),
		hot("/api/aura/top", cacheAura, s.attention, byQuery(func(raw string) string { return readTop(raw).key("top") })),
		hot("/api/aura/score", cacheAura, s.attention, ofOne(scoreKey)),
		hot("/api/aura/history", cacheAura, s.attention, ofOne(historyKey)),
		hot("/api/v1/oracle/markets/*", cacheOne, s.attention, func(id, _ string) (string, bool) { return oracleKey(id) }),
	)
}

// serve sends the response that is cached in book for key. If the response is absent or expired, serve calls the function
// build, and caches and sends the returned value as JSON.
func serve(c echo.Context, book *httpcache.Cache, key string, build func(context.Context) (any, error)) error {
	return book.Serve(c.Response(), c.Request(), key, func(ctx context.Context) ([]byte, error) {
		v, err := build(ctx)
		if err != nil {
			return nil, err
		}
		return httpx.Marshal(v)
	})
}

// answer sends the JSON of show(&v) with the given status. If err is not nil, it returns err instead. v and err are the results
// of one call.
func answer[T, V any](c echo.Context, status int, v T, err error, show func(*T) V) error {
	if err != nil {
		return err
	}
	return httpx.JSON(c, status, show(&v))
}

// verifyReader implements reader.Verify.
func (s *Server) verifyReader(ctx context.Context, c reader.Credential) (id string, err error) {
	r := operator.Reader{Login: c.Raw}
	switch c.Kind {
	case reader.Key:
		r.KeyHash = c.Hash[:]
	case reader.Token:
		r.TokenHash = c.Hash[:]
	}
	return s.Readers.Verify(ctx, r)
}

// countReader counts a public read against the limit of its credential. Operator keys and identities have the same limit as on
// other routes.
func (s *Server) countReader(ctx context.Context, kind reader.Kind, id string) ratelimit.Decision {
	switch kind {
	case reader.Key:
		return s.Keys.Allow(ctx, id)
	case reader.Token:
		return s.Tokens.Allow(ctx, id)
	}
	return s.Sessions.Allow(ctx, id)
}
