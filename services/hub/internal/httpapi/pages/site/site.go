package site

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/docs/guide"
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/telemetry"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
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
	"github.com/signalcast/signalcast/services/hub/internal/stream"
	"github.com/signalcast/signalcast/services/hub/internal/watch"
)

// Deps are the settings and services that the pages use.
type Deps struct {
	HubURL   string // public base URL of the hub, without a trailing slash
	Origin   string // origin of the public base URL
	APIURL   string // public base URL of the api, for the live feed; empty: no live feed
	LoginURL string // sign-in page of the identity provider; empty: no sign-in
	Secure   bool   // cookies have the Secure attribute
	// SecurityContact is the URL for reports of vulnerabilities; empty: none.
	SecurityContact string
	ReleasedAt      time.Time // time of the release of the program; zero if unknown
	// Withheld returns the operators whom an administrator has hidden or suspended, by handle.
	Withheld func(ctx context.Context) (map[string]bool, error)
	// FailedChecks returns the names of the checks that the hub fails, and Missing has the sources that responses lacked.
	FailedChecks func(ctx context.Context) []string
	Missing      *DegradedSources
	Ledger       *ledgerclient.Client
	Pins         market.Store
	Clips        stream.Store
	Links        share.Store
	Network      *federation.Service
	Keep         time.Duration // how long data of a partner station without updates is shown
	People       People
	Notices      notification.Store
	Push         notification.Subscriptions
	PushKey      string // public key of this installation for web push; empty: there is no web push
	Email        *email.Service
	Messages     *message.Service
	Provider     string // name of the identity provider
	// PublicRead returns a handler for a public page. It accepts every valid bearer credential.
	PublicRead func(echo.HandlerFunc) echo.HandlerFunc
	// Login returns the identity of an identity token and charges the rate limit of its subject.
	Login func(c echo.Context, token string) (operator.Identity, error)
	// Visitor returns the operator of the session of a request, and the operator's handle. Both are empty without a session.
	// CountConsent charges a request for the consent page to the rate limit of the session.
	Visitor      func(c echo.Context) (grant.Visitor, string, error)
	CountConsent func(c echo.Context, who grant.Visitor) error
	// StartSession stores a session and sets its cookies; address is the encrypted address that the provider has verified.
	// EndSession ends the session of the request. If all is true, it ends every session of the operator.
	StartSession func(c echo.Context, op operator.Operator, signedInAt time.Time, address string) error
	EndSession   func(c echo.Context, all bool) error
	// SessionOwner returns the operator that the session cookies name, also if the session has ended; "" without one. Seal
	// encrypts a text for a cookie, and Unseal decrypts it.
	SessionOwner func(c echo.Context) operator.ID
	Seal         func(plain []byte) string
	Unseal       func(sealed string) ([]byte, error)
	// AppendEvent appends an event to a call. members are the members of the body of POST /api/signals/{id}/events. The same key
	// again stores nothing.
	AppendEvent func(ctx context.Context, by operator.ID, signalID string, members map[string]any, key string) error
	// FileCall files a call and returns its id. members are members of the body of POST /api/predictions. The same key again
	// returns the id of the stored call.
	FileCall func(ctx context.Context, by operator.ID, members map[string]any, key string) (string, error)
	// Sessions lists and ends the sessions of operators. SessionStart returns the time at which the session of a request was issued, in
	// whole seconds, or the zero time.
	Sessions     Sessions
	SessionStart func(c echo.Context) time.Time
	// SendReport stores a report for the administrators.
	SendReport func(ctx context.Context, r moderation.Report) error
	// MintKey creates an operator key.
	MintKey func(ctx context.Context, owner operator.ID, draft operator.KeyDraft) (*operatorv1.MintKeyResponse, error)
	// RevokeKey revokes an operator key with its signers and webhooks.
	RevokeKey func(ctx context.Context, owner operator.ID, keyID string) error
	OwnPage   func(c echo.Context) bool // reports whether the request comes from a page of this hub
	// FormToken returns the token that the forms of the visitor carry, and IsFormToken checks it. login is the identity token of a
	// visitor without a session.
	FormToken   func(c echo.Context, login string) string
	IsFormToken func(c echo.Context, login, token string) bool
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
	Reference   *reference.Document                // API reference
}

