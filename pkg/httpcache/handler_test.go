package httpcache_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	pages := httpcache.New(httpcache.Options{TTL: time.Minute, Now: time.Now})
	defer pages.Close()
	allow := true
	var seen []string
	next := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTeapot) })
	f := httpcache.NewHandler(next, httpcache.HandlerOptions{
		Allow: func(rw http.ResponseWriter, _ *http.Request) bool { rw.Header().Set("RateLimit", "x"); return allow },
		Count: func(method, route string, status int) func() {
			return func() { seen = append(seen, method+" "+route+" "+http.StatusText(status)) }
		},
	}, httpcache.Hot{
		Pattern: "/api/feed", Cache: pages, Key: func(_, raw string) (string, bool) { return "feed", raw != "no" },
		Header: http.Header{"access-control-allow-origin": {"*"}, "Cache-Control": {"public, s-maxage=5"}},
	}, httpcache.Hot{
		Pattern: "/api/m/*/signals", Cache: pages, Key: func(param, _ string) (string, bool) { return "m:" + param, true },
	})
	do := func(method, target string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		rec := httptest.NewRecorder()
		f.ServeHTTP(rec, r)
		return rec
	}
	if rec := do("GET", "/api/feed"); rec.Code != http.StatusTeapot || len(rec.Header()) != 0 {
		t.Errorf("a cache miss was answered: status %d, header %v", rec.Code, rec.Header())
	}
	for key, body := range map[string]string{"feed": "1", "m:701122": "2"} {
		if _, err := pages.Get(t.Context(), key, func(context.Context) ([]byte, error) { return []byte(body), nil }); err != nil {
			t.Fatal(err)
		}
	}
	rec := do("GET", "/api/feed?x=1")
	if rec.Code != 200 || rec.Body.String() != "1" || rec.Header().Get("Access-Control-Allow-Origin") != "*" ||
		rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("RateLimit") != "x" {
		t.Errorf("hit: %d %s %v", rec.Code, rec.Body, rec.Header())
	}
	if rec := do("GET", "/api/feed", "If-None-Match", rec.Header().Get("Etag")); rec.Code != 304 {
		t.Errorf("revalidation: status %d, want 304", rec.Code)
	}
	if rec := do("HEAD", "/api/m/701122/signals"); rec.Code != 200 || rec.Body.Len() != 0 {
		t.Errorf("HEAD with a parameter: status %d, want 200", rec.Code)
	}
	requirePassedOn(t, do)
	allow = false
	if rec := do("GET", "/api/feed"); rec.Code != http.StatusTeapot {
		t.Errorf("a caller that Allow rejects was answered: status %d", rec.Code)
	}
	if len(seen) != 3 || seen[1] != "GET /api/feed Not Modified" || seen[2] != "HEAD /api/m/*/signals OK" {
		t.Errorf("counted %v, want 3 responses", seen)
	}
}

// requirePassedOn checks that the Handler passes all requests that it must not answer to the next handler.
func requirePassedOn(t *testing.T, do func(method, target string, header ...string) *httptest.ResponseRecorder) {
	t.Helper()
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"write":          do("POST", "/api/feed"),
		"options":        do("OPTIONS", "/api/feed"),
		"bearer":         do("GET", "/api/feed", "Authorization", "Bearer x"),
		"session":        do("GET", "/api/feed", "Cookie", "db_uid=x"),
		"key refuses":    do("GET", "/api/feed?no"),
		"other path":     do("GET", "/api/feed/"),
		"escaped":        do("GET", "/api%2Ffeed"),
		"no parameter":   do("GET", "/api/m//signals"),
		"two segments":   do("GET", "/api/m/a/b/signals"),
		"unknown market": do("GET", "/api/m/2/signals"),
	} {
		if rec.Code != http.StatusTeapot {
			t.Errorf("%s: the request was answered with status %d instead of being passed on", name, rec.Code)
		}
	}
}
