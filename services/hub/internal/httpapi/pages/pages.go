package pages

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/docs/guide"
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Deps are the settings and services that the pages use.
type Deps struct {
	HubURL   string // public base URL of the hub, without a trailing slash
	Origin   string // origin of the public base URL
	APIURL   string // public base URL of the api, for the live feed; empty: no live feed
	LoginURL string // sign-in page of the identity provider; empty: no sign-in
	Secure   bool   // cookies have the Secure attribute
	Ledger   *ledgerclient.Client
	Pins     market.Store
	Clips    stream.Store
	Links    share.Store
	Network  *federation.Service
	Keep     time.Duration // how long data of a partner station without updates is shown
	People   People
	Messages *message.Service
	Provider string // name of the identity provider
	// PublicRead returns a handler for a public page. It accepts every valid bearer credential.
	PublicRead func(echo.HandlerFunc) echo.HandlerFunc
	// Login returns the identity of an identity token and charges the rate limit of its subject.
	Login func(c echo.Context, token string) (operator.Identity, error)
	// Visitor returns the operator of the session of a request, and the operator's handle. Both are empty without a session.
	// CountConsent charges a request for the consent page to the rate limit of the session.
	Visitor      func(c echo.Context) (grant.Visitor, string, error)
	CountConsent func(c echo.Context, who grant.Visitor) error
	// StartSession stores a session and sets its cookies. EndSession ends the session of the request. If all is true, it ends
	// every session of the operator.
	StartSession func(c echo.Context, op operator.Operator, signedInAt time.Time) error
	EndSession   func(c echo.Context, all bool) error
	// RevokeKey revokes an operator key with its signers and webhooks.
	RevokeKey   func(ctx context.Context, owner operator.ID, keyID string) error
	OwnPage     func(c echo.Context) bool // reports whether the request comes from a page of this hub
	Grants      *grant.Service
	ReceiptJSON echo.HandlerFunc // handler of /receipts/{id} for clients that accept JSON
	Now         func() time.Time
	Log         *slog.Logger
	VenueA      string                             // path segment of the primary venue
	Videos      []string                           // video hosts that the Content-Security-Policy always allows
	Programs    programv1.ProgramReadServiceClient // read API of the clock service; nil: there is no programme
	OnAir       *livestream.Service                // nil: the live pages have no broadcasts
	Ingest      *ingest.Service                    // nil: stream keys are not available
	Guides      *guide.Site                        // nil: the guides are not available
}

// People has the services that the profile pages use.
type People struct {
	Follows  *follow.Service
	Claims   *identityclaim.Service
	Payouts  identityclaim.Payouts // also finds accounts by handle
	Profiles *profile.Service
}

type site struct {
	Deps
	files
	socket    string // URL of the live feed; empty: none
	skills    responseCache[recordv1.GetSkillResponse]
	courses   responseCache[recordv1.GetCourseResponse]
	pulses    responseCache[recordv1.GetPulseResponse]
	templates map[string]*template.Template
}

// Mount adds the HTML pages to the router of the hub, and the error page for unknown paths. It returns an error if a static file
// or a template is invalid.
func Mount(e *httpx.Router, d Deps) error {
	static, err := readFiles()
	if err != nil {
		return err
	}
	s := &site{
		Deps: d, files: static, templates: map[string]*template.Template{},
		skills:  newResponseCache[recordv1.GetSkillResponse](d.Now),
		courses: newResponseCache[recordv1.GetCourseResponse](d.Now),
		pulses:  newResponseCache[recordv1.GetPulseResponse](d.Now),
	}
	if d.APIURL != "" {
		s.socket = strings.Replace(d.APIURL, "http", "ws", 1) + "/ws"
	}
	words := template.FuncMap{
		"file":      func(name string) string { return s.addresses[name] },
		"socket":    func() string { return s.socket },
		"hub":       func() string { return d.HubURL },
		"scopes":    func() []string { return grant.AllScopes().Words() },
		"has":       slices.Contains[[]string],
		"place":     func(i int) int { return i + 1 },
		"signed":    func(n int64) string { return signed(int(n)) },
		"shortWhen": func(t time.Time) string { return t.UTC().Format("2 Jan, 15:04 UTC") },
		"grouped":   grouped, "lengthOf": lengthOf, "link": link, "countOf": countOf, "nameOf": nameOf, "scopeTitle": scopeTitle,
		"shortKey": shortKey, "sideClass": sideClass, "stamp": protocol.Stamp, "trendOf": trendOf, "when": when,
		"wholePercent": wholePercent,
	}
	for _, name := range []string{
		"home", "receipt", "market", "markets", "dev", "consent", "apps", "signin", "profile", "person", "feed", "board", "network",
		"pulse", "tip", "embed", "error", "overlay", "live", "clip", "tv", "studio", "docs",
	} {
		t, err := template.New(name+".html").Funcs(words).ParseFS(templateFiles,
			"templates/base.html", "templates/passport.html", "templates/plots.html", "templates/"+name+".html")
		if err != nil {
			return fmt.Errorf("read page %s: %w", name, err)
		}
		s.templates[name] = t
	}
	httpx.Mount(e, s.routes())
	e.Use(s.unknownPath)
	return nil
}

