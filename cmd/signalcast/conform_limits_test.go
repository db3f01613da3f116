package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rateLimited returns a handler that answers every request with a valid 429. seconds is the value of Retry-After.
func rateLimited(seconds int) http.HandlerFunc {
	body := fmt.Sprintf(`{"error":"rate_limited","limit":20,"retryAfterMs":%d}`, 1000*seconds)
	return respond(429, body, "Retry-After", fmt.Sprint(seconds), "Access-Control-Allow-Origin", "*")
}

// TestConformOverLimit checks a run against a server that refuses every request with 429. No check except limit.form may pass,
// and limit.form must fail only if the answers are invalid.
func TestConformOverLimit(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   int
		failed string
	}{
		"an hour": {rateLimited(3600), unavailable, ""},
		"a date": {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After",
			time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), refused, "limit.form"},
		"no header":    {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`), refused, "limit.form"},
		"another body": {respond(429, `{"message":"slow down"}`, "Retry-After", "3600"), refused, "limit.form"},
		"a page":       {respond(429, `<h1>Too many requests</h1>`, "Retry-After", "3600"), refused, "limit.form"},
		"another code": {respond(429, `{"error":"too_many","limit":20,"retryAfterMs":3600000}`, "Retry-After",
			"3600"), refused, "limit.form"},
		"rounded down": {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600001}`, "Retry-After",
			"3600"), refused, "limit.form"},
		"something left": {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After", "3600",
			"RateLimit", `"hub";r=3;t=3600`), refused, "limit.form"},
		"another policy": {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After", "3600",
			"RateLimit-Policy", `"hub";q=60;w=60`), refused, "limit.form"},
		"an endless wait": {respond(429, `{"error":"rate_limited","limit":20,"retryAfterMs":9e18}`, "Retry-After",
			"99999999999999999999"), refused, "limit.form"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			d.in = key
			s := serve(t, c.answer)
			r := d.conform(c.want, s.URL, "--api", s.URL, "--clock", s.URL, "--key", "-")
			for _, check := range r.Checks {
				if check.Outcome == "pass" && check.ID != "limit.form" || check.Outcome == "fail" && check.ID != c.failed {
					t.Errorf("%s: unexpected outcome %s %+v", check.ID, check.Outcome, check.Findings)
				}
			}
			if c.failed != "" && r.outcome(c.failed) != "fail" || r.NotTried < 30 {
				t.Errorf("%d failed; %d not tried, want at least 30: %+v", r.Failed, r.NotTried, r.Checks)
			}
			if name == "an hour" && (r.Requests > 12 || len(d.waited) > 0) {
				t.Errorf("%d requests, want at most 12; waits %v, want none", r.Requests, d.waited)
			}
		})
	}
}

// TestConformWaitIsBounded checks that all waits for rate limits add up to at most --wait.
func TestConformWaitIsBounded(t *testing.T) {
	d := newShell(t)
	s := serve(t, rateLimited(50))
	r := d.conform(unavailable, s.URL, "--wait", "2m")
	all := time.Duration(0)
	for _, pause := range d.waited {
		all += pause
	}
	if len(d.waited) != 2 || all > 2*time.Minute || all < 95*time.Second ||
		r.WaitedSeconds != int(all.Round(time.Second).Seconds()) || r.Failed > 0 {
		t.Errorf("waits %v, want two of at most 2m; the report states %d s and %d failed checks", d.waited, r.WaitedSeconds, r.Failed)
	}
	for _, wait := range []string{"-1s", "25h", "x"} {
		d.run(usage, "conform", s.URL, "--wait", wait)
	}
	at := time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
	d.waited, s = nil, serve(t, respond(429, `{}`, "Retry-After", at), respond(200, `{}`))
	d.conform(done, s.URL, "--only", "reach")
	if len(d.waited) != 1 || d.waited[0] < 20*time.Second || d.waited[0] > 31*time.Second {
		t.Errorf("waits %v until a date, want one of 20 to 31 s", d.waited)
	}
	text, _ := d.run(unavailable, "conform", serve(t, rateLimited(3600)).URL)
	d.requireContains(text, "because: not tried: GET /openapi.json is over a limit", "were not tried because of limits")
}

// keyLimited returns a handler that accepts most requests with a key. It refuses further requests with the stated limit and a
// wait in seconds. After the test waits for more than one second, it accepts requests again.
func keyLimited(d *shell, most, limit, wait int) http.HandlerFunc {
	taken := 0
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			_, _ = io.WriteString(w, `{}`)
			return
		}
		if taken++; taken <= most || len(d.waited) > 0 && wait > 1 {
			_, _ = io.WriteString(w, `{"handle":"mara_k"}`)
			return
		}
		body := strings.Replace(fmt.Sprintf(`{"error":"rate_limited","limit":L,"retryAfterMs":%d}`, 1000*wait), "L",
			fmt.Sprint(limit), 1)
		respond(429, body, "Retry-After", fmt.Sprint(wait))(w, r)
	}
}

// TestConformCountsTheKey checks that limit.key passes only for a server that accepts 60 requests with a key, refuses the next
// one, and accepts requests again after the required wait.
func TestConformCountsTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		most, limit, wait int
		code              int
		outcome           string
		due               string
	}{
		"sixty":               {60, 60, 40, done, "pass", ""},
		"sixty-one":           {61, 60, 40, refused, "fail", "429 for one of 61 requests"},
		"fifty-nine":          {59, 60, 40, refused, "fail", "60 requests before"},
		"thirty":              {30, 30, 40, refused, "fail", "limit is 60"},
		"a wait too short":    {60, 60, 1, refused, "fail", "after a wait of 1s"},
		"a wait for too long": {60, 60, 3600, done, "skip", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			d.in = key
			s := serve(t, keyLimited(d, c.most, c.limit, c.wait))
			r := d.conform(c.code, s.URL, "--key", "-", "--only", "limit.key", "--only", "limit.form")
			if r.outcome("limit.key") != c.outcome {
				t.Errorf("limit.key is %s, want %s: %+v", r.outcome("limit.key"), c.outcome, r.Checks)
			}
			if c.most < 61 && r.outcome("limit.form") != "pass" {
				t.Errorf("limit.form is %s, want pass: %+v", r.outcome("limit.form"), r.Checks)
			}
			if c.due != "" {
				d.requireContains(r.Checks[0].Findings[0].Due, c.due)
			}
		})
	}
}
