package conform

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const stranger = "https://stranger.example"

// anyOrigin demands what pages of any origin need.
func (r *run) anyOrigin(a *answer, methods ...string) {
	if a.err != nil {
		r.due(false, a, "an answer")
		return
	}
	h := a.header
	r.due(h.Get("Access-Control-Allow-Origin") == "*", a, "Access-Control-Allow-Origin: *", "Access-Control-Allow-Origin: "+h.Get("Access-Control-Allow-Origin"))
	r.due(h.Get("Access-Control-Allow-Credentials") == "", a, "no Access-Control-Allow-Credentials", h.Get("Access-Control-Allow-Credentials"))
	got := strings.ToUpper(strings.Join(h.Values("Access-Control-Allow-Methods"), ","))
	for _, m := range methods {
		r.due(strings.Contains(got, m), a, "Access-Control-Allow-Methods has "+m, "Access-Control-Allow-Methods: "+got)
	}
}

func corsOpen(ctx context.Context, r *run) {
	for _, q := range r.reachable(
		request{host: hub, path: "/api/network/pulse"},
		request{host: hub, path: "/api/network/operators"},
		request{host: hub, path: "/api/network/tapes"},
		request{host: hub, path: "/api/broadcast/program"},
		request{host: hub, path: "/api/oracle/featured"},
		request{host: hub, path: "/api/fashion/signals"},
		request{host: hub, path: "/api/situations"},
		request{host: hub, path: "/api/" + r.Venue + "/featured"},
		request{host: hub, path: "/api/" + r.Venue + "/markets"},
		request{host: hub, path: "/api/network/field-record/" + noHandle},
		request{host: hub, path: "/api/embed/operator/" + noHandle},
		request{host: hub, path: "/api/channels"},
		request{host: api, path: "/api/v1/signals/leaderboard"},
		request{host: api, path: "/api/v1/feed"},
		request{host: clock, path: "/program/now"},
	) {
		q.method = http.MethodGet
		r.anyOrigin(r.send(ctx, q.with("Origin", stranger)), "GET", "OPTIONS")
	}
	q := request{method: http.MethodOptions, host: hub, path: "/api/network/pulse"}
	a := r.send(ctx, q.with("Origin", stranger).with("Access-Control-Request-Method", "GET"))
	r.due(a.status == http.StatusOK || a.status == http.StatusNoContent, a, "200 or 204")
	r.anyOrigin(a, "GET", "OPTIONS")
	r.due(a.header.Get("Access-Control-Max-Age") == "86400", a, "Access-Control-Max-Age: 86400", "Access-Control-Max-Age: "+a.header.Get("Access-Control-Max-Age"))
}

func corsClosed(ctx context.Context, r *run) {
	for _, path := range []string{"/api/predictions", "/api/streamer/signal", "/api/user/follow", "/api/dev/keys", "/api/signals/" + noSignal + "/events"} {
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			q := request{method: method, host: hub, path: path}.with("Origin", stranger).with("Access-Control-Request-Method", "POST")
			if method == http.MethodPost {
				q.body = "{}"
			}
			a := r.send(ctx, q)
			got := a.header.Get("Access-Control-Allow-Origin")
			r.due(got != "*" && got != stranger, a, "no Access-Control-Allow-Origin", "Access-Control-Allow-Origin: "+got)
		}
	}
}

func corsProtocol(ctx context.Context, r *run) {
	const base = "/api/protocol/v1"
	for _, q := range []request{
		{method: http.MethodGet, host: hub, path: base},
		{method: http.MethodPost, host: hub, path: base + "/predictions", body: "{}"},
		{method: http.MethodOptions, host: hub, path: base + "/signals"},
	} {
		a := r.send(ctx, q.with("Origin", stranger).with("Access-Control-Request-Method", "POST"))
		r.anyOrigin(a, "GET", "POST", "DELETE", "OPTIONS")
		allowed := strings.ToLower(strings.Join(a.header.Values("Access-Control-Allow-Headers"), ","))
		for _, name := range []string{"authorization", "content-type", "idempotency-key"} {
			r.due(strings.Contains(allowed, name), a, "Access-Control-Allow-Headers has "+name, "Access-Control-Allow-Headers: "+allowed)
		}
	}
}

// entityTags asks for what it has. The description must have a tag; others that have
// one must know it again.
func entityTags(ctx context.Context, r *run) {
	for _, path := range []string{"/openapi.json", "/api/protocol/v1", "/api/network/tapes", "/api/signals/feed"} {
		known := false
		var a *answer
		for range 5 { // the answer may change between the two
			tag := ""
			if a = r.reread(ctx, hub, path); a.err == nil {
				tag = a.header.Get("ETag")
			}
			if tag == "" {
				break
			}
			a = r.send(ctx, request{method: http.MethodGet, host: hub, path: path}.with("If-None-Match", tag))
			if known = a.status == http.StatusNotModified; known {
				r.due(len(a.body) == 0, a, "304 without a body", fmt.Sprintf("%d bytes", len(a.body)))
				break
			}
		}
		if a.header.Get("ETag") != "" || path == "/openapi.json" || known {
			r.due(known, a, "304 for If-None-Match with the ETag that was given")
		}
	}
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/openapi.json"}.with("If-None-Match", `"of conform"`))
	r.status(a, http.StatusOK)
}

// cacheAges looks at the longest time for which shared caches may keep an answer.
func cacheAges(ctx context.Context, r *run) {
	for _, c := range []struct {
		path string
		most int
	}{
		{"/api/network/tapes", 60},
		{"/api/network/operators", 60},
		{"/api/operator/leaderboard", 60},
		{"/api/network/pulse", 300},
		{"/api/network/program", 30},
		{"/api/broadcast/schedule", 30},
		{"/api/markets/airable", 30},
		{"/api/" + r.Venue + "/featured", 30},
		{"/api/streamers/live", 5},
		{"/api/streamer/signal?handle=" + noHandle, 5},
		{"/api/wire", 30},
		{"/api/situations", 30},
		{"/api/signals/feed", 10},
	} {
		a := r.get(ctx, hub, c.path)
		if a.status != http.StatusOK || a.header.Get("X-Degraded") != "" {
			continue
		}
		control := strings.ToLower(a.header.Get("Cache-Control"))
		age := 0
		for part := range strings.SplitSeq(control, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			if n, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && (name == "s-maxage" || name == "max-age") {
				age = max(age, n)
			}
		}
		r.due(age <= c.most, a, fmt.Sprintf("kept for at most %d seconds", c.most), "Cache-Control: "+control)
	}
}
