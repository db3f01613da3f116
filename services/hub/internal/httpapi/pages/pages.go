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
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Deps is what the pages show and ask.
type Deps struct {
	HubURL   string // public base, without a slash at the end
	Origin   string // of the public base, as a browser names it
	APIURL   string // public base of the api, for the live feed; empty: pages show none
	LoginURL string // sign-in page of the identity provider; empty: none
	Secure   bool   // cookies travel over https alone
	Ledger   *ledgerclient.Client
	Pins     market.Store
	Network  *federation.Service
	Keep     time.Duration // how long rows of a silent partner are shown
	People   People
	Messages *message.Service
	Provider string // what the identity provider is called
	// Login tells whose an identity token is and counts the call against its subject.
	Login func(c echo.Context, token string) (operator.Identity, error)
	// Visitor tells who has a session and how this operator is called; nobody is no
	// fault. CountConsent counts a look at the page that asks for a grant.
	Visitor      func(c echo.Context) (grant.Visitor, string, error)
	CountConsent func(c echo.Context, who grant.Visitor) error
	// StartSession stores a session and sets its cookies. EndSession ends the session of
	// the request, or every session of its operator.
	StartSession func(c echo.Context, op operator.Operator, signedInAt time.Time) error
	EndSession   func(c echo.Context, all bool) error
	// RevokeKey revokes an operator key with what was made with it.
	RevokeKey   func(ctx context.Context, owner operator.ID, keyID string) error
	OwnPage     func(c echo.Context) bool // the request comes from a page of this service
	Grants      *grant.Service
	ReceiptJSON echo.HandlerFunc // /receipts/{id} for readers that ask for JSON
	Now         func() time.Time
	Log         *slog.Logger
	VenueA      string                             // name of the primary venue in paths
	Videos      []string                           // hosts that pages may always load streams from
	Programs    programv1.ProgramReadServiceClient // of the clock; nil: there is no programme
	OnAir       *livestream.Service                // nil: no operator is shown as live
	Ingest      *ingest.Service                    // nil: no streams are provisioned here
	Guides      *guide.Site                        // nil: there are none
}

// People has the services of the pages about people.
type People struct {
	Follows  *follow.Service
	Claims   *identityclaim.Service
	Payouts  identityclaim.Payouts // finds accounts by handle, too
	Profiles *profile.Service
}

type site struct {
	Deps
	files
	socket    string // address of the live feed; empty: none
	skills    cached[recordv1.GetSkillResponse]
	courses   cached[recordv1.GetCourseResponse]
	pulses    cached[recordv1.GetPulseResponse]
	templates map[string]*template.Template
}

// Mount adds the pages to the hub's edge.
func Mount(e *httpx.Router, d Deps) error {
	static, err := readFiles()
	if err != nil {
		return err
	}
	s := &site{
		Deps: d, files: static, templates: map[string]*template.Template{},
		skills:  newCached[recordv1.GetSkillResponse](d.Now),
		courses: newCached[recordv1.GetCourseResponse](d.Now),
		pulses:  newCached[recordv1.GetPulseResponse](d.Now),
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
		"grouped":   grouped, "lengthOf": lengthOf, "link": link, "many": many, "nameOf": nameOf, "scopeWord": scopeWord,
		"shortKey": shortKey, "sideClass": sideClass, "stamp": protocol.Stamp, "wayOf": wayOf, "when": when, "wholePercent": wholePercent,
	}
	for _, name := range []string{
		"receipt", "market", "markets", "dev", "consent", "apps", "signin", "profile", "person", "feed", "board", "network",
		"pulse", "embed", "error", "overlay", "live", "tv", "studio", "docs",
	} {
		t, err := template.New(name+".html").Funcs(words).ParseFS(templateFiles,
			"templates/base.html", "templates/passport.html", "templates/plots.html", "templates/"+name+".html")
		if err != nil {
			return fmt.Errorf("read page %s: %w", name, err)
		}
		s.templates[name] = t
	}
	httpx.Mount(e, s.routes())
	return nil
}

const (
	receiptPath = "/receipts/"
	marketPath  = "/m/"
)

// cacheShort lets shared caches keep a page that everybody sees alike.
const cacheShort = "public, s-maxage=10"