// People has the services that the profile pages use.
type People struct {
	Follows  *follow.Service
	Claims   *identityclaim.Service
	Payouts  identityclaim.Payouts // also finds accounts by handle
	Profiles *profile.Service
	Watches  watch.Store
	Data     account.Store
	// Archive streams everything that is stored about an operator as a ZIP archive. Error: rate_limited.
	Archive  func(c echo.Context, me operator.Operator) error
	Deletion account.Deletion
	Handles  account.Handles
	Pictures *picture.Service
}

// Sessions lists and ends the sessions of operators. Error of its methods: db_unavailable.
type Sessions interface {
	// List returns the active sessions of an operator, the last used first.
	List(ctx context.Context, id operator.ID) ([]caller.StoredSession, error)
	// EndOne ends the session of an operator that was issued at a second. It does nothing if there is none.
	EndOne(ctx context.Context, id operator.ID, issuedAt time.Time) error
}

// Site has what the pages share: the settings, the services and the templates.
type Site struct {
	Deps
	Templates map[string]*template.Template // by name of the page
	Pages     []string                      // paths of the pages as patterns of path.Match
}

// WithoutBearer returns a handler for a page that reads only cookies. A bearer credential is rejected, so that a client with an
// invalid one cannot take the page as a confirmation that it is valid.
func WithoutBearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if len(c.Request().Header["Authorization"]) > 0 {
			return apperr.ErrCredentialWrongKind.WithText("this page accepts only the cookies of its browser; omit the header Authorization")
		}
		return next(c)
	}
}

// Policy is the base of Content-Security-Policies. It allows only styles, images and form targets of this host.
const Policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// PagePolicy is the Content-Security-Policy of a page with the header, whose scripts search and show local times. Pages that load
// video or that other sites may frame have their own policies.
const PagePolicy = Policy + "; script-src 'self'; connect-src 'self'"

// WithAccount is like WithPageHeaders, for pages whose header shows the account of the visitor. It also sets the cache headers of
// such pages.
func (s *Site) WithAccount(h echo.HandlerFunc) echo.HandlerFunc {
	return s.WithPageHeaders(func(c echo.Context) error {
		s.setCacheHeaders(c)
		return h(c)
	})
}

// WithPageHeaders sets the security headers of a page and renders an error page if h fails. Clients that prefer JSON get the
// error as JSON.
func (s *Site) WithPageHeaders(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", PagePolicy)
		header.Set("X-Frame-Options", "DENY")
		// Browsers send the Origin header with the forms of a page, and keep its URL from other sites: it can have the
		// parameters of an authorization request.
		header.Set("Referrer-Policy", "same-origin")
		header.Add("Vary", "Accept")
		err := h(c)
		if err == nil {
			return nil
		}
		f := apperr.Of(err)
		if f.Kind == apperr.Unauthenticated {
			header.Set("WWW-Authenticate", "Bearer") // RFC 9110 15.5.2 requires a challenge
		}
		if WantsJSON(c.Request()) || c.Response().Committed {
			return err
		}
		if f.Kind == apperr.Internal {
			ctx := c.Request().Context()
			s.Log.ErrorContext(ctx, "page failed", "request_id", telemetry.RequestID(ctx), "route", c.Path(), "error", err)
		}
		header.Set("Cache-Control", "no-store")
		if f.Kind == apperr.Unavailable {
			header.Set("Retry-After", "1")
		}
		return s.Render(c, httpx.Status(f.Kind), "error", newErrorPage(s.NewLayout(c, "", "", ""), f, c.Param("handle")))
	}
}

// Layout has the data for the header, the footer and the metadata of a page.
type Layout struct {
	Title, Description, URL string
	OGType                  string          // og:type; empty: article
	Image, OEmbed           string          // URLs of the card image and of the oEmbed document; empty: none
	Feed                    string          // path of the Atom feed of the page; empty: none
	Nav                     string          // name of the highlighted entry of the navigation
	Wide                    bool            // the page has several columns on wide screens
	Unlisted                bool            // search engines must not index the page
	WithoutScripts          bool            // the page loads no scripts
	Unavailable             map[string]bool // names of the parts that could not be read
	Account                 Account
	Theme                   string // light or dark; empty: the theme of the system
	WithoutShortcut         bool   // the key / does not move the focus to the search field
	FormToken               string // value of the field csrf of all forms; empty without a session
	DeletesOn               string // date on which the account of the visitor is deleted; empty: none
	SearchText              string // text in the search field of the header
}

