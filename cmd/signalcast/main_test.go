package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

const (
	key      = "dk_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ"
	token    = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJtYXJhX2sifQ.c2ln"
	signalID = "0199f0a4-2222-7000-8000-000000000002"
)

// server is a fake service that records the requests.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string // bodies of requests
}

// serve starts a server that gives the answers in order, one for each request, and repeats the last one.
func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
		answer := answers[min(len(s.requests), len(answers))-1]
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// respond returns a handler that answers with a status, a body and headers. header alternates names and values.
func respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// shell runs commands of the program in a test, with a separate folder for settings.
type shell struct {
	t          *testing.T
	home       string   // XDG_CONFIG_HOME
	in         string   // standard input
	inTerminal bool     // the standard input is a terminal
	width      int      // width of the terminal; 0 means no limit
	color      bool     // the terminal has colors
	piped      bool     // the output is not a terminal
	hidden     string   // line that the command reads from the terminal without showing it
	opened     []string // addresses that the command opened in a browser
	progress   bool     // progress is written to the standard error also if the input is not a terminal
	waited     []time.Duration
	ctx        context.Context // context of the command; nil means the context of the test
	stop       func()          // ends ctx
}

// newShell returns a shell without stored settings and without settings in the environment variables.
func newShell(t *testing.T) *shell {
	t.Helper()
	d := &shell{t: t, home: t.TempDir()}
	t.Setenv("XDG_CONFIG_HOME", d.home)
	for _, name := range []string{"SIGNALCAST_HUB", "SIGNALCAST_API", "SIGNALCAST_KEY"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	return d
}

func (d *shell) config() string { return filepath.Join(d.home, "signalcast", "config.json") }

// run runs a command and returns its standard output and its standard error output. It fails the test if the exit code is not
// want, or if one of the outputs contains the key or the token.
func (d *shell) run(want int, args ...string) (out, errOut string) {
	d.t.Helper()
	var to, bad bytes.Buffer
	ctx := d.ctx
	if ctx == nil {
		ctx = d.t.Context()
	}
	streams := &verbs.Streams{
		In: strings.NewReader(d.in), InTerminal: d.inTerminal, Out: &to, Terminal: !d.piped, Width: d.width, Color: d.color,
		ReadHidden: func(context.Context) (string, error) { return d.hidden, nil },
		Browse:     func(address string) bool { d.opened = append(d.opened, address); return true },
		Wait:       func(_ context.Context, pause time.Duration) error { d.waited = append(d.waited, pause); return nil },
	}
	if d.inTerminal || d.progress {
		streams.Err = &bad
	}
	code := run(ctx, args, &bad, streams)
	if code != want {
		d.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, code, want, &to, &bad)
	}
	if all := to.String() + bad.String(); strings.Contains(all, key) || strings.Contains(all, token) {
		d.t.Fatalf("the output of %q contains a secret:\n%s", args, all)
	}
	return to.String(), bad.String()
}

// requireContains reports a test error for each of words that a text does not contain.
func (d *shell) requireContains(text string, words ...string) {
	d.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			d.t.Errorf("the output does not contain %q:\n%s", w, text)
		}
	}
}

