package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style []byte

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// settings contains the configuration of the app. Hub is the URL of the hub, and Base is the public URL of the app. The URLs have
// no trailing slash.
type settings struct {
	Hub, Base, ClientID, ClientSecret string
	RenewEarly                        time.Duration // time before the expiry of a token at which it is renewed
}

// requestTimeout is the time limit for all requests to the hub that one page causes. Renewals and revocations can take some
// seconds more. writeTimeout is the time limit for the whole response to the browser. It is longer than requestTimeout, so that
// the app can always respond with a page.
const (
	requestTimeout = 25 * time.Second
	writeTimeout   = time.Minute
)

// app is the sample app. It stores sessions in memory only, so all sessions end when the process ends.
type app struct {
	settings
	issuer    string
	revokeURL string // URL of the revocation endpoint
	oauth     *oauth2.Config
	pending   *pendingSignIns // in a separate cookie, so that a link to /signin does not end the session
	sessions  *sessions
}

// newApp returns an app. It reads the URLs of the endpoints from the metadata of the hub (RFC 8414), so the app needs only the
// URL of the hub. It fails if ClientID is empty, or if the hub cannot be reached or has another issuer.
func newApp(ctx context.Context, s settings) (*app, error) {
	if s.ClientID == "" {
		return nil, errors.New("CLIENT_ID is not set; register an app as described in README.md")
	}
	secure := strings.HasPrefix(s.Base, "https://")
	a := &app{settings: s, pending: newPendingSignIns(secure), sessions: newSessions(secure)}
	var meta struct {
		Issuer        string `json:"issuer"`
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
		Revocation    string `json:"revocation_endpoint"`
	}
	if err := a.sendJSON(ctx, http.MethodGet, "/.well-known/oauth-authorization-server/api/protocol/v1", request{}, &meta); err != nil {
		return nil, fmt.Errorf("read the metadata of the hub: %w", err)
	}
	if meta.Issuer != s.Hub+"/api/protocol/v1" { // the metadata of another issuer would send people to another site
		return nil, fmt.Errorf("the issuer of the hub is %s; set HUB_URL to the part before /api/protocol/v1", meta.Issuer)
	}
	a.issuer, a.revokeURL = meta.Issuer, meta.Revocation
	a.oauth = &oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, RedirectURL: s.Base + "/callback",
		// Request only the required scopes: read the user name, file calls, and use the grant for longer than 15 minutes.
		Scopes:   []string{"profile:read", "signal:create", "offline_access"},
		Endpoint: oauth2.Endpoint{AuthURL: meta.Authorization, TokenURL: meta.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	return a, nil
}

func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /signin", a.startSignIn)
	mux.HandleFunc("GET /callback", a.callback)
	mux.HandleFunc("POST /call", a.submitCall)
	mux.HandleFunc("GET /receipt/{id}", a.receipt)
	mux.HandleFunc("POST /signout", a.signOut)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(style)
	})
	// Reject forms of other sites, which could act for the signed-in person. Browsers send the origin of a request. They also do
	// not send a SameSite=Lax cookie with such a form.
	return withHeaders(http.NewCrossOriginProtection().Handler(mux))
}

// withHeaders sets security headers: pages must not be cached or framed and may load only the style of this app. It also limits
// the size of the body and the time of the request.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the URL of the callback contains a code
		h.Set("X-Content-Type-Options", "nosniff")
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// view contains the data of the page. It never contains a token.
type view struct {
	User, Key, Problem string
	Existing           string // id of the existing call on the same market; empty: none
	Receipt            *receipt
	Typed              map[string]string // values of the form that the person has entered
}

func (a *app) home(w http.ResponseWriter, r *http.Request) {
	a.show(w, http.StatusOK, a.sessions.find(r), view{})
}

// show writes the page for the session s, which may be nil.
func (a *app) show(w http.ResponseWriter, status int, s *session, v view) {
	if v.User = s.name(); v.User != "" {
		v.Key = random() // idempotency key of the form: sending it several times files one call
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := pageTemplate.Execute(w, v); err != nil {
		log.Print("page rendering failed: ", err)
	}
}

// showError shows the page with a text for err and with the form values in typed. If the grant has ended, it also ends the
// session.
func (a *app) showError(w http.ResponseWriter, s *session, err error, typed map[string]string) {
	p := problemOf(err)
	if p.endsSession {
		a.sessions.end(w, s)
		s = nil
	}
	a.showProblem(w, s, p, typed)
}

// showProblem shows the page of session s with the text of problem p and the form values in typed.
func (a *app) showProblem(w http.ResponseWriter, s *session, p problem, typed map[string]string) {
	a.show(w, p.status, s, view{Problem: p.text, Existing: p.existingCall, Typed: typed})
}
