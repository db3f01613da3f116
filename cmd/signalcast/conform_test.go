package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/proto/openapi"
)

// conformReport contains members of the report of `conform --json`.
type conformReport struct {
	Passed, Failed, Skipped, NotTried, Requests, WaitedSeconds int
	Checks                                                     []struct {
		ID, Outcome, Because string
		Findings             []struct{ Asked, Came, Due string }
	}
}

// conform runs `conform --json` and returns its report.
func (d *shell) conform(want int, args ...string) (r conformReport) {
	d.t.Helper()
	out, _ := d.run(want, append([]string{"conform", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		d.t.Fatalf("the report is not JSON: %v: %s", err, out)
	}
	return r
}

// outcome returns the outcome of a check.
func (r *conformReport) outcome(id string) string {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.Outcome
		}
	}
	return ""
}

// TestConformOtherServers checks that servers that are not Signalcast fail, that the run follows no redirects, and that it
// stores no cookies.
func TestConformOtherServers(t *testing.T) {
	var led atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led.Add(1) }))
	t.Cleanup(other.Close)
	elsewhere := respond(302, ``, "Location", other.URL+"/latest/meta-data")
	for name, answer := range map[string]http.HandlerFunc{
		"a web server": respond(404, "<html><body><h1>404 Not Found</h1></body></html>", "Content-Type", "text/html"),
		"empty":        respond(200, ``),
		"null":         respond(200, `null`),
		"a list":       respond(200, `[[[]]]`),
		"another API": respond(200, `{"data":{"signals":"none"},"signals":7,"markets":{},"items":[null,1],"leaderboard":["x"],`+
			`"keys":[[]],"messages":[1],"weeks":[]}`),
		"redirects": elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			s := serve(t, answer)
			r := d.conform(refused, s.URL, "--api", s.URL, "--clock", s.URL)
			if r.outcome("reach") != "pass" || r.outcome("description") != "fail" || r.Failed < 15 ||
				r.outcome("shape.signals") != "fail" || r.outcome("errors.form") != "fail" {
				t.Errorf("%d passed, %d failed, want at least 15; %d skipped: %+v", r.Passed, r.Failed, r.Skipped, r.Checks)
			}
			for _, c := range r.Checks {
				if strings.HasPrefix(c.ID, "call.") && c.Outcome != "skip" {
					t.Errorf("%s is %s without a key, want skip", c.ID, c.Outcome)
				}
			}
			for _, q := range s.requests {
				if q.Header.Get("Cookie") != "" && q.Header.Get("Cookie") != "db_uid=x; db_sig=y" {
					t.Error("a cookie of the server was sent back")
				}
			}
		})
	}
	if n := led.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestConformHostile checks that a run ends in bounded time against a server that hangs, sends endless answers or closes
// connections. The output must contain no control characters of the server.
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
		}, "500ms", "response ended early"},
		"cuts":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "10s", "no answer"},
		"a long head": {respond(200, `{}`, "X-Long", strings.Repeat("x", 200<<10)), "10s", "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				c.answer(w, r)
			}))
			t.Cleanup(s.Close)
			began := time.Now()
			r := d.conform(refused, s.URL, "--each", c.each)
			if r.outcome("reach") != "fail" || r.Failed != 1 || r.Passed != 0 || asked.Load() > 4 || r.Requests > 2 {
				t.Errorf("%d passed, want 0; %d failed, want 1; %d requests, want at most 2; the server received %d, want at most 4",
					r.Passed, r.Failed, r.Requests, asked.Load())
			}
			d.requireContains(r.Checks[0].Findings[0].Came, c.came)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("the run took %v, want at most 1m", took)
			}
		})
	}
	d := newShell(t)
	s := serve(t, respond(200, "{\"error\":\"\u001b]0;owned\u0007\u001b[2J\",\"openapi\":\"\u001b[31m"+key+"\",\"paths\":{}}"))
	out, _ := d.run(refused, "conform", s.URL)
	if strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("the output contains control characters: %q", out)
	}
	d.requireContains(out, "FAIL  description")
}