func TestCall(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, `{"ok":true,"id":"`+signalID+`"}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--confidence", "70", "--take", "It falls.", "--hub",
		hub.URL+"/")
	d.requireContains(out, "NO on 701122 at 68.5 cents", hub.URL+"/receipts/"+signalID)
	const want = `{"confidence":70,"direction":"NO","marketId":"701122","maxSlippageBps":200,"priceAtPrediction":6850,"textTake":"It falls."}`
	if got := strings.TrimSpace(hub.bodies[0]); got != want {
		t.Errorf("the body is %s; want %s", got, want)
	}
	if r := hub.requests[0]; r.Header.Get("Authorization") != "Bearer "+key || len(r.Header.Get("Idempotency-Key")) < 20 {
		t.Errorf("the request has no key or no idempotency key: %v", r.Header)
	}
	d.piped = true
	out, _ = d.run(done, "call", "701122", "YES", "--price", "0.05", "--hub", hub.URL)
	var filed struct{ ID string }
	if err := json.Unmarshal([]byte(out), &filed); err != nil || filed.ID != signalID {
		t.Errorf("the output is not JSON with the id of the call: %v: %s", err, out)
	}
	d.requireContains(hub.bodies[1], `"priceAtPrediction":5`)
}

func TestCallAtTheNewestPrice(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, `{"marketId":"701122","yesBps":3150}`), respond(200, `{"ok":true,"id":"`+signalID+`"}`),
		respond(200, `{"yesBps":null}`))
	d.run(done, "call", "701122", "no", "--hub", hub.URL)
	d.requireContains(hub.bodies[1], `"priceAtPrediction":6850`)
	if hub.requests[0].Header.Get("Authorization") != "" {
		t.Error("the key was sent to a public route")
	}
	_, bad := d.run(usage, "call", "701122", "no", "--hub", hub.URL)
	d.requireContains(bad, "--price")
}

// TestRefusals checks that each refusal by a service has exit code 1, contains advice, and is not repeated.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"already": {
			respond(409, `{"error":"already_predicted","message":"you already have a call on this market; the first call is final","id":"`+signalID+
				`","receiptUrl":"https://hub.example/receipts/`+signalID+`"}`),
			[]string{"already_predicted", "the first call is final. See https://hub.example/receipts/" + signalID + ", or", "events add " + signalID},
		},
		"hostile id": {respond(409,
			`{"error":"already_predicted","id":"$(rm x)","receiptUrl":"y"}`), []string{"the first call is final: list your calls with `signalcast calls list`\n"}},
		"settled": {respond(409,
			`{"error":"market_closed","reason":"settled"}`), []string{"no longer accepts calls", "market search"}},
		"provisional": {respond(409, `{"error":"market_closed","reason":"provisional"}`), []string{"is disputed", "market search"}},
		"key":         {respond(401, `{"error":"unauthenticated"}`), []string{"signalcast login", "revoked"}},
		"scope":       {respond(403, `{"error":"insufficient_scope"}`), []string{"lacks the permission"}},
		"limit": {respond(429, `{"error":"rate_limited","limit":60,"retryAfterMs":12300}`, "Retry-After",
			"13"), []string{"Wait 13s"}},
		"limit plain": {respond(429, `slow down`, "Retry-After", "7"), []string{"429 Too Many Requests", "Wait 7s"}},
		"unknown":     {respond(404, `{"error":"market_not_found"}`), []string{"market search"}},
		"member": {respond(400,
			`{"error":"invalid_text_take","message":"too long","field":"textTake"}`), []string{"invalid_text_take (textTake): too long"}},
		"redirect":   {respond(302, ``, "Location", "http://elsewhere.example/"), []string{"--hub"}},
		"no service": {respond(404, `<html>`), []string{"404 Not Found. The server is not a Signalcast service: check --hub"}},
		"said once": {
			respond(409, `{"error":"market_closed","reason":"settled","message":"the market is settled"}`),
			[]string{"409 market_closed: the market is settled. Find an open market with `signalcast market search`\n"},
		},
		"no advice": {respond(400, `{"error":"invalid_take","message":"too long"}`), []string{"400 invalid_take: too long\n"}},
		"hostile":   {respond(400, `{"error":"x","message":"\u001b[2J`+key+`"}`), []string{"[secret]"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			t.Setenv("SIGNALCAST_KEY", key)
			hub := serve(t, c.answer)
			_, bad := d.run(refused, "call", "701122", "no", "--price", "50", "--hub", hub.URL)
			d.requireContains(bad, c.want...)
			if strings.Contains(bad, "\x1b") || strings.Count(bad, "\n") != 1 {
				t.Errorf("the error is not one line without control characters: %q", bad)
			}
			if len(hub.requests) != 1 {
				t.Errorf("%d requests, want 1", len(hub.requests))
			}
		})
	}
}

// TestRefusalAsJSON checks that, with --json, a refused command prints the answer of the service.
func TestRefusalAsJSON(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(409, `{"error":"already_predicted","id":"`+signalID+`"}`))
	out, _ := d.run(refused, "call", "701122", "no", "--price", "50", "--json", "--hub", hub.URL)
	var said struct{ Error, ID string }
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Error != "already_predicted" || said.ID != signalID {
		t.Errorf("the output is not the JSON of the refusal: %v: %s", err, out)
	}
}

