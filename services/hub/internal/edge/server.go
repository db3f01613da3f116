package edge

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/web"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/station"
)

// Config is what the edge has to be told.
type Config struct {
	HubURL  string   // public base of this host, without a slash at the end
	Origin  string   // scheme and host of HubURL, as a browser sends it
	Secure  bool     // cookies travel over https alone
	Social  string   // the fourth signal source
	VenueA  string   // the primary venue's word in paths
	Videos  []string // hosts that streams may be on; empty: any
	OpenAPI []byte   // the machine-readable description
	AnyHost bool     // a proxy on this machine asks agents' questions under its own name
	Source  []byte   // the same as it was written, in YAML
	Trusted []netip.Prefix
}

// Deps is what the edge asks and tells.
type Deps struct {
	Ledger     *ledgerclient.Client
	Callers    *caller.Service
	Sessions   *caller.Sessions
	Operators  operator.Ledger
	Directory  operator.Directory
	Grants     *grant.Service
	Messages   *message.Service
	Creations  *creation.Service
	Keys       KeyLimiter // messages of one public key
	Accounts   Accounts
	Signals    *signal.Service
	Links      share.Store
	Pins       market.Pins
	Streams    station.Streams
	Clips      station.Clips
	OnAir      *onair.Service
	Moderation *moderation.Service
	Video      Video
	Network    *network.Service
	Viewers    KeyLimiter                         // player starts of one address and tape
	Programs   programv1.ProgramReadServiceClient // of the clock; nil: there is no clock
	Director   programv1.ProgramServiceClient     // nil: there is no clock
	Broadcast  *broadcast.Service
	Audit      audit.Log
	Addresses  *limit.Local // calls of one address whose callers are nobody
	Health     *web.Health
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string
	// Carry puts the request id where outgoing calls find it.
	Carry func(ctx context.Context, requestID string) context.Context

	// What the metrics hear of; all may be nil but Degraded.
	Observe  func(method, route string, status int, took time.Duration)
	Count    func(method, route string, status int) func() // answers from ready pages
	Degraded func(route, source string)
	// Trace is put around the router; ready pages are answered before it. May be nil.
	Trace func(http.Handler) http.Handler
}

// server holds the handlers; edge.Server is what others see of it.
type server struct {
	Config
	Deps

	submissions *submissions
	leaving     recordRoom
	pictures    *pictures
	takes       map[line]caller.Take // by the routes that ask for their caller

	feeds, boardPages, airing, reels   *page.Book
	records, skills, pulses            *page.Book
	programs, tiles, moves, situations covered
	air, plans                         covered
	stories                            *stories
	description, source, overview      *page.Page

	toolbox      agentTools
	agentHandler http.Handler
	checkHost    bool
}

// Server is the HTTP face of the hub.
type Server struct {
	edge    *web.Edge
	handler http.Handler
	inner   *server
}

// New builds the face with all its routes. Close ends its page books.
func New(cfg Config, d Deps) *Server {
	s := &server{
		Config: cfg, Deps: d, submissions: newSubmissions(d.Keys), pictures: newPictures(),
		description: page.Make(cfg.OpenAPI), source: page.Make(cfg.Source).As("application/yaml"),
		overview: page.Make(overview(cfg.HubURL, cfg.OpenAPI)).As("text/plain; charset=utf-8"),
	}
	s.toolbox, s.checkHost = s.agentTools(), !cfg.AnyHost
	s.agentHandler = newAgentHandler(s.newAgentServer())
	s.openBooks()
	s.stories = newStories(s.Ledger.Wire, s.Now)
	e := web.New(web.Config{
		Log: d.Log, Now: d.Now, NewID: d.NewID, Trusted: cfg.Trusted, Health: d.Health,
		Observe: d.Observe, Degraded: d.Degraded,
	})
	e.Use(s.perAddress, s.retiredFirst(), describedMethod)
	s.mount(e)
	var router http.Handler = e
	if d.Trace != nil {
		router = d.Trace(e)
	}
	return &Server{edge: e, handler: s.front(router, d.Count), inner: s}
}

// Edge is where the pages are mounted: behind the limit per address.
func (s *Server) Edge() *web.Edge { return s.edge }

// Receipt is GET /receipts/{id} for readers that ask for JSON.
func (s *Server) Receipt(c echo.Context) error { return s.inner.receipt(c) }

// Login tells whose an identity token is that did not come as a bearer, by the
// same rules and against the same limit. Faults: unauthenticated, rate_limited,
// identity_provider_unavailable.
func (s *Server) Login(c echo.Context, token string) (operator.Identity, error) {
	who, standing, err := s.inner.Callers.Resolve(c.Request().Context(), caller.Request{
		Take: caller.TakeLogin, Authorization: []string{"Bearer " + token}, IP: c.RealIP(),
	})
	if standing != nil {
		showStanding(c.Response().Header(), *standing)
	}
	if err == nil {
		s.inner.somebody(c)
	}
	return who.Identity, err
}

// Table lists the mounted routes.
func (s *Server) Table() []web.Route { return s.edge.Table() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the builds of pages and waits for them.
func (s *Server) Close() {
	s.inner.closeBooks()
}

func (s *server) mount(e *web.Edge) {
	var table []web.Route
	s.takes = make(map[line]caller.Take)
	for _, r := range s.routes() {
		s.takes[line{r.method, r.path}] = r.who
		table = append(table, web.Route{
			Method: r.method, Path: r.path, Who: words(r.who), Permission: permissionOf(r), CORS: r.cors, Cache: r.cache,
			Handler: s.guard(r), EmptyFor: r.empty, Timeout: r.timeout,
		})
	}
	for _, r := range s.retired() { // gone for everybody, whatever they carry
		table = append(table, web.Route{
			Method: r.method, Path: r.path, Who: words(r.who), CORS: r.cors, Handler: r.handler,
		})
	}
	web.Mount(e, table)
}

// retiredFirst answers the retired routes whatever stands behind their prefix.
// It cannot be left to their handlers: a parameter that holds a slash names
// nothing, and old paths have many parts.
func (s *server) retiredFirst() echo.MiddlewareFunc {
	retired := map[string]bool{}
	for _, r := range s.retired() {
		retired[r.path] = true
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc { // made anew for each request
		return func(c echo.Context) error {
			if retired[c.Path()] && c.Request().Method != http.MethodOptions {
				return errGone
			}
			return next(c)
		}
	}
}