func (s *site) routes() []httpx.Route {
	page := func(method, path, who, cache string, h echo.HandlerFunc) httpx.Route {
		return httpx.Route{Method: method, Path: path, Who: []string{who}, Cache: cache, Handler: s.shown(httpx.Anonymous(h))}
	}
	return []httpx.Route{
		page(http.MethodGet, receiptPath+":id", "public", cacheShort, s.receipt),
		page(http.MethodGet, marketPath+":marketId", "public", cacheShort, s.market),
		page(http.MethodGet, marketsPath, "public", cacheShort, s.markets),
		page(http.MethodGet, feedPath, "public", cacheShort, s.feed),
		page(http.MethodGet, boardPath, "public", cacheShort, s.board),
		page(http.MethodGet, networkPath, "public", cacheShort, s.network),
		page(http.MethodGet, pulsePath, "public", cacheShort, s.pulse),
		page(http.MethodGet, docsPath, "public", cacheShort, s.docs),
		page(http.MethodGet, "/", "public", "no-store", s.front),
		page(http.MethodGet, "/dev", "login", "no-store", s.dev),
		page(http.MethodPost, "/dev/session", "login", "no-store", s.handOver),
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
		page(http.MethodGet, authorizePath, "session", "no-store", s.authorize),
		page(http.MethodPost, authorizePath, "session", "no-store", s.decide),
		page(http.MethodGet, appsPath, "session", "no-store", s.connected),
		page(http.MethodPost, appsPath+"/revoke", "session", "no-store", s.disconnect),
		page(http.MethodGet, profilePath, "session", "no-store", s.profile),
		page(http.MethodPost, profilePath, "session", "no-store", s.accountForm(s.changeProfile)),
		page(http.MethodPost, profilePath+"/claims", "session", "no-store", s.accountForm(s.claimWallet)),
		page(http.MethodPost, profilePath+"/claims/drop", "session", "no-store", s.accountForm(s.dropClaim)),
		page(http.MethodGet, personPath+":handle", "public", cacheShort, s.person),
		page(http.MethodGet, "/operator/:handle/embed", "public", cacheShort, s.embed),
		page(http.MethodGet, livePath+":handle", "public", cacheShort, s.live),
		page(http.MethodGet, tvPath, "public", "no-store", s.tv),
		page(http.MethodGet, studioPath, "session", "no-store", s.studio),
		page(http.MethodPost, ingestPath, "login", "no-store", s.provision),
		{Method: http.MethodGet, Path: "/overlay/:handle", Who: []string{"public"}, Cache: cacheShort, Handler: s.dressed(httpx.Anonymous(s.overlay))},
		page(http.MethodPost, personPath+":handle/follow", "session", "no-store", s.follow),
		page(http.MethodPost, personPath+":handle/unfollow", "session", "no-store", s.unfollow),
		{Method: http.MethodGet, Path: docsPath + "/", Who: []string{"public"}, Cache: cacheGuides, Handler: s.dressed(httpx.Anonymous(s.docsFolder))},
		{Method: http.MethodGet, Path: guidesPath, Who: []string{"public"}, Cache: cacheGuides, Handler: s.dressed(httpx.Anonymous(s.firstGuide))},
		{Method: http.MethodGet, Path: guidesPath + "/", Who: []string{"public"}, Cache: cacheGuides, Handler: s.dressed(httpx.Anonymous(s.guides))},
		{Method: http.MethodGet, Path: guidesPath + "/:file", Who: []string{"public"}, Cache: cacheGuides, Handler: s.dressed(httpx.Anonymous(s.guides))},
		{Method: http.MethodGet, Path: "/static/:file", Who: []string{"public"}, Cache: "public, max-age=31536000, immutable", Handler: httpx.Anonymous(s.static)},
	}
}

// policy lets a page load its own style and pictures and nothing else. No page of ours
// may be framed but the embed and the overlay, and none runs a script that does not say so.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// shown writes the headers of a page and turns a fault into a page of its own.
func (s *site) shown(h echo.HandlerFunc) echo.HandlerFunc {
	return s.dressed(func(c echo.Context) error {
		s.headed(c)
		return h(c)
	})
}

// dressed is shown for a page that has no head and knows nobody.
func (s *site) dressed(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		header.Add("Vary", "Accept")
		err := h(c)
		if err == nil || wantsJSON(c.Request()) {
			return err
		}
		f := apperr.Of(err)
		if f.Kind == apperr.Internal {
			return err // logged and written in the one shape
		}
		header.Set("Cache-Control", "no-store")
		if f.Kind == apperr.Unavailable {
			header.Set("Retry-After", "1")
		}
		return s.render(c, httpx.Status(f.Kind), "error", failure(s.frame(c, "", "", ""), f))
	}
}

// frame has the data of the header and footer, which every page has.
type frame struct {
	Title, Description, URL string
	Kind                    string          // og:type; empty: article
	Image, OEmbed           string          // address of the card of the page and of its oEmbed description; empty: none
	Look                    string          // file of a second style; empty: none
	Here                    string          // entry of the navigation that is marked as current
	Wide                    bool            // more than one column on wide screens
	Unlisted                bool            // not for search engines
	Away                    map[string]bool // parts that could not be read
	Account                 account
}

func (s *site) frame(c echo.Context, title, description, path string) frame {
	f := frame{Title: "Signalcast", Description: description, Account: s.accountOf(c)}
	if title != "" {
		f.Title = title + " · Signalcast"
	}
	if path != "" {
		f.URL = s.HubURL + path
	}
	return f
}

// shared adds what others show where the page is linked to.
func (f *frame) shared(hubURL, kind, id string) {
	f.Image = hubURL + "/api/card/" + kind + "/" + url.PathEscape(id) + ".png"
	f.OEmbed = hubURL + "/api/embed/oembed?format=json&url=" + url.QueryEscape(f.URL)
}

type errorPage struct {
	frame
	Code             int
	Heading, Message string
}

func failure(f frame, reason *apperr.Fault) errorPage {
	p := errorPage{frame: f, Code: httpx.Status(reason.Kind), Heading: "Something went wrong", Message: reason.Message}
	if p.Account.SignIn != "" { // there is nothing to come back to
		p.Account.SignIn = signInPath
	}
	switch reason.Kind {
	case apperr.NotFound:
		p.Heading, p.Message = "Page not found", "We could not find that page."
	case apperr.Unauthenticated:
		p.Heading, p.Message = "Please sign in", "Open the page again and sign in."
		if reason == errNoLogin {
			p.Message = reason.Message
		}
	case apperr.Forbidden:
		if p.Message == "" {
			p.Message = errForeign.Message
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

// front sends a visitor of the bare address to the page that explains.
func (s *site) front(c echo.Context) error {
	return c.Redirect(http.StatusFound, "/dev")
}

// wantsJSON reports a reader that prefers the record to the page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