// NewLayout returns the layout of a page. An empty title is replaced with the name of the service; an empty path gives the page no
// canonical URL.
func (s *Site) NewLayout(c echo.Context, title, description, path string) Layout {
	f := Layout{Title: "Signalcast", Description: description, Account: s.accountOf(c), Theme: Theme(c), WithoutShortcut: WithoutShortcut(c)}
	if title != "" {
		f.Title = title + " · Signalcast"
	}
	if path != "" {
		f.URL = s.HubURL + path
	}
	if v := s.Viewer(c); v.Handle != "" || v.Err != nil {
		f.FormToken, f.DeletesOn = s.TokenOf(c), v.DeletesOn()
	}
	return f
}

// AddPreview adds the URLs of the card image and of the oEmbed document, which other sites use for link previews.
func (f *Layout) AddPreview(hubURL, kind, id string) {
	f.Image = hubURL + "/api/card/" + kind + "/" + url.PathEscape(id) + ".png"
	f.OEmbed = hubURL + "/api/embed/oembed?format=json&url=" + url.QueryEscape(f.URL)
}

type errorPage struct {
	Layout
	Code             int
	Heading, Message string
	Closed           bool // the account of the visitor is closed; the settings open it again
}

// newErrorPage returns the page of an error. handle is the handle in the path, which may be invalid; empty: the path has none.
func newErrorPage(f Layout, reason *apperr.Fault, handle string) errorPage {
	p := errorPage{Layout: f, Code: httpx.Status(reason.Kind), Heading: "Something went wrong", Message: reason.Message}
	if p.Account.SignInURL != "" { // a sign-in must not return to an error page
		p.Account.SignInURL = SignInPath
	}
	switch reason.Kind {
	case apperr.NotFound:
		p.Heading, p.Message = "Page not found", "There is no page at this address."
		if named, err := protocol.ParseHandle(strings.ToLower(handle)); err == nil && reason != livestream.ErrNoShow {
			p.Message = "No forecaster is called @" + string(named) + "."
		}
	case apperr.Unauthenticated:
		p.Heading, p.Message = "Please sign in", "Open the page again and sign in."
		if reason == errNoLogin {
			p.Message = reason.Message
		}
	case apperr.Forbidden:
		if p.Message == "" {
			p.Message = ErrCrossOrigin.Message
		}
		switch {
		case IsExpired(reason):
			p.Heading = "Nothing was sent"
		case reason.Code == operator.ErrClosing.Code:
			p.Heading, p.Closed = "Your account is closed", true
			p.Message = "Your account will be deleted on " + f.DeletesOn + ". Until then it cannot make or update calls, follow, mute, " +
				"watch, report or change its profile. Nothing was sent. Cancel the deletion to open it again."
		}
	case apperr.Limited:
		p.Heading, p.Message = "Too many requests", "Wait a moment and try again."
	case apperr.Unavailable:
		p.Heading, p.Message = "Temporarily unavailable", "This page is temporarily unavailable. Try again in a minute."
	case apperr.Internal:
		p.Message = "The error has been recorded. Try again in a minute."
	}
	return p
}

// Render answers with the page of a template.
func (s *Site) Render(c echo.Context, status int, name string, data any) error {
	var b bytes.Buffer
	if err := s.Templates[name].ExecuteTemplate(&b, name+".html", data); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	return WriteBody(c, status, echo.MIMETextHTMLCharsetUTF8, b.Bytes())
}

// WriteBody answers with a document, compressed if the client accepts gzip.
func WriteBody(c echo.Context, status int, mediaType string, body []byte) error {
	h := c.Response().Header()
	h.Add("Vary", "Accept-Encoding")
	if packed := httpcache.Gzip(c.Request(), body); packed != nil {
		h.Set("Content-Encoding", "gzip")
		body = packed
	}
	return c.Blob(status, mediaType, body)
}

// WantsJSON reports whether the client prefers JSON to HTML.
func WantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
