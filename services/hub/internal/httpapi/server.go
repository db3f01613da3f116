package httpapi

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/adminapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/embeds"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/filing"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/liveapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/messageapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/oauthapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/reads"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/settings"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/stationapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Config has the settings of a Server.
type Config struct {
	HubURL string // public base URL of the hub, without a trailing slash
	Origin string // scheme and host of HubURL, as in the Origin header
	// APIURL and ClockURL are the public base URLs of the api and of the clock. If one is empty, the API description names the hub
	// instead.
	APIURL, ClockURL string
	Secure           bool           // cookies have the Secure attribute
	Social           string         // value of the source of a call for the social network
	VenueA           string         // path segment of the primary venue
	Videos           []string       // allowed hosts of stream URLs; empty: any
	OpenAPI          []byte         // API description as JSON
	AnyHost          bool           // accept any Host header from agents, because a proxy on this machine sends the requests
	Source           []byte         // API description as YAML
	Trusted          []netip.Prefix // reverse proxies whose X-Forwarded-For is used
}

// Deps are the services, stores and clients that a Server uses.
type Deps struct {
	Ledger     *ledgerclient.Client
	Callers    *caller.Service
	Sessions   *caller.Sessions
	Grants     *grant.Service
	Messages   *message.Service
	Creations  *effect.Service
	Keys       request.KeyLimiter // limits messages by public key
	Accounts   Accounts
	Signals    *signal.Service
	Links      share.Store
	Pins       market.Store
	Stations   stream.Store
	OnAir      *livestream.Service
	Moderation *moderation.Service
	Ingest     *ingest.Service
	Clips      *clip.Service
	Network    *federation.Service
	Viewers    request.KeyLimiter                 // limits counted views of a tape by IP address
	Programs   programv1.ProgramReadServiceClient // read API of the clock service; nil: the hub has no clock
	Director   programv1.ProgramServiceClient     // write API of the clock service; nil: the hub has no clock
	Broadcast  *broadcast.Service
	Audit      audit.Store
	Shared     *httpcache.Shared // caches that all hubs share; nil: each hub has its own
	Addresses  *ratelimit.Shared // limits requests without a valid credential by IP address
	Health     *httpx.Health
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string

	// Functions that record metrics. All except Degraded may be nil.
	Observe  func(method, route string, status int, took time.Duration)
	Count    func(method, route string, status int) func() // counts responses that front gives from a cache
	Degraded func(route, source string)
	// Trace wraps the router in tracing. Responses that front gives from a cache are not traced. Trace may be nil.
	Trace func(http.Handler) http.Handler
}

// Accounts has the services of the account, notification, profile and digest routes.
type Accounts struct {
	Follows  *follow.Service
	Claims   *identityclaim.Service
	Payouts  identityclaim.Payouts
	Profiles *profile.Service
	Digests  *digest.Service
	Notices  notification.Store
	Data     account.Store
	Email    *email.Service
	Pictures *picture.Service
	// IdentityDetails verifies an identity token of the login who and returns the identity with the names from the token. Errors:
	// unauthenticated for a token of another person, identity_provider_unavailable.
	IdentityDetails func(ctx context.Context, who operator.Identity, token string) (operator.Identity, error)
}

// Server is the HTTP server of the hub. It combines the middleware with the handlers of all subpackages.
type Server struct {
	Config
	Deps

	reads    *reads.Server
	filing   *filing.Server
	settings *settings.Server
	oauth    *oauthapi.Server
	messages *messageapi.Server
	mcp      *mcp.Server
	live     *liveapi.Server
	stations *stationapi.Server
	admin    *adminapi.Server
	embeds   *embeds.Server

	router   *httpx.Router
	handler  http.Handler
	close    func()
	accepted map[routeKey]caller.Accepted // credential kinds that each route accepts

	description, source, overview *httpcache.Page
}