// TestUsage checks that an invalid command line has exit code 2.
func TestUsage(t *testing.T) {
	d := newShell(t)
	for _, args := range [][]string{
		{"call"},
		{"call", "1", "maybe"},
		{"call", "1", "yes", "--price", "100.01"},
		{"call", "1", "yes", "--price", "1e1"},
		{"call", "1", "yes", "--price", "5.005"},
		{"call", "1", "yes", "--price", "5", "--confidence", "101"},
		{"call", "1", "yes", "--price", "5"},
		{"call", "1", "yes", "--price", "5", "--key", key},
		{"call", "1", "yes", "--json", "--table"},
		{"call", "1", "yes", "--price", "5", "--key", "/nowhere"},
		{"login", key},
		{"login", "--key", "f"},
		{"login"},
		{"api", "GET", "m/1"},
		{"api", "GET", "//hub.example/m"},
		{"api", "get", "/api/m/1"},
		{"api", "POST", "/api/predictions", "-f", "marketId"},
		{"api", "POST", "/api/predictions", "-F", "price=abc"},
		{"api", "POST", "/api/predictions", "--all"},
		{"api", "GET", "/program/now"},
		{"webhook", "delete", "701122"},
		{"webhook", "resend", signalID, "701122"},
		{"webhook", "listen", "--secret", "x", "--forward-to", "localhost:3000"},
		{"signal", "show", "701122"},
		{"receipt", "../x"},
		{"events", "add", signalID, "resolved"},
		{"events", "add", signalID, "note"},
		{"events", "add", signalID, "note", "--channel", "x"},
		{"market", "search", "--limit", "0"},
		{"market", "search", "--lane", "FISH"},
		{"market", "search", "--venue", "all", "--sort", "endDate"},
		{"market", "search", "--venue", "all", "--closed"},
		{"market", "search", "--status", "open", "--min-volume", "-1"},
		{"board", "--window", "28d"},
		{"board", "--hub", "https://hub.example"},
		{"market", "show", "1", "--hub", "hub.example"},
		{"market", "show", "1", "--hub", "https://me:" + key + "@hub.example"},
	} {
		_, bad := d.run(usage, args...)
		d.requireContains(bad, "signalcast: ")
	}
	_, bad := d.run(usage, "call", "1", "yes", "--price", "5", "--key", key)
	d.requireContains(bad, "must be the name of a file")
	for _, args := range [][]string{{}, {"--help"}, {"-h"}, {"help"}} {
		out, _ := d.run(done, args...)
		d.requireContains(out, "market search", "--timeout", "--hub")
	}
}

// TestNumbersOutOfBounds checks that an explicit 0 is not treated as an absent flag, and that errors of numbers state the bounds.
func TestNumbersOutOfBounds(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	t.Setenv("SIGNALCAST_ADMIN_SECRET", "opensesame")
	hub := serve(t, respond(http.StatusOK, `{"ok":true}`))
	market := []string{"admin", "market", "create", "Will it rain?", "--lane", "SCIENCE", "--cutoff", "2027-06-01T00:00:00Z"}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--confidence must be 1 to 100", []string{"call", "1", "yes", "--price", "5", "--confidence", "0"}},
		{"--confidence must be 1 to 100", []string{"events", "add", signalID, "confidence", "--confidence", "0"}},
		{"--confidence must be 1 to 100", []string{"events", "add", signalID, "confidence", "--confidence", "101"}},
		{"requires --confidence", []string{"events", "add", signalID, "confidence"}},
		{"--count must be at least 1", []string{"watch", "--count", "0", "--api", hub.URL}},
		{"--count must be at least 1", []string{"live", "on", "--count", "0"}},
		{"--within must not be negative", append(market, "--within", "-1h")},
		{"--confidence: must be a whole number from 1 to 100", []string{"call", "1", "yes", "--confidence", "x"}},
		{"--limit: must be a whole number from 1 to 100", []string{"market", "search", "--limit", "x"}},
		{"--limit: must be a whole number from 1 to 100", []string{"board", "--limit", "99999999999999999999"}},
		{"--count: must be a whole number of at least 1", []string{"watch", "--count", "1.5"}},
		{"--days: must be a whole number of at least 1", []string{"signer", "register", "x", "--scope", "x", "--days", "x"}},
	} {
		_, bad := d.run(usage, append(c.args, "--hub", hub.URL)...)
		d.requireContains(bad, c.want)
	}
	if len(hub.requests) > 0 {
		t.Errorf("%d requests, want 0", len(hub.requests))
	}
	d.run(done, append(market, "--within", "0s", "--hub", hub.URL)...)
	d.requireContains(hub.bodies[0], `"resolvesBy":"2027-06-01T00:00:00Z"`)
}