const (
	receiptPath = "/receipts/"
	marketPath  = "/m/"
)

// withoutBearer returns a handler for a page that reads only cookies. A bearer credential is rejected, so that a client with an
// invalid one cannot take the page as a confirmation that it is valid.
func withoutBearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if len(c.Request().Header["Authorization"]) > 0 {
			return apperr.ErrCredentialWrongKind.WithText("this page accepts only the cookies of its browser; omit the header Authorization")
		}
		return next(c)
	}
}

func (s *site) routes() []httpx.Route {
	page := func(method, path, who, cache string, h echo.HandlerFunc) httpx.Route {
		if method == http.MethodGet && path != "/dev" && !strings.HasPrefix(path, "/dev/") {
			h = s.PublicRead(h)
		} else {
			h = withoutBearer(h)
		}
		return httpx.Route{Method: method, Path: path, Who: strings.Fields(who), Cache: cache, Handler: s.withAccount(h)}
	}
	return []httpx.Route{
		page(http.MethodGet, receiptPath+":id", "public", request.CacheShort, s.receipt),
		page(http.MethodGet, marketPath+":marketId", "public", request.CacheShort, s.market),
		page(http.MethodGet, marketsPath, "public", request.CacheShort, s.markets),
		page(http.MethodGet, feedPath, "public", request.CacheShort, s.feed),
		page(http.MethodGet, boardPath, "public", request.CacheShort, s.board),
		page(http.MethodGet, networkPath, "public", request.CacheShort, s.network),
		page(http.MethodGet, pulsePath, "public", request.CacheShort, s.pulse),
		page(http.MethodGet, docsPath, "public", request.CacheShort, s.docs),
		page(http.MethodGet, homePath, "public", request.CacheShort, s.home),
		page(http.MethodGet, "/dev", "login", "no-store", s.dev),
		page(http.MethodPost, "/dev/session", "login", "no-store", s.receiveToken),
		page(http.MethodGet, "/dev/session", "login", "no-store", s.startSession),
		page(http.MethodPost, "/dev/keys", "login", "no-store", s.developerForm(s.mint)),
		page(http.MethodPost, "/dev/keys/revoke", "login", "no-store", s.developerForm(s.revoke)),
		page(http.MethodPost, "/dev/apps", "login", "no-store", s.developerForm(s.registerApp)),
		page(http.MethodPost, "/dev/apps/change", "login", "no-store", s.developerForm(s.changeApp)),
		page(http.MethodPost, "/dev/apps/secret", "login", "no-store", s.developerForm(s.renewSecret)),
		page(http.MethodPost, "/dev/apps/disable", "login", "no-store", s.developerForm(s.disableApp)),
		page(http.MethodPost, "/dev/signers/revoke", "login", "no-store", s.developerForm(s.revokeSigner)),
		page(http.MethodGet, signInPath, "public", "no-store", s.signIn),
		page(http.MethodPost, signOutPath, "public", "no-store", s.signOut),
		page(http.MethodGet, authorizePath, "public session", "no-store", s.authorize),
		page(http.MethodPost, authorizePath, "session", "no-store", s.decide),
		page(http.MethodGet, appsPath, "public session", "no-store", s.apps),
		page(http.MethodPost, appsPath+"/revoke", "session", "no-store", s.disconnect),
		page(http.MethodGet, profilePath, "public session", "no-store", s.profile),
		page(http.MethodPost, profilePath, "session", "no-store", s.accountForm(s.changeProfile)),
		page(http.MethodPost, profilePath+"/claims", "session", "no-store", s.accountForm(s.claimWallet)),
		page(http.MethodPost, profilePath+"/claims/drop", "session", "no-store", s.accountForm(s.dropClaim)),
		page(http.MethodGet, personPath+":handle", "public", request.CacheShort, s.person),
		page(http.MethodGet, "/operator/:handle/embed", "public", request.CacheShort, s.embed),
		page(http.MethodGet, livePath+":handle", "public", request.CacheShort, s.live),
		page(http.MethodGet, clipPath+":id", "public", request.CacheShort, s.clip),
		page(http.MethodGet, tipPath+":handle", "public", request.CacheShort, s.tip),
		page(http.MethodGet, tvPath, "public", "no-store", s.tv),
		page(http.MethodGet, studioPath, "public session", "no-store", s.studio),
		page(http.MethodPost, ingestPath, "login", "no-store", s.provision),
		{
			Method: http.MethodGet, Path: "/overlay/:handle", Who: []string{"public"}, Cache: request.CacheShort,
			Handler: s.withPageHeaders(s.PublicRead(s.overlay)),
		},
		page(http.MethodPost, personPath+":handle/follow", "session", "no-store", s.follow),
		page(http.MethodPost, personPath+":handle/unfollow", "session", "no-store", s.unfollow),
		{
			Method: http.MethodGet, Path: docsPath + "/", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.withPageHeaders(s.PublicRead(s.docsFolder)),
		},
		{
			Method: http.MethodGet, Path: guidesPath, Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.withPageHeaders(s.PublicRead(s.firstGuide)),
		},
		{
			Method: http.MethodGet, Path: guidesPath + "/", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.withPageHeaders(s.PublicRead(s.guides)),
		},
		{
			Method: http.MethodGet, Path: guidesPath + "/:file", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.withPageHeaders(s.PublicRead(s.guides)),
		},
		{
			Method: http.MethodGet, Path: "/static/:file", Who: []string{"public"}, Cache: "public, max-age=31536000, immutable",
			Handler: s.PublicRead(s.static),
		},
	}
}

