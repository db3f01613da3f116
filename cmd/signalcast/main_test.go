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

// server is a service that says what a test wants, and keeps what it was asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
	said  []string // bodies of the requests
}

// serve answers each request with the next answer, and the last one ever after.
func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked, s.said = append(s.asked, r), append(s.said, string(body))
		answer := answers[min(len(s.asked), len(answers))-1]
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// desk is somebody before a terminal, with a home of their own.
type desk struct {
	t      *testing.T
	home   string
	in     string
	typed  bool // the standard input is the terminal
	pipe   bool // the output is read by a program
	waited []time.Duration
	ctx    context.Context // nil is that of the test
	stop   func()          // presses Ctrl-C
}

func sit(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir()}
	t.Setenv("XDG_CONFIG_HOME", d.home)
	for _, name := range []string{"SIGNALCAST_HUB", "SIGNALCAST_API", "SIGNALCAST_KEY"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	return d
}

func (d *desk) config() string { return filepath.Join(d.home, "signalcast", "config.json") }

// run gives what a command writes. No secret is ever in it.
func (d *desk) run(want int, args ...string) (out, complaints string) {
	d.t.Helper()
	var to, bad bytes.Buffer
	ctx := d.ctx
	if ctx == nil {
		ctx = d.t.Context()
	}
	streams := &verbs.Streams{
		In: strings.NewReader(d.in), InTerminal: d.typed, Out: &to, Terminal: !d.pipe,
		Wait: func(_ context.Context, pause time.Duration) error { d.waited = append(d.waited, pause); return nil },
	}
	if d.typed {
		streams.Err = &bad
	}
	code := run(ctx, args, &bad, streams)
	if code != want {
		d.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, code, want, &to, &bad)
	}
	if all := to.String() + bad.String(); strings.Contains(all, key) || strings.Contains(all, token) {
		d.t.Fatalf("%q shows a secret:\n%s", args, all)
	}
	return to.String(), bad.String()
}

