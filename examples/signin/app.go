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

type settings struct {
	Hub, Base, ClientID, ClientSecret string
	RenewEarly                        time.Duration // how long before its end a token is renewed
}

// answerWithin is how long a page waits for the hub. Renewals and revocations go on for some
// seconds more; a server gives all of it writeWithin, so that there is always a page.
const (
	answerWithin = 25 * time.Second
	writeWithin  = time.Minute
)

// app is the whole app. What it knows of people is in memory and ends with it.
type app struct {
	settings
	issuer   string
	revoke   string // where permissions are given back
	oauth    *oauth2.Config
	begun    *begun // a cookie of its own, so that a link to /signin signs nobody out
	sessions *sessions
}

// newApp asks the hub where its endpoints are (RFC 8414): no address but the hub's is
// written down anywhere in this app.
func newApp(ctx context.Context, s settings) (*app, error) {
	if s.ClientID == "" {
		return nil, errors.New("CLIENT_ID is missing: register an app, as README.md says")
	}
	secure := strings.HasPrefix(s.Base, "https://")
	a := &app{settings: s, begun: newBegun(secure), sessions: newSessions(secure)}
	var meta struct {
		Issuer        string `json:"issuer"`
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
		Revocation    string `json:"revocation_endpoint"`
	}
	if err := a.ask(ctx, http.MethodGet, "/.well-known/oauth-authorization-server/api/protocol/v1", request{}, &meta); err != nil {
		return nil, fmt.Errorf("read what the hub says of itself: %w", err)
	}
	if meta.Issuer != s.Hub+"/api/protocol/v1" { // a document of somebody else would send people elsewhere
		return nil, fmt.Errorf("the hub calls itself %s; set HUB_URL to what stands before /api/protocol/v1", meta.Issuer)
	}
	a.issuer, a.revoke = meta.Issuer, meta.Revocation
	a.oauth = &oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, RedirectURL: s.Base + "/callback",
		// No more than it needs: to know who it is, to file calls, to go on for longer than 15 minutes.
		Scopes:   []string{"profile:read", "signal:create", "offline_access"},
		Endpoint: oauth2.Endpoint{AuthURL: meta.Authorization, TokenURL: meta.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	return a, nil
}

func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /signin", a.begin)
	mux.HandleFunc("GET /callback", a.callback)
	mux.HandleFunc("POST /call", a.call)
	mux.HandleFunc("GET /receipt/{id}", a.receipt)
	mux.HandleFunc("POST /signout", a.signOut)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(style)
	})
	// A form of another site may not act for who is signed in here. Browsers say where a
	// request comes from; the cookie, which is SameSite=Lax, would not come along either.
	return headed(http.NewCrossOriginProtection().Handler(mux))
}

// headed keeps pages out of caches and frames, and lets them load our style alone.
func headed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the callback's address holds a code
		h.Set("X-Content-Type-Options", "nosniff")
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// view is what the page shows. It never holds a token.
type view struct {
	User, Key, Problem string
	Standing           string // the call that stands in the way
	Receipt            *receipt
	Typed              map[string]string
}

func (a *app) home(w http.ResponseWriter, r *http.Request) {
	a.show(w, http.StatusOK, a.sessions.of(r), view{})
}

func (a *app) show(w http.ResponseWriter, status int, s *session, v view) {
	if v.User = s.name(); v.User != "" {
		v.Key = random() // of the form: however often it is sent, it is one call
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := pageTemplate.Execute(w, v); err != nil {
		log.Print("write the page: ", err)
	}
}

// fail shows in plain words what went wrong. Whose permission has ended is signed out.
func (a *app) fail(w http.ResponseWriter, s *session, err error, typed map[string]string) {
	p := explain(err)
	if p.ended {
		a.sessions.end(w, s)
		s = nil
	}
	a.tell(w, s, p, typed)
}

func (a *app) tell(w http.ResponseWriter, s *session, p problem, typed map[string]string) {
	a.show(w, p.status, s, view{Problem: p.words, Standing: p.standing, Typed: typed})
}
