package conform

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// foreignOrigin is an origin that is not on the list of trusted origins of any server.
const foreignOrigin = "https://other.example"

// anyOrigin adds a finding unless the response has the CORS headers that let pages of any origin read it. The parameter
// methods lists the HTTP methods that must be allowed.
func (r *run) anyOrigin(a *answer, methods ...string) {
	if a.err != nil {
		r.expect(false, a, "an answer")
		return
	}
	h := a.header
	origin, credentials := h.Get("Access-Control-Allow-Origin"), h.Get("Access-Control-Allow-Credentials")
	r.expect(origin == "*", a, "Access-Control-Allow-Origin: *", "Access-Control-Allow-Origin: "+origin)
	r.expect(credentials == "", a, "no Access-Control-Allow-Credentials", credentials)
	got := strings.ToUpper(strings.Join(h.Values("Access-Control-Allow-Methods"), ","))
	for _, m := range methods {
		r.expect(strings.Contains(got, m), a, "Access-Control-Allow-Methods contains "+m, "Access-Control-Allow-Methods: "+got)
	}
}

// corsOpen checks that pages of any origin can read the open routes, including their error responses.
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
		r.anyOrigin(r.send(ctx, q.with("Origin", foreignOrigin)), "GET", "OPTIONS")
	}
	q := request{method: http.MethodOptions, host: hub, path: "/api/network/pulse"}
	a := r.send(ctx, q.with("Origin", foreignOrigin).with("Access-Control-Request-Method", "GET"))
	r.expect(a.status == http.StatusOK || a.status == http.StatusNoContent, a, "200 or 204")
	r.anyOrigin(a, "GET", "OPTIONS")
	age := a.header.Get("Access-Control-Max-Age")
	r.expect(age == "86400", a, "Access-Control-Max-Age: 86400", "Access-Control-Max-Age: "+age)
}

// corsClosed checks that the responses to writes from another origin contain no CORS header that allows this origin.
func corsClosed(ctx context.Context, r *run) {
	for _, path := range []string{
		"/api/predictions", "/api/streamer/signal", "/api/user/follow", "/api/dev/keys", "/api/signals/" + noSignal + "/events",
	} {
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			q := request{method: method, host: hub, path: path}.with("Origin", foreignOrigin).with("Access-Control-Request-Method", "POST")
			if method == http.MethodPost {
				q.body = "{}"
			}
			a := r.send(ctx, q)
			got := a.header.Get("Access-Control-Allow-Origin")
			r.expect(got != "*" && got != foreignOrigin, a, "no Access-Control-Allow-Origin", "Access-Control-Allow-Origin: "+got)
		}
	}
}

// corsProtocol checks that pages of any origin can send requests with a bearer token to the routes under /api/protocol/v1.
func corsProtocol(ctx context.Context, r *run) {
	const base = "/api/protocol/v1"
	for _, q := range []request{
		{method: http.MethodGet, host: hub, path: base},
		{method: http.MethodPost, host: hub, path: base + "/predictions", body: "{}"},
		{method: http.MethodOptions, host: hub, path: base + "/signals"},
	} {
		a := r.send(ctx, q.with("Origin", foreignOrigin).with("Access-Control-Request-Method", "POST"))
		r.anyOrigin(a, "GET", "POST", "DELETE", "OPTIONS")
		allowed := strings.ToLower(strings.Join(a.header.Values("Access-Control-Allow-Headers"), ","))
		for _, name := range []string{"authorization", "content-type", "idempotency-key"} {
			r.expect(strings.Contains(allowed, name), a, "Access-Control-Allow-Headers contains "+name,
				"Access-Control-Allow-Headers: "+allowed)
		}
	}
}

// entityTags repeats reads with the header If-None-Match. The OpenAPI document must have an ETag. If a response has an ETag
// and does not change, the repeated read must return 304.
func entityTags(ctx context.Context, r *run) {
	for _, path := range []string{"/openapi.json", "/api/protocol/v1", "/api/network/tapes", "/api/signals/feed"} {
		known := false
		var a *answer
		for range 5 { // the answer may change between the two requests
			tag := ""
			if a = r.reread(ctx, hub, path); a.err == nil {
				tag = a.header.Get("ETag")
			}
			if tag == "" {
				break
			}
			a = r.send(ctx, request{method: http.MethodGet, host: hub, path: path}.with("If-None-Match", tag))
			if known = a.status == http.StatusNotModified; known {
				r.expect(len(a.body) == 0, a, "304 without a body", fmt.Sprintf("%d bytes", len(a.body)))
				break
			}
		}
		if a.header.Get("ETag") != "" || path == "/openapi.json" || known {
			r.expect(known, a, "304 for If-None-Match with the ETag that was given")
		}
	}
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/openapi.json"}.with("If-None-Match", `"of conform"`))
	r.status(a, http.StatusOK)
}

// cacheAges checks the maximum time, in seconds, for which shared caches may store a response.
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
		r.expect(age <= c.most, a, fmt.Sprintf("an age of at most %d seconds", c.most), "Cache-Control: "+control)
	}
}