// New returns a Server with all JSON routes. The caller must call Close, which stops the caches of the Server.
func New(cfg Config, d Deps) *Server {
	s := &Server{
		Config: cfg, Deps: d,
		description: httpcache.Make(cfg.Description()), source: httpcache.Make(cfg.localized(cfg.Source)).As("application/yaml"),
		overview: httpcache.Make(overview(cfg.HubURL, cfg.OpenAPI)).As("text/plain; charset=utf-8"),
	}
	caches := &view.Caches{Log: d.Log, Now: d.Now, Shared: d.Shared}
	s.close = caches.Close
	audits := request.Audit{Entries: d.Audit, Log: d.Log, Now: d.Now, NewID: d.NewID}
	s.reads = reads.New(&reads.Server{
		HubURL: cfg.HubURL, VenueA: cfg.VenueA, Ledger: d.Ledger, Follows: d.Accounts.Follows, OnAir: d.OnAir, Pins: d.Pins,
		Accounts: d.Accounts.Data, Email: d.Accounts.Email, Pictures: d.Accounts.Pictures, Log: d.Log, Now: d.Now,
	}, caches)
	s.stations = stationapi.New(&stationapi.Server{
		HubURL: cfg.HubURL, Ledger: d.Ledger, Network: d.Network, Follows: d.Accounts.Follows, Claims: d.Accounts.Claims,
		Payouts: d.Accounts.Payouts, Viewers: d.Viewers, Now: d.Now,
	}, caches)
	s.live = liveapi.New(&liveapi.Server{
		HubURL: cfg.HubURL, Videos: cfg.Videos, Ledger: d.Ledger, OnAir: d.OnAir, Broadcast: d.Broadcast, Creations: d.Creations,
		Follows: d.Accounts.Follows, Ingest: d.Ingest, Clips: d.Clips, Stations: d.Stations,
		Programs: d.Programs, Audits: audits, Log: d.Log, Now: d.Now,
	}, caches)
	s.settings = &settings.Server{
		HubURL: cfg.HubURL, Origin: cfg.Origin, Secure: cfg.Secure, Ledger: d.Ledger, Callers: d.Callers, Sessions: d.Sessions,
		Messages: d.Messages, Follows: d.Accounts.Follows, Claims: d.Accounts.Claims,
		Profiles: d.Accounts.Profiles, OnAir: d.OnAir, Notices: d.Accounts.Notices, Now: d.Now,
		Log: d.Log, IdentityDetails: d.Accounts.IdentityDetails,
	}
	s.filing = &filing.Server{
		HubURL: cfg.HubURL, Social: cfg.Social, Signals: d.Signals, Creations: d.Creations, Callers: d.Callers,
	}
	s.admin = &adminapi.Server{
		HubURL: cfg.HubURL, Ledger: d.Ledger, Creations: d.Creations, Digests: d.Accounts.Digests, Moderation: d.Moderation,
		OnAir: d.OnAir, Notices: d.Accounts.Notices, Clips: d.Clips, Pins: d.Pins, TilePages: s.reads.TilePages, Shared: d.Shared, Programs: d.Programs, Director: d.Director, Audits: audits,
		Log: d.Log, Now: d.Now,
	}
	s.messages = messageapi.New(&messageapi.Server{
		HubURL: cfg.HubURL, Grants: d.Grants, Messages: d.Messages, Keys: d.Keys, Now: d.Now,
	}, caches)
	s.oauth = &oauthapi.Server{
		HubURL: cfg.HubURL, Ledger: d.Ledger, Callers: d.Callers, Grants: d.Grants, Follows: d.Accounts.Follows,
		Claims: d.Accounts.Claims, OnAir: d.OnAir, Audits: audits,
	}
	s.embeds = embeds.New(&embeds.Server{HubURL: cfg.HubURL, Ledger: d.Ledger, Links: d.Links, OnAir: d.OnAir, Now: d.Now}, caches)
	s.mcp = mcp.New(&mcp.Server{Callers: d.Callers, Log: d.Log, Tools: s.tools()})
	s.router = httpx.New(httpx.Config{
		Log: d.Log, Now: d.Now, NewID: d.NewID, Trusted: cfg.Trusted, Health: d.Health,
		Observe: d.Observe, Degraded: d.Degraded, Source: "signal_service",
		ServedBy: openapi.Hosts{API: cfg.APIURL, Clock: cfg.ClockURL}.Serving,
	})
	s.router.Use(s.limitByAddress, s.retiredFirst(), oauthapi.DescribedMethod)
	routes := s.routes()
	s.mount(routes)
	var handler http.Handler = s.router
	if d.Trace != nil {
		handler = d.Trace(handler)
	}
	document := bytes.ReplaceAll(cfg.OpenAPI, []byte("/api/polymarket/"), []byte("/api/"+cfg.VenueA+"/"))
	s.handler = httpx.ParseQueries(document, "hub").NameIgnored(s.front(handler, routes))
	return s
}