// TestConformClosedPort checks the texts of a run against an address on which nothing listens.
func TestConformClosedPort(t *testing.T) {
	d := newShell(t)
	closed := serve(t, respond(200, ``))
	closed.Close()
	out, bad := d.run(unavailable, "conform", closed.URL, "--only", "description")
	d.requireContains(out, "1 skipped, with 1 request to", "; 1 of 1 check was not tried because a service cannot be reached")
	d.requireContains(bad, "a service cannot be reached: 1 of 1 check was not tried; check the addresses")
	_, bad = d.run(unavailable, "conform", closed.URL, "--only", "description", "--only", "errors.form", "--only", "shape.signals")
	d.requireContains(bad, "3 of 3 checks were not tried")
	_, bad = d.run(usage, "conform", closed.URL, "--only", "fish")
	d.requireContains(bad, `unknown check "fish"; conform without --only prints the ids`)
}

// TestConformUsage checks that an invalid command line is refused without a request.
func TestConformUsage(t *testing.T) {
	d := newShell(t)
	s := serve(t, respond(200, `{}`))
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
	d.requireContains(bad, "not encrypted")
	if len(s.requests) > 0 {
		t.Errorf("%d requests, want 0", len(s.requests))
	}
	r := d.conform(refused, s.URL, "--only", "errors.gone")
	if len(r.Checks) != 1 || r.outcome("errors.gone") != "fail" {
		t.Errorf("checks %+v, want errors.gone only, failed", r.Checks)
	}
}

// TestConformWaits checks that the run waits when the header RateLimit states that a limit is nearly reached, and after a 429.
func TestConformWaits(t *testing.T) {
	d := newShell(t)
	d.in = key
	s := serve(t, respond(200, `{"handle":"mara_k"}`,
		"RateLimit", `"hub";r=1;t=7`, "RateLimit-Policy", `"hub";q=60;w=60`, "Cache-Control", "no-store"))
	r := d.conform(done, s.URL, "--key", "-", "--only", "key.owner", "--only", "key.limit")
	if r.Passed != 2 || len(d.waited) != 1 || d.waited[0] < 6*time.Second || d.waited[0] > 7*time.Second {
		t.Errorf("%d passed, want 2; waits %v, want one of 6 to 7 s", r.Passed, d.waited)
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
		t.Errorf("waits %v, want one of 8 to 9 s", d.waited)
	}
}

// TestConformDocumented checks that docs/conformance.md lists exactly the checks of the program, with their titles and sources.
func TestConformDocumented(t *testing.T) {
	d := newShell(t)
	s := serve(t, respond(404, ``))
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
		d.requireContains(string(page), "| `"+c.ID+"` | "+c.Title+" | "+c.Source+" |")
	}
	if rows != len(r.Checks) {
		t.Errorf("docs/conformance.md has %d rows for %d checks", rows, len(r.Checks))
	}
	for _, c := range r.Checks {
		for source := range strings.SplitSeq(c.Source, "; ") {
			requireSource(t, c.ID, source)
		}
	}
}

// requireSource fails the test unless the source of a check exists: a heading of a page, or an operationId, a tag or a
// paragraph of the OpenAPI document. It does not check citations of public standards.
func requireSource(t *testing.T, check, source string) {
	t.Helper()
	document := string(openapi.JSON)
	if page, anchor, _ := strings.Cut(source, "#"); strings.HasPrefix(source, "docs/") {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Errorf("%s: %v", check, err)
		}
		var anchors []string
		for line := range strings.Lines(string(text)) {
			if title, isTitle := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); isTitle && strings.HasPrefix(line, "#") {
				anchors = append(anchors, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-"))
			}
		}
		if anchor != "" && !slices.Contains(anchors, anchor) {
			t.Errorf("%s: %s has no heading %s: %q", check, page, anchor, anchors)
		}
		return
	}
	names, isOpenAPI := strings.CutPrefix(source, "openapi: ")
	if !isOpenAPI {
		return
	}
	wanted := `"operationId":"%s"`
	if paragraph, isInfo := strings.CutPrefix(names, "info, "); isInfo {
		names, wanted = paragraph, "**%s.**"
	} else if tags, isTag := strings.CutPrefix(strings.Replace(names, "tags ", "tag ", 1), "tag "); isTag {
		names, wanted = tags, `"name":"%s"`
	}
	for name := range strings.SplitSeq(names, ", ") {
		if want := fmt.Sprintf(wanted, name); !strings.Contains(strings.ReplaceAll(document, `": "`, `":"`), want) {
			t.Errorf("%s: the OpenAPI document does not contain %s", check, want)
		}
	}
}
