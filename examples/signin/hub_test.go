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

var secret = regexp.MustCompile(`d[ar]t_[0-9]|the-secret`)

// hub says what a test wants, and keeps what it was asked.
type hub struct {
	*httptest.Server
	mu      sync.Mutex
	n       int
	says    map[string]http.HandlerFunc // by path, before what a hub would say
	revoked []string
	renewed int
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{says: map[string]http.HandlerFunc{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// on replaces what is said at a path; nil: as a hub would.
func (h *hub) on(path string, say http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.says[path] = say
}

func (h *hub) ended() []string {
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
	say := h.says[r.URL.Path]
	h.mu.Unlock()
	if say != nil {
		say(w, r)
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

// with gives an answer of that status.
func with(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut ends the connection without a word.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// desk is the app at work, and a browser before it.
type desk struct {
	*testing.T
	app   *app
	url   string
	agent *http.Client
	page  string // the last one
}

func sit(t *testing.T, h *hub, change ...func(*settings)) *desk {
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
	return (&desk{T: t, app: a, url: server.URL}).other()
}

// other is another browser.
func (d *desk) other() *desk {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.Fatal(err)
	}
	return &desk{T: d.T, app: d.app, url: d.url, agent: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// kept is how many sessions the app has.
func (d *desk) kept() int {
	d.app.sessions.mu.Lock()
	defer d.app.sessions.mu.Unlock()
	return len(d.app.sessions.all)
}

// gets sends a GET, or a POST if there is a form, with pairs of a header and its value. It requires a status and a text of the page,
// and that no text of the request is markup of the page.
func (d *desk) gets(status int, words, path string, form url.Values, header ...string) *http.Response {
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
		d.Errorf("%s: a text of the request is markup:\n%s", path, raw)
	}
	if d.page = html.UnescapeString(string(raw)); res.StatusCode != status || !strings.Contains(d.page, words) {
		d.Fatalf("%s: %d, want %d with %q:\n%s", path, res.StatusCode, status, words, raw)
	}
	if secret.MatchString(d.page + fmt.Sprint(res.Header)) {
		d.Errorf("%s shows a token: %v\n%s", path, res.Header, raw)
	}
	return res
}

// begin begins a sign-in and gives the state.
func (d *desk) begin() string {
	d.Helper()
	to, err := d.gets(http.StatusSeeOther, "", "/signin", nil).Location()
	if err != nil {
		d.Fatal(err)
	}
	return to.Query().Get("state")
}

// answer is the address where the hub sends the browser.
func (d *desk) answer(state string, more url.Values) string {
	q := url.Values{"state": {state}, "iss": {d.app.issuer}}
	for name, v := range more {
		q[name] = v
	}
	return "/callback?" + q.Encode()
}

func (d *desk) signIn() {
	d.Helper()
	d.gets(http.StatusSeeOther, "", d.answer(d.begin(), url.Values{"code": {"c"}}), nil)
}
