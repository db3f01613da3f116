package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// over is a refusal as the protocol has it.
func over(seconds int) http.HandlerFunc {
	return says(429, fmt.Sprintf(`{"error":"rate_limited","limit":20,"retryAfterMs":%d}`, 1000*seconds), "Retry-After", fmt.Sprint(seconds), "Access-Control-Allow-Origin", "*")
}

// TestConformOverLimit: who takes no requests is not found wrong, and nothing is found
// right either. A refusal that is not as it is due is found.
func TestConformOverLimit(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   int
		failed string
	}{
		"an hour":         {over(3600), away, ""},
		"a date":          {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), refused, "limit.form"},
		"no header":       {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`), refused, "limit.form"},
		"another body":    {says(429, `{"message":"slow down"}`, "Retry-After", "3600"), refused, "limit.form"},
		"a page":          {says(429, `<h1>Too many requests</h1>`, "Retry-After", "3600"), refused, "limit.form"},
		"another code":    {says(429, `{"error":"too_many","limit":20,"retryAfterMs":3600000}`, "Retry-After", "3600"), refused, "limit.form"},
		"rounded down":    {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600001}`, "Retry-After", "3600"), refused, "limit.form"},
		"something left":  {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After", "3600", "RateLimit", `"hub";r=3;t=3600`), refused, "limit.form"},
		"another policy":  {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":3600000}`, "Retry-After", "3600", "RateLimit-Policy", `"hub";q=60;w=60`), refused, "limit.form"},
		"a wait for ever": {says(429, `{"error":"rate_limited","limit":20,"retryAfterMs":9e18}`, "Retry-After", "99999999999999999999"), refused, "limit.form"},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
			d.in = key
			s := serve(t, c.answer)
			r := d.conform(c.want, s.URL, "--api", s.URL, "--clock", s.URL, "--key", "-")
			for _, check := range r.Checks {
				if check.Outcome == "pass" && check.ID != "limit.form" || check.Outcome == "fail" && check.ID != c.failed {
					t.Errorf("%s: %s %+v", check.ID, check.Outcome, check.Findings)
				}
			}
			if c.failed != "" && r.of(c.failed) != "fail" || r.NotTried < 30 {
				t.Errorf("%d failed, %d not tried: %+v", r.Failed, r.NotTried, r.Checks)
			}
			if name == "an hour" && (r.Requests > 12 || len(d.waited) > 0) {
				t.Errorf("%d requests, waits %v", r.Requests, d.waited)
			}
		})
	}
}

// TestConformPatience: all waits for limits together are bounded, whatever a server asks for.
func TestConformPatience(t *testing.T) {
	d := sit(t)
	s := serve(t, over(50))
	r := d.conform(away, s.URL, "--wait", "2m")
	all := time.Duration(0)
	for _, pause := range d.waited {
		all += pause
	}
	if len(d.waited) != 2 || all > 2*time.Minute || all < 95*time.Second || r.WaitedSeconds != int(all.Round(time.Second).Seconds()) || r.Failed > 0 {
		t.Errorf("waits %v, told %d s, %d failed", d.waited, r.WaitedSeconds, r.Failed)
	}
	for _, wait := range []string{"-1s", "25h", "x"} {
		d.run(usage, "conform", s.URL, "--wait", wait)
	}
	at := time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
	d.waited, s = nil, serve(t, says(429, `{}`, "Retry-After", at), says(200, `{}`))
	d.conform(done, s.URL, "--only", "reach")
	if len(d.waited) != 1 || d.waited[0] < 20*time.Second || d.waited[0] > 31*time.Second {
		t.Errorf("until a date: %v", d.waited)
	}
	text, _ := d.run(away, "conform", serve(t, over(3600)).URL)
	d.has(text, "because: not tried: GET /openapi.json is over a limit", "were not tried because of limits")
}

// counted is a server with a limit of the key: most requests in all until it is waited.
func counted(d *desk, most, limit, wait int) http.HandlerFunc {
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
		body := strings.Replace(fmt.Sprintf(`{"error":"rate_limited","limit":L,"retryAfterMs":%d}`, 1000*wait), "L", fmt.Sprint(limit), 1)
		says(429, body, "Retry-After", fmt.Sprint(wait))(w, r)
	}
}

// TestConformCountsTheKey: sixty are taken, the next one is not, and after the wait there
// are more.
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
		"a wait too short":    {60, 60, 1, refused, "fail", "as 1s were waited"},
		"a wait for too long": {60, 60, 3600, done, "skip", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
			d.in = key
			s := serve(t, counted(d, c.most, c.limit, c.wait))
			r := d.conform(c.code, s.URL, "--key", "-", "--only", "limit.key", "--only", "limit.form")
			if r.of("limit.key") != c.outcome {
				t.Errorf("%+v", r.Checks)
			}
			if c.most < 61 && r.of("limit.form") != "pass" {
				t.Errorf("%+v", r.Checks)
			}
			if c.due != "" {
				d.has(r.Checks[0].Findings[0].Due, c.due)
			}
		})
	}
}