// TestFormsOfArguments checks that the errors of ids and of lists of values state the accepted form.
func TestFormsOfArguments(t *testing.T) {
	d := newShell(t)
	const call = "the id of a call must be a UUID, such as the id that `signalcast call` prints"
	for _, c := range []struct {
		want string
		args []string
	}{
		{call, []string{"signal", "show", "abc"}},
		{call, []string{"receipt", "abc"}},
		{call, []string{"events", "list", "abc"}},
		{call, []string{"events", "add", "abc", "note"}},
		{"the id of a key must be a UUID, such as the ids that `signalcast keys list` prints", []string{"keys", "revoke", "abc"}},
		{`--window must be one of "all","28d" but got "3y"`, []string{"board", "--by", "broadcast", "--window", "3y"}},
		{`"automated","all" but got "x"`, []string{"board", "--operators", "x"}},
		{`"ENTERTAINMENT" but got "FISH"`, []string{"board", "--lane", "FISH"}},
		{`"ENTERTAINMENT" but got "FISH"`, []string{"market", "search", "--lane", "FISH"}},
	} {
		_, bad := d.run(usage, c.args...)
		d.requireContains(bad, c.want)
	}
}

// TestUnavailable checks that a read of an unavailable service is repeated, with increasing waits, and then has exit code 3. It
// must not be repeated if Retry-After is long.
func TestUnavailable(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(503, `{"error":"db_unavailable"}`))
	d.run(unavailable, "market", "show", "701122", "--hub", hub.URL)
	if len(hub.requests) != 4 || len(d.waited) != 3 || d.waited[0] >= d.waited[2] {
		t.Errorf("%d requests, want 4; waits %v, want 3 that increase", len(hub.requests), d.waited)
	}
	long := serve(t, respond(503, `{"error":"db_unavailable","retryAfterMs":60000}`, "Retry-After", "60"))
	_, bad := d.run(unavailable, "market", "show", "701122", "--hub", long.URL)
	d.requireContains(bad, "Try again in 1m0s")
	if len(long.requests) != 1 {
		t.Errorf("%d requests to a service with Retry-After: 60, want 1", len(long.requests))
	}
	none := serve(t, respond(200, `{}`))
	none.Close()
	for _, args := range [][]string{
		{"market", "crowd", "1"}, {"call", "1", "yes", "--price", "5"}, {"board", "--by", "broadcast"}, {"record", "get", "mara_k"},
	} {
		_, bad := d.run(unavailable, append(args, "--hub", none.URL)...)
		d.requireContains(bad, none.Listener.Addr().String())
	}
}

// TestRepeatedWrites checks that a call whose answer was lost is sent again with the same idempotency key, and that a request
// that creates a key is not repeated.
func TestRepeatedWrites(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	cut := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	hub := serve(t, cut, respond(503, `{"error":"signal_service_unavailable"}`, "Retry-After", "1"),
		respond(200, `{"ok":true,"id":"`+signalID+`"}`))
	d.run(done, "call", "701122", "no", "--price", "50", "--hub", hub.URL)
	if len(hub.requests) != 3 || hub.bodies[0] != hub.bodies[2] ||
		hub.requests[0].Header.Get("Idempotency-Key") != hub.requests[2].Header.Get("Idempotency-Key") {
		t.Errorf("%d requests, want 3 with the same body and idempotency key: %q", len(hub.requests), hub.bodies)
	}
	mint := serve(t, respond(503, `{"error":"db_unavailable"}`))
	d.in = token
	d.run(unavailable, "login", "--hub", mint.URL)
	if len(mint.requests) != 1 {
		t.Errorf("%d requests for a key, want 1", len(mint.requests))
	}
}

// TestDegradedAnswer checks that a degraded answer is shown and has exit code 3.
func TestDegradedAnswer(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200, `{"markets":[],"count":0,"next_cursor":null}`, "X-Degraded", "db"))
	out, bad := d.run(unavailable, "market", "search", "ostrava", "--json", "--hub", hub.URL)
	d.requireContains(out, `"count": 0`)
	d.requireContains(bad, "incomplete", "db")
}
