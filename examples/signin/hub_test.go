package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// secret matches the tokens and the client secret of the tests.
var secret = regexp.MustCompile(`d[ar]t_[0-9]|the-secret`)

// hub is a fake of the hub service. A test can replace the answers of a path.
type hub struct {
	*httptest.Server
	mu       sync.Mutex
	n        int                         // number of issued tokens
	handlers map[string]http.HandlerFunc // replaced answers, by path
	revoked  []string                    // revoked tokens
	renewed  int                         // number of renewals
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{handlers: map[string]http.HandlerFunc{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// on replaces the handler of a path; nil: the default answer.
func (h *hub) on(path string, handler http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handlers[path] = handler
}

// revokedTokens returns the tokens that the app has revoked.
func (h *hub) revokedTokens() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.revoked)
}

func (h *hub) renewals() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renewed
}

// ServeHTTP implements http.Handler.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const issuer = "/api/protocol/v1"
	h.mu.Lock()
	handler := h.handlers[r.URL.Path]
	h.mu.Unlock()
	if handler != nil {
		handler(w, r)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]any{}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server" + issuer:
		answer = map[string]any{"issuer": h.URL + issuer, "authorization_endpoint": h.URL + "/authorize", "token_endpoint": h.URL + "/token", "revocation_endpoint": h.URL + "/revoke"}
	case "/token":
		h.n++
		if r.PostFormValue("grant_type") == "refresh_token" {
			h.renewed++
		}
		answer = map[string]any{"access_token": fmt.Sprintf("dat_%d", h.n), "refresh_token": fmt.Sprintf("drt_%d", h.n), "expires_in": 900, "token_type": "Bearer"}
	case "/revoke":
		h.revoked = append(h.revoked, r.PostFormValue("token"))
	case issuer + "/me":
		answer = map[string]any{"username": "who_" + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer dat_")}
	case issuer + "/signals":
		answer = map[string]any{"id": "the-call"}
	default:
		answer = map[string]any{"id": "the-call", "marketId": "1", "marketTitle": "Will it rain?", "direction": "YES", "priceAtPrediction": 6100, "status": "pending"}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// with returns a handler that answers with a status and a body.
func with(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut closes the connection without an answer.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// browser is an HTTP client that uses the pages of a running example app: it keeps cookies and submits forms. Its methods fail
// the test if a page is not the expected one.
type browser struct {
	*testing.T
	app   *app
	url   string
	agent *http.Client
	page  string // text of the last page
}

// newBrowser starts an app that uses the hub h, and returns a browser of the app. The functions in change change the settings
// of the app.
func newBrowser(t *testing.T, h *hub, change ...func(*settings)) *browser {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	s := settings{Hub: h.URL, Base: "http://" + server.Listener.Addr().String(), ClientID: "app", ClientSecret: "the-secret"}
	for _, c := range change {
		c(&s)
	}
	a, err := newApp(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = a.routes()
	server.Start()
	t.Cleanup(server.Close)
	return (&browser{T: t, app: a, url: server.URL}).other()
}

// other returns another browser of the same app.
func (d *browser) other() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.Fatal(err)
	}
	agent := &http.Client{Jar: jar, CheckRedirect: client.CheckRedirect}
	return &browser{T: d.T, app: d.app, url: d.url, agent: agent}
}

// sessionCount returns the number of sessions of the app.
func (d *browser) sessionCount() int {
	d.app.sessions.mu.Lock()
	defer d.app.sessions.mu.Unlock()
	return len(d.app.sessions.all)
}

// gets sends a GET request, or a POST request with form unless form is nil. header contains pairs of a header name and its
// value. The test fails unless the response has the given status and contains text, or if the response contains a secret or
// markup of the request.
func (d *browser) gets(status int, text, path string, form url.Values, header ...string) *http.Response {
	d.Helper()
	r, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if form != nil {
		r, err = http.NewRequest(http.MethodPost, d.url+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err != nil {
		d.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := d.agent.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		d.Fatal(err)
	}
	if strings.Contains(string(raw), "<script>x") {
		d.Errorf("%s: the page contains a text of the request as markup:\n%s", path, raw)
	}
	if d.page = html.UnescapeString(string(raw)); res.StatusCode != status || !strings.Contains(d.page, text) {
		d.Fatalf("%s: %d, want %d with %q:\n%s", path, res.StatusCode, status, text, raw)
	}
	if secret.MatchString(d.page + fmt.Sprint(res.Header)) {
		d.Errorf("%s shows a token: %v\n%s", path, res.Header, raw)
	}
	return res
}

// begin starts a sign-in and returns its state.
func (d *browser) begin() string {
	d.Helper()
	to, err := d.gets(http.StatusSeeOther, "", "/signin", nil).Location()
	if err != nil {
		d.Fatal(err)
	}
	return to.Query().Get("state")
}

// answer returns the path and query of the callback URL to which the hub redirects the browser. more contains further query
// parameters.
func (d *browser) answer(state string, more url.Values) string {
	q := url.Values{"state": {state}, "iss": {d.app.issuer}}
	for name, v := range more {
		q[name] = v
	}
	return "/callback?" + q.Encode()
}

// signIn completes a sign-in, which must succeed.
func (d *browser) signIn() {
	d.Helper()
	d.gets(http.StatusSeeOther, "", d.answer(d.begin(), url.Values{"code": {"c"}}), nil)
}
