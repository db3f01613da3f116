package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ran is what `conform --json` answers, in part.
type ran struct {
	Passed, Failed, Skipped, NotTried, Requests, WaitedSeconds int
	Checks                                                     []struct {
		ID, Outcome, Because string
		Findings             []struct{ Asked, Came, Due string }
	}
}

func (d *desk) conform(want int, args ...string) (r ran) {
	d.t.Helper()
	out, _ := d.run(want, append([]string{"conform", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	return r
}

func (r *ran) of(id string) string {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.Outcome
		}
	}
	return ""
}

// TestConformElsewhere: a server that is no Signalcast fails, check by check, and nothing
// else happens.
func TestConformElsewhere(t *testing.T) {
	var led atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led.Add(1) }))
	t.Cleanup(other.Close)
	elsewhere := says(302, ``, "Location", other.URL+"/latest/meta-data")
	for name, answer := range map[string]http.HandlerFunc{
		"a web server": says(404, "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center></body></html>", "Content-Type", "text/html"),
		"empty":        says(200, ``),
		"null":         says(200, `null`),
		"a list":       says(200, `[[[]]]`),
		"another API":  says(200, `{"data":{"signals":"none"},"signals":7,"markets":{},"items":[null,1],"leaderboard":["x"],"keys":[[]],"messages":[1],"weeks":[]}`),
		"elsewhere":    elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
			s := serve(t, answer)
			r := d.conform(refused, s.URL, "--api", s.URL, "--clock", s.URL)
			if r.of("reach") != "pass" || r.of("description") != "fail" || r.Failed < 15 || r.of("shape.signals") != "fail" || r.of("errors.form") != "fail" {
				t.Errorf("%d passed, %d failed, %d skipped: %+v", r.Passed, r.Failed, r.Skipped, r.Checks)
			}
			for _, c := range r.Checks {
				if strings.HasPrefix(c.ID, "call.") && c.Outcome != "skip" {
					t.Errorf("%s: %s", c.ID, c.Outcome)
				}
			}
			for _, q := range s.asked {
				if q.Header.Get("Cookie") != "" && q.Header.Get("Cookie") != "db_uid=x; db_sig=y" {
					t.Error("a cookie of the server came back")
				}
			}
		})
	}
	if n := led.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestConformHostile: what hangs, never ends or shouts at the terminal is found out in
// bounded time, and the terminal is not commanded.
func TestConformHostile(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		block := []byte(strings.Repeat("[", 64<<10))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		each   string // time limit of a request, the flag --each
		came   string // part of the finding
	}{
		"hangs":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "500ms", "no answer"},
		"never ends": {endless, "10s", "more than 4194304 bytes"},
		"trickles": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "500ms", "was cut"},
		"cuts":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "10s", "no answer"},
		"a long head": {says(200, `{}`, "X-Long", strings.Repeat("x", 200<<10)), "10s", "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				c.answer(w, r)
			}))
			t.Cleanup(s.Close)
			began := time.Now()
			r := d.conform(refused, s.URL, "--each", c.each)
			if r.of("reach") != "fail" || r.Failed != 1 || r.Passed != 0 || asked.Load() > 4 || r.Requests > 2 {
				t.Errorf("%d passed, %d failed, %d requests of %d", r.Passed, r.Failed, r.Requests, asked.Load())
			}
			d.has(r.Checks[0].Findings[0].Came, c.came)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
	d := sit(t)
	s := serve(t, says(200, "{\"error\":\"\u001b]0;owned\u0007\u001b[2J\",\"openapi\":\"\u001b[31m"+key+"\",\"paths\":{}}"))
	out, _ := d.run(refused, "conform", s.URL)
	if strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("%q", out)
	}
	d.has(out, "FAIL  description")
}

// TestConformUsage: what is wrong with the command line costs no request.
func TestConformUsage(t *testing.T) {
	d := sit(t)
	s := serve(t, says(200, `{}`))
	open := filepath.Join(d.home, "open")
	if err := os.WriteFile(open, []byte("a secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{},
		{"hub.example"},
		{s.URL, "--only", "nothing"},
		{s.URL, "--venue", "../x"},
		{s.URL, "--market", "a b"},
		{s.URL, "--each", "1h"},
		{s.URL, "--key", key},
		{s.URL, "--key", "/nowhere"},
		{s.URL, "--admin-secret", open},
		{s.URL, "--admin-secret", "/nowhere"},
		{s.URL, "--api", "x"},
	} {
		d.run(usage, append([]string{"conform"}, args...)...)
	}
	d.in = key
	_, bad := d.run(usage, "conform", "http://hub.example", "--key", "-")
	d.has(bad, "not encrypted")
	if len(s.asked) > 0 {
		t.Errorf("%d requests", len(s.asked))
	}
	r := d.conform(refused, s.URL, "--only", "errors.gone")
	if len(r.Checks) != 1 || r.of("errors.gone") != "fail" {
		t.Errorf("%+v", r.Checks)
	}
}

// TestConformWaits: the limit of a key is kept by waiting, and what the server says is
// left is believed.
func TestConformWaits(t *testing.T) {
	d := sit(t)
	d.in = key
	s := serve(t, says(200, `{"handle":"mara_k"}`, "RateLimit", `"hub";r=1;t=7`, "RateLimit-Policy", `"hub";q=60;w=60`, "Cache-Control", "no-store"))
	r := d.conform(done, s.URL, "--key", "-", "--only", "key.owner", "--only", "key.limit")
	if r.Passed != 2 || len(d.waited) != 1 || d.waited[0] < 6*time.Second || d.waited[0] > 7*time.Second {
		t.Errorf("%d passed, waits %v", r.Passed, d.waited)
	}
	busy := 0
	s = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if busy++; busy == 1 {
			w.Header().Set("Retry-After", "9")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = io.WriteString(w, `{"handle":"mara_k"}`)
	})
	d.waited = nil
	d.conform(refused, s.URL, "--key", "-", "--only", "key.owner")
	if len(d.waited) != 1 || d.waited[0] < 8*time.Second || d.waited[0] > 9*time.Second {
		t.Errorf("waits %v", d.waited)
	}
}

// TestConformDocumented: the page lists every check with its source, and no other.
func TestConformDocumented(t *testing.T) {
	d := sit(t)
	s := serve(t, says(404, ``))
	out, _ := d.run(refused, "conform", "--json", s.URL)
	var r struct {
		Checks []struct{ ID, Title, Source string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, "|") == 4 {
			rows++
		}
	}
	for _, c := range r.Checks {
		d.has(string(page), "| `"+c.ID+"` | "+c.Title+" | "+c.Source+" |")
	}
	if rows != len(r.Checks) {
		t.Errorf("%d rows of %d checks", rows, len(r.Checks))
	}
}