// policy is the default Content-Security-Policy. It allows only styles, images and form targets of this host. Pages that run
// scripts or that other sites may frame have their own policies.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// withAccount is like withPageHeaders, for pages whose header shows the account of the visitor. It also sets the cache headers of
// such pages.
func (s *site) withAccount(h echo.HandlerFunc) echo.HandlerFunc {
	return s.withPageHeaders(func(c echo.Context) error {
		s.setCacheHeaders(c)
		return h(c)
	})
}

// withPageHeaders sets the security headers of a page and renders an error page if h fails. Clients that prefer JSON get the
// error as JSON. An internal error is always returned as JSON.
func (s *site) withPageHeaders(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		header.Add("Vary", "Accept")
		err := h(c)
		if err == nil {
			return nil
		}
		f := apperr.Of(err)
		if f.Kind == apperr.Unauthenticated {
			header.Set("WWW-Authenticate", "Bearer") // RFC 9110 15.5.2 requires a challenge
		}
		if wantsJSON(c.Request()) {
			return err
		}
		if f.Kind == apperr.Internal {
			return err // the router logs internal errors and answers them as JSON
		}
		header.Set("Cache-Control", "no-store")
		if f.Kind == apperr.Unavailable {
			header.Set("Retry-After", "1")
		}
		return s.render(c, httpx.Status(f.Kind), "error", newErrorPage(s.newLayout(c, "", "", ""), f))
	}
}

// layout has the data for the header, the footer and the metadata of a page.
type layout struct {
	Title, Description, URL string
	OGType                  string          // og:type; empty: article
	Image, OEmbed           string          // URLs of the card image and of the oEmbed document; empty: none
	Stylesheet              string          // file of an additional style sheet; empty: none
	Nav                     string          // name of the highlighted entry of the navigation
	Wide                    bool            // the page has several columns on wide screens
	Unlisted                bool            // search engines must not index the page
	Unavailable             map[string]bool // names of the parts that could not be read
	Account                 account
}

func (s *site) newLayout(c echo.Context, title, description, path string) layout {
	f := layout{Title: "Signalcast", Description: description, Account: s.accountOf(c)}
	if title != "" {
		f.Title = title + " · Signalcast"
	}
	if path != "" {
		f.URL = s.HubURL + path
	}
	return f
}

// addPreview adds the URLs of the card image and of the oEmbed document, which other sites use for link previews.
func (f *layout) addPreview(hubURL, kind, id string) {
	f.Image = hubURL + "/api/card/" + kind + "/" + url.PathEscape(id) + ".png"
	f.OEmbed = hubURL + "/api/embed/oembed?format=json&url=" + url.QueryEscape(f.URL)
}

type errorPage struct {
	layout
	Code             int
	Heading, Message string
}

func newErrorPage(f layout, reason *apperr.Fault) errorPage {
	p := errorPage{layout: f, Code: httpx.Status(reason.Kind), Heading: "Something went wrong", Message: reason.Message}
	if p.Account.SignInURL != "" { // a sign-in must not return to an error page
		p.Account.SignInURL = signInPath
	}
	switch reason.Kind {
	case apperr.NotFound:
		p.Heading, p.Message = "Page not found", "There is no page at this address."
	case apperr.Unauthenticated:
		p.Heading, p.Message = "Please sign in", "Open the page again and sign in."
		if reason == errNoLogin {
			p.Message = reason.Message
		}
	case apperr.Forbidden:
		if p.Message == "" {
			p.Message = errCrossOrigin.Message
		}
	case apperr.Limited:
		p.Heading, p.Message = "Too many requests", "Wait a moment and try again."
	case apperr.Unavailable:
		p.Heading, p.Message = "Temporarily unavailable", "This page is temporarily unavailable. Try again in a minute."
	}
	return p
}

func (s *site) render(c echo.Context, status int, name string, data any) error {
	var b bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&b, name+".html", data); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	return c.HTMLBlob(status, b.Bytes())
}

// wantsJSON reports whether the client prefers JSON to HTML.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
