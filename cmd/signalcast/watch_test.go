package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// serveFeed starts a fake feed that sends frames after the first subscription. It calls sees with the request and the subscribe
// frame. It returns its URL.
func serveFeed(t *testing.T, sees func(*http.Request, string), frames ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		say := func(frame string) { _ = c.Write(r.Context(), websocket.MessageText, []byte(frame)) }
		say(`{"op":"hello","protocol":"signal.v1","heartbeatS":30,"head":12}`)
		_, asked, err := c.Read(r.Context())
		if err != nil {
			return
		}
		sees(r, string(asked))
		id := strings.Split(strings.SplitAfter(string(asked), `"id":"`)[1], `"`)[0]
		channels := strings.Split(strings.SplitAfter(string(asked), `"channels":[`)[1], `]`)[0]
		say(`{"op":"ack","id":"` + id + `","channels":[` + channels + `]}`)
		for _, f := range frames {
			say(f)
		}
		_, _, _ = c.Read(r.Context()) // until the client disconnects
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const (
	gap   = `{"op":"gap","channel":"signals","from":12,"oldest":60}`
	first = `{"op":"event","channel":"signals","seq":60,"prev":null,"type":"signal.event","at":"2026-09-18T12:00:00.000Z","data":{"text":"\u001b[2J\u202eRain"}}`
	next  = `{"op":"event","channel":"signals","seq":64,"prev":60,"type":"signal.created","at":"2026-09-18T12:00:00.000Z","data":{"id":"x` + "\u202e" + `"}}`
)

// TestWatch checks that watch resumes from its state file, stores its position, reports gaps, sends no key for public channels,
// and prints no control characters.
func TestWatch(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	state := filepath.Join(d.home, "state")
	if err := os.WriteFile(state, []byte(`{"signals":12}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Value
	api := serveFeed(t, func(r *http.Request, frame string) { asked.Store(r.Header.Get("Authorization") + frame) }, gap, first, next)
	out, _ := d.run(done, "watch", "--api", api, "--count", "2", "--state", state)
	d.requireContains(out, "after 12 and before 60 are no longer stored", "signal.event", "[2JRain", "signal.created")
	if strings.ContainsAny(out, "\x1b\u202e") || strings.Count(out, "\n") != 3 {
		t.Errorf("the output is not three lines without control characters: %q", out)
	}
	if got := asked.Load().(string); strings.Contains(got, key) || !strings.Contains(got, `"since":{"signals":12}`) {
		t.Errorf("the subscription has a key or does not resume after 12: %s", got)
	}
	if raw, err := os.ReadFile(state); err != nil || strings.TrimSpace(string(raw)) != `{"signals":64}` {
		t.Errorf("the state file contains %s (error %v), want the position 64", raw, err)
	}
	d.piped = true
	api = serveFeed(t, func(*http.Request, string) {}, first, next)
	out, _ = d.run(done, "watch", "--api", api, "--count", "2")
	d.requireContains(out, `"id":"x\u202e"`, `{"kind":"event","channel":"signals","seq":60,"type":"signal.event"`,
		`\u001b[2J\u202eRain`)
	api = serveFeed(t, func(*http.Request, string) {}, `{"op":"error","error":"unknown_channel","channel":"signals"}`)
	_, bad := d.run(usage, "watch", "--api", api)
	d.requireContains(bad, "unknown channel")
	d.requireContains(bad, documentedChannels(t)...)
	if err := os.WriteFile(state, []byte(`[]`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, bad = d.run(usage, "watch", "--api", api, "--state", state)
	d.requireContains(bad, "remove it")
	_, bad = d.run(usage, "watch", "--hub", "https://hub.example")
	d.requireContains(bad, "--api")
}

// documentedChannels returns the names of the channels in docs/protocol/ws.md, with their parameters in upper case.
func documentedChannels(t *testing.T) (names []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/protocol/ws.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Channels")
	table, _, _ = strings.Cut(table, "\n\nPresets")
	for line := range strings.Lines(table) {
		if cell, row := strings.CutPrefix(line, "| `"); row {
			cell, _, _ = strings.Cut(cell, " |")
			for name := range strings.SplitSeq(cell, "`") {
				if kind, parameter, _ := strings.Cut(name, "<"); channelForm.MatchString(name) {
					names = append(names, kind+strings.ToUpper(strings.NewReplacer("<", "", ">", "").Replace(parameter)))
				}
			}
		}
	}
	if len(names) < 12 {
		t.Fatalf("docs/protocol/ws.md has the channels %q, want at least 12", names)
	}
	return names
}

var channelForm = regexp.MustCompile(`^[a-z]+(:[a-z<>A-Z]+)*$`)

// TestWatchLines checks the text of each kind of event: time with seconds, operator, side, price and question, within the width of
// the terminal. It also checks that JSON lines have the member op of the websocket.
func TestWatchLines(t *testing.T) {
	d := newShell(t)
	frame := func(seq int, kind, data string) string {
		return fmt.Sprintf(`{"op":"event","channel":"signals","seq":%d,"prev":%d,"type":"%s","at":"2026-11-23T02:52:12.225Z","data":%s}`,
			seq, seq-1, kind, data)
	}
	const about = `"handle":"slow_tram","marketId":"1","marketTitle":"Will \"Northbound\" win?"`
	frames := []string{
		frame(13, "signal.created", `{`+about+`,"direction":"YES","priceAtPrediction":8250,"status":"pending","textTake":"Late."}`),
		frame(14, "signal.event", `{`+about+`,"signalId":"x","event":{"type":"note","payload":{"text":"Rain."}}}`),
		frame(15, "signal.resolved", `{`+about+`,"status":"lost","score":-69,"counted":false}`),
		frame(16, "market.resolved", `{"marketId":"1","marketTitle":"Will it?","outcome":"NO"}`),
		frame(17, "market.status", `{"marketId":"1","marketTitle":"Will it?","from":"open","to":"closed"}`),
		frame(18, "price.tick", `{"marketId":"1","yesBps":3150}`),
		frame(19, "of.next_year", `[1,2]`),
		frame(20, "operator.live", `{"handle":"slow_tram","showId":null,"viewers":3}`),
	}
	want := `2026-11-23 02:52:12Z  signal.created    @slow_tram        YES at 82.5 · Will "Northbound" win? · “Late.”
2026-11-23 02:52:12Z  signal.event      @slow_tram        note Rain. · Will "Northbound" win?
2026-11-23 02:52:12Z  signal.resolved   @slow_tram        lost -69 points (does not count) · Will "Northbound" win?
2026-11-23 02:52:12Z  market.resolved                     NO · Will it?
2026-11-23 02:52:12Z  market.status                       open to closed · Will it?
2026-11-23 02:52:12Z  price.tick                          YES 31.5 · 1
2026-11-23 02:52:12Z  of.next_year                        [1,2]
2026-11-23 02:52:12Z  operator.live     @slow_tram        3 viewers
`
	api := serveFeed(t, func(*http.Request, string) {}, frames...)
	if out, _ := d.run(done, "watch", "--api", api, "--count", "8"); out != want {
		t.Errorf("watch prints\n%s\nwant\n%s", out, want)
	}
	d.width = 60
	out, _ := d.run(done, "watch", "--api", api, "--count", "8")
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > d.width {
			t.Errorf("a line has %d characters in a terminal of %d: %s", n, d.width, line)
		}
	}
	out, _ = d.run(done, "watch", "--api", api, "--count", "1", "--json")
	d.requireContains(out, `"kind":"event"`, `"op":"event"`)
}

// TestWatchReportsAFailureOnce checks that a feed that stays unavailable is reported once, with its reason and without the steps of
// the libraries.
func TestWatchReportsAFailureOnce(t *testing.T) {
	d := newShell(t)
	d.progress = true
	d.ctx, d.stop = context.WithCancel(t.Context())
	down := serve(t, respond(http.StatusOK, ``))
	down.Close()
	time.AfterFunc(2500*time.Millisecond, d.stop)
	_, bad := d.run(done, "watch", "--api", down.URL)
	if !strings.HasPrefix(bad, "signalcast: no connection to the feed at "+down.URL+": dial tcp ") || strings.Count(bad, "\n") != 1 ||
		strings.Contains(bad, "handshake") {
		t.Errorf("the standard error is %q, want one line with the reason", bad)
	}
}

// TestWatchMe checks that watch sends the key for the channel me, but only with encryption or to this machine.
func TestWatchMe(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	var sent atomic.Value
	api := serveFeed(t, func(r *http.Request, _ string) { sent.Store(r.Header.Get("Authorization")) },
		strings.ReplaceAll(first, `"signals"`, `"me"`))
	d.run(done, "watch", "me", "--api", api, "--count", "1")
	if sent.Load() != "Bearer "+key {
		t.Errorf("Authorization is %v, want the key", sent.Load())
	}
	_, bad := d.run(usage, "watch", "me", "--api", "http://api.example", "--hub", "https://hub.example")
	d.requireContains(bad, "not encrypted")
	refuses := serve(t, respond(401, `{"error":"unauthenticated"}`))
	_, bad = d.run(refused, "watch", "me", "--api", refuses.URL)
	d.requireContains(bad, "unknown or revoked")
}

// TestWatchEnds checks that Ctrl-C has exit code 0, even while the feed is unavailable.
func TestWatchEnds(t *testing.T) {
	d := newShell(t)
	d.ctx, d.stop = context.WithCancel(t.Context())
	down := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		d.stop()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	d.run(done, "watch", "--api", down.URL)
}

// TestWatchState checks that a state file that cannot be written causes an error before the first request.
func TestWatchState(t *testing.T) {
	d := newShell(t)
	d.ctx, d.stop = context.WithCancel(t.Context())
	s := serve(t, func(http.ResponseWriter, *http.Request) { d.stop() }) // a request ends the command
	file := filepath.Join(d.home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"/nonexist/x", filepath.Join(file, "x"), d.home} {
		_, bad := d.run(usage, "watch", "--api", s.URL, "--count", "1", "--state", state)
		d.requireContains(bad, state)
	}
	if len(s.requests) > 0 {
		t.Errorf("%d requests, want 0", len(s.requests))
	}
	state := filepath.Join(d.home, "state")
	api := serveFeed(t, func(*http.Request, string) {}, first)
	d.run(done, "watch", "--api", api, "--count", "1", "--state", state)
	if raw, err := os.ReadFile(state); err != nil || strings.TrimSpace(string(raw)) != `{"signals":60}` {
		t.Errorf("the state file contains %s (error %v), want the position 60", raw, err)
	}
}