func (d *desk) has(text string, words ...string) {
	d.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			d.t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

func TestCall(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(200, `{"ok":true,"id":"`+signalID+`"}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--confidence", "70", "--take", "It falls.", "--hub", hub.URL+"/")
	d.has(out, "NO on 701122 at 68.5 cents", hub.URL+"/receipts/"+signalID)
	if got, want := hub.said[0], `{"confidence":70,"direction":"NO","marketId":"701122","maxSlippageBps":200,"priceAtPrediction":6850,"textTake":"It falls."}`; strings.TrimSpace(got) != want {
		t.Errorf("it sends %s", got)
	}
	if r := hub.asked[0]; r.Header.Get("Authorization") != "Bearer "+key || len(r.Header.Get("Idempotency-Key")) < 20 {
		t.Errorf("%v", r.Header)
	}
	d.pipe = true
	out, _ = d.run(done, "call", "701122", "YES", "--price", "0.05", "--hub", hub.URL)
	var filed struct{ ID string }
	if err := json.Unmarshal([]byte(out), &filed); err != nil || filed.ID != signalID {
		t.Errorf("%v: %s", err, out)
	}
	d.has(hub.said[1], `"priceAtPrediction":5`)
}

func TestCallAtTheNewestPrice(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(200, `{"marketId":"701122","yesBps":3150}`), says(200, `{"ok":true,"id":"`+signalID+`"}`), says(200, `{"yesBps":null}`))
	d.run(done, "call", "701122", "no", "--hub", hub.URL)
	d.has(hub.said[1], `"priceAtPrediction":6850`)
	if hub.asked[0].Header.Get("Authorization") != "" {
		t.Error("a route for everybody was shown the key")
	}
	_, bad := d.run(usage, "call", "701122", "no", "--hub", hub.URL)
	d.has(bad, "--price")
}

// TestRefusals: each says what to do, and the exit code is 1.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"already":     {says(409, `{"error":"already_predicted","message":"first call is locked","id":"`+signalID+`","receiptUrl":"https://hub.example/receipts/`+signalID+`"}`), []string{"already_predicted", "cannot change: https://hub.example/receipts/" + signalID, "events add " + signalID}},
		"hostile id":  {says(409, `{"error":"already_predicted","id":"$(rm x)","receiptUrl":"y"}`), []string{"cannot change\n"}},
		"settled":     {says(409, `{"error":"market_closed","reason":"settled","marketId":"701122"}`), []string{"No call can be filed on it any more", "market search"}},
		"provisional": {says(409, `{"error":"market_closed","reason":"provisional"}`), []string{"in dispute", "market search"}},
		"key":         {says(401, `{"error":"unauthenticated"}`), []string{"signalcast login", "revoked"}},
		"scope":       {says(403, `{"error":"insufficient_scope"}`), []string{"may not do this"}},
		"limit":       {says(429, `{"error":"rate_limited","limit":60,"retryAfterMs":12300}`, "Retry-After", "13"), []string{"Wait 13s"}},
		"limit plain": {says(429, `slow down`, "Retry-After", "7"), []string{"429 Too Many Requests", "Wait 7s"}},
		"unknown":     {says(404, `{"error":"market_not_found"}`), []string{"market search"}},
		"member":      {says(400, `{"error":"invalid_text_take","message":"too long","field":"textTake"}`), []string{"invalid_text_take (textTake): too long"}},
		"redirect":    {says(302, ``, "Location", "http://elsewhere.example/"), []string{"--hub"}},
		"no service":  {says(200, `<html>`), []string{"no Signalcast service"}},
		"hostile":     {says(400, `{"error":"x","message":"\u001b[2J`+key+`"}`), []string{"[secret]"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
			t.Setenv("SIGNALCAST_KEY", key)
			hub := serve(t, c.answer)
			_, bad := d.run(refused, "call", "701122", "no", "--price", "50", "--hub", hub.URL)
			d.has(bad, c.want...)
			if strings.Contains(bad, "\x1b") || strings.Count(bad, "\n") != 1 {
				t.Errorf("%q", bad)
			}
			if len(hub.asked) != 1 {
				t.Errorf("it asked %d times", len(hub.asked))
			}
		})
	}
}

// TestRefusalForPrograms: the answer is the output, the words are beside it.
func TestRefusalForPrograms(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(409, `{"error":"already_predicted","id":"`+signalID+`"}`))
	out, _ := d.run(refused, "call", "701122", "no", "--price", "50", "--json", "--hub", hub.URL)
	var said struct{ Error, ID string }
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Error != "already_predicted" || said.ID != signalID {
		t.Errorf("%v: %s", err, out)
	}
}

func TestUsage(t *testing.T) {
	d := sit(t)
	for _, args := range [][]string{
		{},
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
		{"signal", "show", "701122"},
		{"receipt", "../x"},
		{"events", "add", signalID, "resolved"},
		{"events", "add", signalID, "note"},
		{"events", "add", signalID, "note", "--channel", "x"},
		{"market", "search", "--limit", "0"},
		{"market", "search", "--lane", "FISH"},
		{"board", "--window", "28d"},
		{"board", "--hub", "https://hub.example"},
		{"market", "show", "1", "--hub", "hub.example"},
		{"market", "show", "1", "--hub", "https://me:" + key + "@hub.example"},
	} {
		_, bad := d.run(usage, args...)
		d.has(bad, "signalcast: ")
	}
	_, bad := d.run(usage, "call", "1", "yes", "--price", "5", "--key", key)
	d.has(bad, "takes the name of a file")
	d.typed = true
	_, bad = d.run(usage, "login")
	d.has(bad, "login < FILE")
	out, _ := d.run(done, "--help")
	d.has(out, "market search")
}

func TestAway(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(503, `{"error":"db_unavailable"}`))
	d.run(away, "market", "show", "701122", "--hub", hub.URL)
	if len(hub.asked) != 4 || len(d.waited) != 3 || d.waited[0] >= d.waited[2] {
		t.Errorf("asked %d times, waits %v", len(hub.asked), d.waited)
	}
	long := serve(t, says(503, `{"error":"db_unavailable","retryAfterMs":60000}`, "Retry-After", "60"))
	_, bad := d.run(away, "market", "show", "701122", "--hub", long.URL)
	d.has(bad, "Try again in 1m0s")
	if len(long.asked) != 1 {
		t.Errorf("it asked %d times for what is away for a minute", len(long.asked))
	}
	none := serve(t, says(200, `{}`))
	none.Close()
	for _, args := range [][]string{{"market", "crowd", "1"}, {"call", "1", "yes", "--price", "5"}, {"board", "--by", "broadcast"}, {"record", "get", "mara_k"}} {
		_, bad := d.run(away, append(args, "--hub", none.URL)...)
		d.has(bad, none.Listener.Addr().String())
	}
}

// TestSentAgain: a call that may have been filed is sent again with the same key of idempotency.
func TestSentAgain(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	cut := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	hub := serve(t, cut, says(503, `{"error":"signal_service_unavailable"}`, "Retry-After", "1"), says(200, `{"ok":true,"id":"`+signalID+`"}`))
	d.run(done, "call", "701122", "no", "--price", "50", "--hub", hub.URL)
	if len(hub.asked) != 3 || hub.said[0] != hub.said[2] || hub.asked[0].Header.Get("Idempotency-Key") != hub.asked[2].Header.Get("Idempotency-Key") {
		t.Errorf("%d requests: %q", len(hub.asked), hub.said)
	}
	mint := serve(t, says(503, `{"error":"db_unavailable"}`))
	d.in = token
	d.run(away, "login", "--hub", mint.URL)
	if len(mint.asked) != 1 {
		t.Errorf("a key was asked for %d times", len(mint.asked))
	}
}

// TestNotWhole: what came is shown, and the exit code says that it is not all.
func TestNotWhole(t *testing.T) {
	d := sit(t)
	hub := serve(t, says(200, `{"markets":[],"count":0,"next_cursor":null}`, "X-Degraded", "db"))
	out, bad := d.run(away, "market", "search", "ostrava", "--json", "--hub", hub.URL)
	d.has(out, `"count": 0`)
	d.has(bad, "incomplete", "db")
}