// Router returns the router, so that the HTML pages can be mounted on it. Requests to mounted routes are charged to the rate
// limit of their IP address.
func (s *Server) Router() *httpx.Router { return s.router }

// Receipt serves GET /receipts/{id} for clients that accept JSON: a call with its events and the outcome of its market.
func (s *Server) Receipt(c echo.Context) error { return request.BySignal(s.reads.Receipt)(c) }

// Login verifies an identity token that was not sent as a bearer token and returns its identity. The rules and the rate limit of
// bearer tokens apply. Errors: unauthenticated, rate_limited, identity_provider_unavailable.
func (s *Server) Login(c echo.Context, token string) (operator.Identity, error) {
	who, standing, err := s.Callers.Resolve(c.Request().Context(), caller.Request{
		Accept: caller.AcceptLogin, Authorization: []string{"Bearer " + token}, IP: c.RealIP(),
	})
	if standing != nil {
		request.SetLimitHeaders(c.Response().Header(), *standing)
	}
	if err == nil {
		request.Refund(c)
	}
	return who.Identity, err
}

// Table returns all routes that are mounted on the router.
func (s *Server) Table() []httpx.Route { return s.router.Table() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close cancels the builds of cached responses and the verifications of credentials, and waits until they have ended.
func (s *Server) Close() {
	s.close()
	s.Callers.Close()
}

// mount adds routes and the retired routes to the router, and records which credential kinds each route accepts.
func (s *Server) mount(routes []route) {
	var table []httpx.Route
	s.accepted = make(map[routeKey]caller.Accepted)
	for _, r := range routes {
		s.accepted[routeKey{r.method, r.path}] = r.who
		if r.publicRead() {
			s.accepted[routeKey{r.method, r.path}] |= caller.AcceptKey // a known key is not charged to its IP address
		}
		table = append(table, httpx.Route{
			Method: r.method, Path: r.path, Who: credentialNames(r.who), Permission: permissionOf(r), CORS: r.cors,
			Cache:   r.cache,
			Handler: s.guard(r), EmptyFor: r.empty, Timeout: r.timeout,
		})
	}
	for _, r := range s.retired() { // without the guard, so that invalid credentials also get 410
		table = append(table, httpx.Route{
			Method: r.method, Path: r.path, Who: credentialNames(r.who), CORS: r.cors, Handler: r.handler,
		})
	}
	httpx.Mount(s.router, table)
}

// retiredFirst returns a middleware that answers 410 for all paths of retired routes, except to OPTIONS requests. The handlers of
// the retired routes do not suffice, because the router answers 404 if a path parameter contains a slash.
func (s *Server) retiredFirst() echo.MiddlewareFunc {
	retired := map[string]bool{}
	for _, r := range s.retired() {
		retired[r.path] = true
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if retired[c.Path()] && c.Request().Method != http.MethodOptions {
				return errGone
			}
			return next(c)
		}
	}
}

// front returns a handler that answers cached reads without routing. It passes these requests to next: uncached reads, requests
// with a credential, and requests from an IP address that has reached its limit.
func (s *Server) front(next http.Handler, routes []route) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return !hasCredential(r) && s.Addresses.Allow(r.Context(), ratelimit.AddressKey(httpx.Peer(r, s.Trusted))).Allowed
	}
	var reads []httpcache.Hot
	for _, r := range routes {
		if r.hot == nil {
			continue
		}
		header := r.cors.Headers()
		header.Set("Cache-Control", r.cache)
		reads = append(reads, httpcache.Hot{
			Pattern: r.path, Cache: r.hot.Book(), Header: header,
			Key: func(_, rawQuery string) (string, bool) { return r.hot.Key(rawQuery), true },
		})
	}
	return httpcache.NewHandler(next, httpcache.HandlerOptions{Allow: allow, Count: s.Count}, reads...)
}
