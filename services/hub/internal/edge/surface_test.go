package edge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
)

// TestCORS: the listed reads are open, everything else and every write is
// shut, whatever the method, the origin, the credential and the answer.
func TestCORS(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := map[string]bool{
		"/api/broadcast/schedule": true, "/api/broadcast/spotlight": true, "/api/broadcast/feed": true, "/api/broadcast/bumpers": true,
		"/api/broadcast/influence": true, "/api/broadcast/program": true, "/api/network/program": true,
		"/api/polymarket/markets": true, "/api/polymarket/market": true, "/api/polymarket/resolved": true,
		"/api/network/market/:marketId": true, "/api/network/crowd": true,
		"/api/operator/:handle/skill": true, "/api/network/field-record/:handle": true, "/api/network/pulse": true,
		"/api/network/tapes": true, "/api/network/operators": true,
		"/api/network/identity/:handle": true, "/api/network/payout/:handle": true,
		"/api/operator/:handle/record": true, "/api/embed/operator/:handle": true, "/api/embed/market/:marketId": true, "/api/embed/signal/:id": true,
		"/api/embed/oembed": true, "/api/card/:kind/:id": true, "/api/c/:code": true,
		"/api/situations": true, "/api/oracle/featured": true, "/api/fashion/signals": true,
		"/api/polymarket/featured": true, "/api/polymarket/market-history": true, "/api/polymarket/history": true,
		"/.well-known/oauth-authorization-server/api/protocol/v1": true, "/.well-known/oauth-protected-resource/api/protocol/v1": true,
		"/.well-known/oauth-protected-resource/api/protocol/v1/mcp": true,
		"/api/channels": true, "/api/channels/*": true, "/api/channel/*": true,
	}
	cells := 0
	for _, route := range b.server.Table() {
		target := strings.NewReplacer(":id", "0199f0a4-0000-7000-8000-00000000ffff", ":marketId", "999", "*", "x").Replace(route.Path)
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS"} {
			for _, origin := range []string{"", hubURL, "https://evil.example", "null"} {
				b.clock.Advance(time.Second)
				w := b.send(method, target, "", with("Origin", origin), with("Access-Control-Request-Method", "POST"))
				h := w.Header()
				star := h.Get("Access-Control-Allow-Origin")
				wantStar := open[route.Path] && (method == "GET" || method == "HEAD" || method == "OPTIONS")
				methods := "GET, OPTIONS"
				if strings.HasPrefix(route.Path, "/api/protocol/") { // with any method, errors too
					wantStar, methods = true, "GET, POST, DELETE, OPTIONS"
				}
				if wantStar != (star == "*") || !wantStar && star != "" || h.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s %s from %q: %v", method, target, origin, h)
				}
				if wantStar && (h.Get("Access-Control-Allow-Methods") != methods || h.Get("Access-Control-Max-Age") != "86400") {
					t.Errorf("%s %s: %v", method, target, h)
				}
				cells++
			}
		}
	}
	t.Logf("%d cells", cells)
}

// Tricks with the path never lend a star to a route that has none, and never
// reach it under another name.
func TestCORSPathTricks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, target := range []string{
		"/api/network/../predictions", "/api/network/%2e%2e/predictions", "/api/network//../predictions",
		"//api/network/program", "/api//network/program", "/API/NETWORK/PROGRAM", "/api/network/program/", "/api/network/%2fprogram",
		"/api/network/program/../../signals/feed", "/api/broadcast/program;x=1", "/api/network/program%00",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			r := httptest.NewRequest(method, "/", nil)
			r.RequestURI = target
			u, err := r.URL.Parse("http://example.com" + target)
			if err != nil {
				continue // the server refuses it before us
			}
			r.URL = u
			r.Header.Set("Authorization", "Bearer "+b.key)
			w := httptest.NewRecorder()
			b.server.ServeHTTP(w, r)
			if w.Header().Get("Access-Control-Allow-Origin") != "" && w.Code != http.StatusUnauthorized || w.Code == http.StatusOK {
				t.Errorf("%s %s: %d %v", method, target, w.Code, w.Header())
			}
		}
	}
	if n := b.ledger.Count("File"); n != 0 {
		t.Errorf("%d calls reached the ledger", n)
	}
}

