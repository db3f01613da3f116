package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func limits(policy, standing string) http.Header {
	h := http.Header{}
	h.Set("RateLimit-Policy", policy)
	h.Set("RateLimit", standing)
	return h
}

func TestPaceKeepsToTheWindow(t *testing.T) {
	t.Parallel()
	p, at := newPace(), time.Unix(1_800_000_000, 0)
	for range 60 {
		if d := p.wait(at); d != 0 {
			t.Fatalf("waits %v below the limit", d)
		}
		p.learn(at, http.Header{})
		at = at.Add(100 * time.Millisecond)
	}
	if d := p.wait(at); d != 54*time.Second { // 60 s after the first, 6 s have gone
		t.Fatalf("the 61st waits %v", d)
	}
	at = at.Add(54 * time.Second)
	if d := p.wait(at); d != 0 {
		t.Fatalf("the 61st still waits %v", d)
	}
	p.learn(at, http.Header{})
	if d := p.wait(at); d != 100*time.Millisecond {
		t.Fatalf("the 62nd waits %v", d)
	}
}

func TestPaceBelievesTheOtherSide(t *testing.T) {
	t.Parallel()
	p, at := newPace(), time.Unix(1_800_000_000, 0)
	p.learn(at, limits(`"hub";q=2;w=10`, `"hub";r=1;t=10`))
	if d := p.wait(at); d != 0 {
		t.Errorf("one is left, waits %v", d)
	}
	p.learn(at, limits(`"hub";q=2;w=10`, `"hub";r=0;t=7`))
	if d := p.wait(at); d != 10*time.Second {
		t.Errorf("nothing is left and two of 10 s are used: waits %v", d)
	}
	p = newPace()
	p.learn(at, limits(`"hub";q=60;w=60`, `"hub";r=0;t=7`)) // others use the key as well
	if d := p.wait(at); d != 7*time.Second {
		t.Errorf("nothing is left: waits %v", d)
	}
	p = newPace()
	p.learn(at, limits("60", "nonsense;r=x"))
	if p.wait(at) != 0 || p.limit != 60 {
		t.Error("headers that cannot be read changed something")
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{"3": 3 * time.Second, "Fri, 18 Sep 2026 12:00:09 GMT": 9 * time.Second, "Fri, 18 Sep 2026 11:00:00 GMT": 0} {
		if got, ok := retryAfter(http.Header{"Retry-After": {text}}, at); !ok || got != want {
			t.Errorf("%s: %v %t", text, got, ok)
		}
	}
	if _, ok := retryAfter(http.Header{"Retry-After": {"soon"}}, at); ok {
		t.Error("soon is no time")
	}
}

// scripted answers one request after the other.
type scripted struct {
	t       *testing.T
	answers []string // "503", "409 {…}", "hang up"
	bodies  []string
	keys    []string
	from    map[string]bool
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s.bodies, s.keys = append(s.bodies, string(raw)), append(s.keys, r.Header.Get("Idempotency-Key"))
	if s.from != nil {
		s.from[strings.Split(r.RemoteAddr, ":")[0]] = true
	}
	if len(s.bodies) > len(s.answers) {
		s.t.Errorf("request %d is one too many: %s", len(s.bodies), raw)
		return
	}
	text := s.answers[len(s.bodies)-1]
	if text == "hang up" {
		panic(http.ErrAbortHandler)
	}
	status, body, _ := strings.Cut(text, " ")
	code, err := strconv.Atoi(status)
	if err != nil {
		s.t.Fatal(err)
	}
	if body == "degraded" {
		w.Header().Set("X-Degraded", "ledger")
	}
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "0")
	}
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}

func TestClientRetriesUntilAClearAnswer(t *testing.T) {
	t.Parallel()
	s := &scripted{t: t, answers: []string{"429", "503", "hang up", "200 degraded", "200 {}"}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var m meets
	d := newClient(1, &m)
	t.Cleanup(d.close)
	r, err := d.do(t.Context(), ask{method: http.MethodPost, url: server.URL, body: map[string]int{"a": 1}})
	if err != nil || r.status != http.StatusOK || !r.doubted || m.limited.Load() != 1 || m.retried.Load() != 3 {
		t.Errorf("%+v %v %d %d", r, err, m.limited.Load(), m.retried.Load())
	}
	if len(s.bodies) != 5 || s.bodies[0] != `{"a":1}` || s.bodies[4] != s.bodies[0] {
		t.Error(s.bodies)
	}
	s.answers = append(s.answers, "503")
	if _, err := d.do(t.Context(), ask{method: http.MethodPost, url: server.URL, once: true}); err == nil || len(s.bodies) != 6 {
		t.Error("an act that must not be repeated was", err, len(s.bodies))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.do(ctx, ask{method: http.MethodGet, url: server.URL}); err == nil {
		t.Error("it goes on after the end")
	}
}

func TestClientsUseDifferentAddresses(t *testing.T) {
	t.Parallel()
	s := &scripted{t: t, answers: []string{"200 {}", "200 {}", "200 {}", "200 {}"}, from: map[string]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	for _, n := range []int{0, 249, 250, botAddress} {
		d := newClient(n, &meets{})
		if err := d.get(t.Context(), server.URL, nil); err != nil {
			t.Fatal(err)
		}
		d.close()
	}
	for _, want := range []string{"127.64.0.1", "127.64.0.250", "127.64.1.1", "127.64.240.1"} {
		if !s.from[want] {
			t.Errorf("no request came from %s: %v", want, s.from)
		}
	}
}

func TestEnvIsQuoted(t *testing.T) {
	t.Parallel()
	var line bytes.Buffer
	if err := printEnv(&line, stack{Hub: "http://127.0.0.1:1", AdminSecret: `it's $HOME; "a" b`, CronSecret: "`x`"}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "eval \"$1\"; printf '%s|%s|%s' \"$HUB\" \"$ADMIN_SECRET\" \"$CRON_SECRET\"", "sh", line.String()).Output()
	if err != nil || string(out) != "http://127.0.0.1:1|it's $HOME; \"a\" b|`x`" {
		t.Errorf("%s %v", out, err)
	}
}
