package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
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

func TestDoorTriesAgain(t *testing.T) {
	t.Parallel()
	s := &scripted{t: t, answers: []string{"429", "503", "hang up", "200 degraded", "200 {}"}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var m meets
	d := newDoor(1, &m)
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

func TestDoorsHaveTheirOwnAddresses(t *testing.T) {
	t.Parallel()
	s := &scripted{t: t, answers: []string{"200 {}", "200 {}", "200 {}", "200 {}"}, from: map[string]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	for _, n := range []int{0, 249, 250, streetDoor} {
		d := newDoor(n, &meets{})
		if err := d.get(t.Context(), server.URL, nil); err != nil {
			t.Fatal(err)
		}
		d.close()
	}
	for _, want := range []string{"127.64.0.1", "127.64.0.250", "127.64.1.1", "127.64.240.1"} {
		if !s.from[want] {
			t.Errorf("nobody came from %s: %v", want, s.from)
		}
	}
}

const (
	firstID = `"01a1fe39-e6e2-7a32-b9f0-0d7cad5c4aa1"`
	locked  = `409 {"error":"already_predicted","id":` + firstID + `}`
)

// calling is one operator at a scripted hub.
func calling(t *testing.T, answers ...string) (filer, *scripted) {
	t.Helper()
	s := &scripted{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	r := &replay{
		stack: stack{Hub: server.URL}, tolerance: 1000, markets: []string{"77"}, show: &progress{out: io.Discard},
		questions: []career.Question{{Text: "Will it rain?", YesBps: 3000, Verdict: career.No}},
		who:       []career.Identity{{Handle: "mara"}},
	}
	d := newDoor(2, &r.meets)
	d.pace = newPace()
	t.Cleanup(d.close)
	return filer{replay: r, door: d, operator: career.Operator{Repeats: true, Insists: true}, key: "dk_x", places: make(chan struct{}, 1)}, s
}

func TestDoubtIsNoSecondCall(t *testing.T) {
	t.Parallel()
	c := career.Call{Side: career.CallNo, Price: 7000, Confidence: 60}
	f, s := calling(t, "503", locked)
	got, err := f.call(t.Context(), c)
	if err != nil || got.ID != strings.Trim(firstID, `"`) || len(f.faults.end()) > 0 {
		t.Errorf("a call whose first try had its effect: %+v %v %v", got, err, f.faults.list)
	}
	if s.bodies[0] != `{"marketId":"77","direction":"NO","priceAtPrediction":7000,"marketTitle":"Will it rain?","confidence":60}` || s.keys[1] != "career-77" {
		t.Error(s.bodies, s.keys)
	}
	for _, answer := range []string{locked, `409 {"error":"market_closed"}`, `200 {"ok":true}`, `200 {"ok":true,"id":"x"}`, `400 {"error":"invalid_direction"}`} {
		f, _ := calling(t, answer)
		if got, err := f.call(t.Context(), c); err != nil || got.ID != "" || len(f.faults.end()) != 1 {
			t.Errorf("%s without doubt passes: %+v %v", answer, got, err)
		}
	}
	f, _ = calling(t, "503", `409 {"error":"market_closed","id":`+firstID+`}`)
	if got, err := f.call(t.Context(), c); err != nil || got.ID != "" || len(f.faults.end()) != 1 {
		t.Errorf("a closed market passes: %+v %v", got, err)
	}
}

func TestTakeIsAppendedOnce(t *testing.T) {
	t.Parallel()
	c := career.Call{Side: career.CallNo, Price: 7000, Event: "no"}
	filed := `200 {"ok":true,"id":` + firstID + `}`
	f, s := calling(t, filed, "hang up", `200 {"events":[]}`, `503`, `200 {"events":[{"type":"take"}]}`)
	if got, err := f.call(t.Context(), c); err != nil || got.Event == "" || len(f.faults.end()) > 0 || len(s.bodies) != 5 {
		t.Errorf("%+v %v %v %d", got, err, f.faults.list, len(s.bodies))
	}
	f, _ = calling(t, filed, `409 {"error":"event_limit_reached"}`)
	if got, err := f.call(t.Context(), c); err != nil || got.Event != "" || len(f.faults.end()) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestSecondCallMustBeRefused(t *testing.T) {
	t.Parallel()
	first := []career.Filed{{ID: strings.Trim(firstID, `"`), Want: career.Want{Call: career.Call{Side: career.CallNo, Price: 7000}}}}
	f, s := calling(t, locked)
	if err := f.insist(t.Context(), first); err != nil || len(f.faults.end()) > 0 || !strings.Contains(s.bodies[0], `"YES","priceAtPrediction":3000`) {
		t.Error(err, f.faults.list, s.bodies)
	}
	for _, answer := range []string{`200 {"ok":true,"id":` + firstID + `}`, `409 {"error":"already_predicted","id":"another"}`, `409 {"error":"market_closed"}`} {
		f, _ := calling(t, answer)
		if err := f.insist(t.Context(), first); err != nil || len(f.faults.end()) != 1 {
			t.Errorf("%s passes: %v", answer, err)
		}
	}
}

func TestConclusion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := conclude(&out, counts{7120, 712, 200}, nil); err != nil || strings.TrimSpace(out.String()) != "checked 7120 signals, 712 markets, 200 board rows: all equal" {
		t.Error(err, out.String())
	}
	out.Reset()
	if err := conclude(&out, counts{2, 1, 1}, []string{"signal 1: score is 2, must be 1"}); err == nil ||
		!strings.Contains(out.String(), "1 differences\n  signal 1: score is 2, must be 1") {
		t.Error(err, out.String())
	}
}

func TestBoardShowsBothEnds(t *testing.T) {
	t.Parallel()
	lines := make([]line, 50)
	for i := range lines {
		lines[i] = line{title: "coin", tier: "independent", Member: career.Member{Identity: career.Identity{Handle: fmt.Sprint("op", i+1)}, Tally: career.Tally{Total: 1, Won: 1, Score: 50 - i}}}
	}
	var out bytes.Buffer
	printBoard(&out, lines, 12)
	text := out.String()
	for _, want := range []string{"op1 ", "op9 ", "38 more", "op48 ", "op50 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if strings.Contains(text, "op10 ") || strings.Count(text, "\n") != 14 {
		t.Error(text)
	}
}

func TestProgressOffATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{out: &out}
	p.step("calls", 8)
	p.add(6)
	p.wait(1)
	if out.Len() > 0 {
		t.Errorf("a short step chatters: %s", out.String())
	}
	p.began = p.began.Add(-10 * time.Second)
	p.add(1)
	if text := out.String(); !strings.Contains(text, "7/8") || !strings.Contains(text, "1 at their limit, waiting") || strings.Contains(text, "\r") {
		t.Errorf("%q", text)
	}
	p.wait(-1)
	p.add(1)
	p.end()
	if text := out.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "["+strings.Repeat("#", barWidth)+"] 8/8") {
		t.Errorf("%q", text)
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

func TestReplayWithoutAStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"no stack runs in":          {"replay", "--dir", dir},
		"--operators must be 10 to": {"replay", "--dir", dir, "--operators", "9"},
		"--questions must be 1 to":  {"demo", "--dir", dir, "--questions", "0"},
		"no stack runs in " + dir:   {"env", "--dir", dir},
		"no such file":              {"replay", filepath.Join(dir, "none.csv")},
	} {
		out, err := exec.Command(launcher, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}