func TestCORSOnErrors(t *testing.T) {
	t.Parallel()
	b := setup(t, func(_ *edge.Config, d *edge.Deps) {
		d.Addresses = limit.NewLocal("hub", 2, time.Minute, d.Now)
	})
	b.send("GET", "/api/network/program", "")
	if w := b.send("GET", "/api/network/program", "", b.byKey()); w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("401: %v", w.Header())
	}
	b.send("GET", "/api/network/program", "")
	w := b.send("GET", "/api/network/program", "")
	want(t, w, 429, "rate_limited")
	if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Retry-After") != "60" ||
		w.Header().Get("RateLimit-Policy") != `"hub";q=2;w=60` || !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "X-Degraded") {
		t.Errorf("429: %v", w.Header())
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for target, allow := range map[string]string{
		"/api/predictions":           "OPTIONS, POST",
		"/api/signals/feed":          "GET, HEAD, OPTIONS",
		"/api/dev/keys":              "DELETE, GET, HEAD, OPTIONS, POST",
		"/api/signals/x/events":      "GET, HEAD, OPTIONS, POST",
		"/api/admin/resolve-signals": "GET, HEAD, OPTIONS, POST",
		"/api/m/701122/streams":      "DELETE, GET, HEAD, OPTIONS, POST",
		"/api/admin/pins":            "DELETE, GET, HEAD, OPTIONS, POST",
		"/api/broadcast/preempt":     "GET, HEAD, OPTIONS, POST",
	} {
		w := b.send("PATCH", target, "")
		if w.Code != 405 || field(w, "error") != "method_not_allowed" || w.Header().Get("Allow") != allow {
			t.Errorf("PATCH %s: %d %v", target, w.Code, w.Header())
		}
		w = b.send("OPTIONS", target, "")
		if w.Code != 204 || w.Header().Get("Allow") != allow || w.Body.Len() != 0 {
			t.Errorf("OPTIONS %s: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestRetired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "retired", b.send("GET", "/api/channels", ""))
	for _, target := range []string{"/api/channels", "/api/channels/7/signals", "/api/channel/x"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			if w := b.send(method, target, "", b.byKey()); w.Code != http.StatusGone {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	big := `{"label":"` + strings.Repeat("x", 64<<10) + `"}`
	for _, target := range []string{
		"/api/predictions", "/api/signals/0199f0a4-0000-7000-8000-00000000ffff/events", "/api/dev/keys", "/api/auth/privy",
		"/api/m/701122/streams", "/api/admin/pins", "/api/broadcast/preempt", "/api/resolution/finalize", "/api/resolution/dispute", "/api/admin/resolve-signals", "/api/admin/markets", "/api/admin/operators",
		"/api/user/follow", "/api/identity/claim", "/api/streamer/profile", "/api/admin/daily-digest",
	} {
		who := byAdmin()
		switch {
		case strings.HasPrefix(target, "/api/dev"), strings.HasPrefix(target, "/api/auth"):
			who = byLogin("mara_k")
		case strings.HasPrefix(target, "/api/user"), strings.HasPrefix(target, "/api/identity"):
			who = b.bySession()
		case strings.HasPrefix(target, "/api/predictions"), strings.HasPrefix(target, "/api/signals"), strings.HasPrefix(target, "/api/m/"), strings.HasPrefix(target, "/api/streamer"):
			who = b.byKey()
		}
		plain := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
		packed := with("Content-Encoding", "gzip")
		want(t, b.send("POST", target, big, who), 413, "payload_too_large")
		want(t, b.send("POST", target, `{}`, who, plain), 415, "unsupported_media_type")
		want(t, b.send("POST", target, `{}`, who, packed), 415, "unsupported_media_type")
		want(t, b.send("POST", target, "{\"a\":\"\xff\"}", who), 400, "invalid_body")
		want(t, b.send("POST", target, `{"a":"\u0000"}`, who), 400, "invalid_body")
		want(t, b.send("POST", target, `{"a":1,"a":2}`, who), 400, "invalid_body")
		// Who may not ask does not learn what the shape should be.
		if target != "/api/admin/resolve-signals" {
			want(t, b.send("POST", target, big), 401, "unauthenticated")
		}
	}
}

func TestLimitsOfCallers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		limit        int
		method, path string
		who          header
	}{
		"key":     {60, "POST", "/api/predictions", b.byKey()},
		"session": {120, "POST", "/api/predictions", b.bySession()},
		"jwt":     {120, "GET", "/api/dev/whoami", byLogin("mara_k")},
	} {
		for i := range c.limit {
			w := b.send(c.method, c.path, "", c.who)
			if w.Code == 429 || w.Header().Get("RateLimit-Policy") != fmt.Sprintf(`"hub";q=%d;w=60`, c.limit) ||
				w.Header().Get("RateLimit") != fmt.Sprintf(`"hub";r=%d;t=60`, c.limit-i-1) {
				t.Fatalf("%s: call %d: %d %v", name, i+1, w.Code, w.Header())
			}
		}
		w := b.send(c.method, c.path, "", c.who)
		want(t, w, 429, "rate_limited")
		if w.Header().Get("Retry-After") != "60" || field(w, "limit") != fmt.Sprint(c.limit) || field(w, "retryAfterMs") != "60000" {
			t.Errorf("%s: %v %s", name, w.Header(), w.Body)
		}
	}
	golden(t, "rate_limited", b.send("POST", "/api/predictions", "", b.byKey()))
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const id = "0199f0a4-1111-7000-8000-000000000001"
	if got := b.send("GET", "/api/m/999", "", with("X-Request-Id", id)).Header().Get("X-Request-Id"); got != id {
		t.Errorf("id %q", got)
	}
	if got := b.send("GET", "/api/m/999", "", with("X-Request-Id", "evil\r\nx")).Header().Get("X-Request-Id"); len(got) != 36 {
		t.Errorf("id %q", got)
	}
}
