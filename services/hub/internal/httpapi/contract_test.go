package httpapi_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/proto/openapi"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
)

// TestOverview checks that /llms.txt names the host, lists every group of operations, links to the OpenAPI document and is at
// most 8 KiB long.
func TestOverview(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config, _ *httpapi.Deps) {
		c.OpenAPI, c.Source, c.APIURL, c.ClockURL = openapi.JSON, docs.OpenAPI, "https://api.example", "https://clock.example"
	})
	w := b.send("GET", "/llms.txt", "")
	body := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(body, "# Signalcast\n\n> ") || len(body) > 8<<10 {
		t.Fatalf("%d %v %d bytes\n%.300s", w.Code, w.Header(), len(body), body)
	}
	for _, want := range []string{"](" + hubURL + "/docs)", "](" + hubURL + "/openapi.json)", "](" + hubURL + "/docs/openapi.yaml)", "- [signals](" + hubURL + "/docs#signals), ", "- [webhooks]("} {
		if !strings.Contains(body, want) {
			t.Errorf("/llms.txt lacks %q", want)
		}
	}
	b.unchanged("/llms.txt", w)
	source := b.send("GET", "/docs/openapi.yaml", "")
	want(t, source, 200, "", "Content-Type: application/yaml", "="+string(docs.OpenAPI), "!Etag: ")
	if bare := setup(t); !strings.HasPrefix(bare.send("GET", "/llms.txt", "").Body.String(), "# ") {
		t.Error("/llms.txt has no heading if the OpenAPI document is empty")
	}
}

// operation is one method of one path in the OpenAPI document.
type operation struct {
	Open      bool                   `json:"x-signalcast-cors-open"`
	Security  []map[string][]string  `json:"security"`
	Servers   []struct{ URL string } `json:"servers"`
	Responses map[string]json.RawMessage
}

// described returns the hub's operations of the OpenAPI document by "METHOD /path/:param".
func described(t *testing.T) map[string]operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(openapi.JSON, &doc))
	out := map[string]operation{}
	for path, methods := range doc.Paths {
		path = strings.ReplaceAll(path, "{rest}", "*")
		path = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")
		for method, raw := range methods {
			var op operation
			if json.Unmarshal(raw, &op) != nil || op.Responses == nil {
				continue // not an operation, for example parameters
			}
			if slices.ContainsFunc(op.Servers, func(s struct{ URL string }) bool { return strings.Contains(s.URL, "hub") }) {
				out[strings.ToUpper(method)+" "+path] = op
			}
		}
	}
	return out
}

// TestRoutesMatchDescription checks that the service has exactly the routes of the OpenAPI document. For the routes of this
// package, but not for pages, it also compares the kinds of callers and the CORS policy.
func TestRoutesMatchDescription(t *testing.T) {
	t.Parallel()
	doc := described(t)
	b := setup(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Health = httpx.NewHealth("nonce", d.Now) })
	for _, route := range b.server.Table() {
		name := route.Method + " " + route.Path
		op, ok := doc[name]
		if !ok || route.Path == "/healthz" || route.Path == "/readyz" {
			continue // health checks have no list of callers
		}
		equal(t, op.Open, route.CORS != httpx.None, name)
		if got, want := slices.Sorted(slices.Values(route.Who)), callers(op); name != "DELETE /api/auth/privy" && !slices.Equal(got, want) {
			t.Errorf("%s: accepts callers %v, described are %v", name, got, want)
		}
	}
	b.mountPages()
	for _, route := range b.server.Table() {
		name := route.Method + " " + route.Path
		if _, ok := doc[name]; !ok {
			t.Errorf("%s is not described", name)
		}
		delete(doc, name)
	}
	for name := range doc {
		t.Errorf("%s is described, but the service has no such route", name)
	}
}

// callers returns the kinds of callers that an operation accepts, sorted, under their names in routes.go.
func callers(op operation) []string {
	words := map[string]string{
		"operatorKey": "key", "sessionId": "session", "identityToken": "jwt", "adminSecret": "admin", "cronSecret": "cron",
		"appToken": "token", "appCredentials": "client",
	}
	var out []string
	if len(op.Security) == 0 {
		out = append(out, "public")
	}
	for _, s := range op.Security {
		if len(s) == 0 {
			out = append(out, "public")
		}
		for name := range s {
			if w := words[name]; w != "" {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	return out
}

// handleParents are the prefixes under which a path segment is a handle.
var handleParents = []string{
	"/api/operator/", "/api/network/field-record/", "/api/network/identity/", "/api/network/payout/", "/api/live/",
	"/u/", "/live/", "/tip/", "/overlay/", "/operator/",
}

// TestReservedHandles checks that the ledger reserves every fixed path segment that a route has in the position of a handle.
// Otherwise the pages of an operator with that handle would be unreachable. The ledger assigns handles, so the test reads the
// reserved ones from its source.
func TestReservedHandles(t *testing.T) {
	t.Parallel()
	reserved := reservedByLedger(t)
	needed := map[string]bool{"me": true, "hub": true, "admin": true, "system": true}
	for _, route := range setup(t).server.Table() {
		for _, parent := range handleParents {
			if rest, ok := strings.CutPrefix(route.Path, parent); ok {
				segment, _, _ := strings.Cut(rest, "/")
				if !strings.HasPrefix(segment, ":") && segment != "*" {
					needed[segment] = true
				}
			}
		}
	}
	if !needed["leaderboard"] {
		t.Error("the routes have no segment \"leaderboard\" in the position of a handle")
	}
	for segment := range needed {
		if !reserved[segment] {
			t.Errorf("%q is not reserved", segment)
		}
	}
}

// reservedByLedger returns the keys of the variable reserved in the source of the ledger.
func reservedByLedger(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/internal/operator/handle.go", nil, 0)
	must(t, err)
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "reserved" || len(spec.Values) != 1 {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			word, err := strconv.Unquote(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value)
			must(t, err)
			out[word] = true
		}
		return false
	})
	return out
}

func TestRetired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "retired", b.send("GET", "/api/channels", ""))
	for _, target := range []string{"/api/channels", "/api/channels/7/signals", "/api/channel/x"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			want(t, b.send(method, target, "", b.byKey()), http.StatusGone, "")
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
		"/api/user/follow", "/api/user/notifications/read", "/api/identity/claim", "/api/streamer/profile", "/api/admin/daily-digest",
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
		plain := contentType("text/plain")
		packed := with("Content-Encoding", "gzip")
		want(t, b.send("POST", target, big, who), 413, "payload_too_large")
		want(t, b.send("POST", target, `{}`, who, plain), 415, "unsupported_media_type")
		want(t, b.send("POST", target, `{}`, who, packed), 415, "unsupported_media_type")
		want(t, b.send("POST", target, "{\"a\":\"\xff\"}", who), 400, "invalid_body")
		want(t, b.send("POST", target, `{"a":"\u0000"}`, who), 400, "invalid_body")
		want(t, b.send("POST", target, `{"a":1,"a":2}`, who), 400, "invalid_body")
	}
}

func TestLimitsOfCallers(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	access, _, _ := b.connect(b.register("public"))
	b.clock.Advance(time.Minute)
	for name, c := range map[string]struct {
		limit        int
		method, path string
		who          header
	}{
		"key":     {60, "POST", "/api/predictions", b.byKey()},
		"session": {120, "POST", "/api/predictions", b.bySession()},
		"jwt":     {120, "GET", "/api/dev/whoami", byLogin("mara_k")},
		"token":   {60, "GET", mePath, bearer(access)},
	} {
		for i := range c.limit {
			w := b.send(c.method, c.path, "", c.who)
			if w.Code == 429 || w.Header().Get("RateLimit-Policy") != fmt.Sprintf(`"hub";q=%d;w=60`, c.limit) ||
				w.Header().Get("RateLimit") != fmt.Sprintf(`"hub";r=%d;t=60`, c.limit-i-1) {
				t.Fatalf("%s: call %d: %d %v", name, i+1, w.Code, w.Header())
			}
		}
		w := b.send(c.method, c.path, "", c.who)
		want(t, w, 429, "rate_limited", "Retry-After: 60", "limit="+fmt.Sprint(c.limit), "retryAfterMs=60000")
	}
	golden(t, "rate_limited", b.send("POST", "/api/predictions", "", b.byKey()))
}

// strictKey creates a strict key of mara_k with these permissions.
func (b *fixture) strictKey(permissions ...string) string {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", object("label", "bot", "permissions", permissions, "strict", true), byLogin("mara_k"))
	want(b.t, w, 201, "", "strict=true")
	return field(w, "key")
}

func TestStrictKeyNeedsThePermissionOfEveryRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := []string{"read", "signal", "broadcast"}
	without := map[string]header{}
	for _, p := range all {
		without[p] = bearer(b.strictKey(slices.DeleteFunc(slices.Clone(all), func(q string) bool { return q == p })...))
	}
	agents := []string{"/api/mcp"} // paths whose permission depends on the tool
	params := regexp.MustCompile(`:\w+`)
	checked := 0
	for _, route := range b.server.Table() {
		if !slices.Contains(route.Who, "key") {
			if route.Permission != "" && !slices.Contains(route.Who, "token") {
				t.Errorf("%s %s accepts no key but has the permission %q", route.Method, route.Path, route.Permission)
			}
			continue
		}
		if slices.Contains(agents, route.Path) {
			continue
		}
		as, known := without[route.Permission]
		if !known {
			t.Errorf("%s %s accepts keys but has no permission", route.Method, route.Path)
			continue
		}
		checked++
		path := params.ReplaceAllString(route.Path, "0199f0a4-0000-7000-8000-000000000001")
		want(t, b.send(route.Method, path, "", as).as("a key without "+route.Permission), 403, "insufficient_scope")
	}
	if checked < 20 {
		t.Errorf("only %d routes accept keys; want more", checked)
	}
}

// readyTargets are reads that the hub answers from its cache of encoded answers.
var readyTargets = []string{
	"/api/signals/feed", "/api/operator/leaderboard", "/api/polymarket/featured", "/api/polymarket/featured?mode=resolving24h",
	"/api/oracle/featured?limit=3", "/api/fashion/signals", "/api/wire?window=1h", "/api/situations?lane=science", "/api/markets/airable?limit=7",
	"/api/broadcast/spotlight", "/api/broadcast/feed?types=take&limit=3", "/api/broadcast/bumpers", "/api/broadcast/influence?window=7d", "/api/broadcast/schedule?cat=music",
	"/api/broadcast/program", "/api/network/program?limit=3",
}

// TestCachedReadsSkipTheRouter checks that a second read is answered from the cache, before the router and with the same headers
// and body. It is still charged to the IP address, and a read with a credential goes to the router.
func TestCachedReadsSkipTheRouter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Program = programme()
	for _, target := range readyTargets {
		first, second := b.send("GET", target, ""), b.send("GET", target, "")
		has(t, first, "!X-Request-Id: ")
		equal(t, second.Header().Get("X-Request-Id"), "", target)
		for _, name := range []string{"Cache-Control", "Content-Type", "Etag", "Access-Control-Allow-Origin", "Access-Control-Max-Age", "X-Content-Type-Options"} {
			equal(t, first.Header().Get(name), second.Header().Get(name), target, name)
		}
		want(t, first, 200, "", "="+second.Body.String())
		with := b.send("GET", target, "", b.byKey())
		want(t, with, 200, "", "="+second.Body.String())
		if rule := with.Header().Get("Cache-Control"); !strings.HasPrefix(rule, "private") || strings.Contains(rule, "s-maxage") {
			t.Errorf("%s with a key: Cache-Control %q, want private", target, rule)
		}
	}
	few := setup(t, func(_ *httpapi.Config, d *httpapi.Deps) {
		d.Addresses = ratelimit.NewShared(nil, ratelimit.Config{Name: "hub", Limit: 2, Window: time.Minute, Now: d.Now})
	})
	for _, code := range []int{200, 200, 429} {
		want(t, few.send("GET", "/api/wire", ""), code, "")
	}
}

// TestSharedCachesAreDescribed checks that the s-maxage of each route is the number of seconds that the OpenAPI document states.
func TestSharedCachesAreDescribed(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(openapi.JSON, &doc))
	age := regexp.MustCompile(`s-maxage=(\d+)`)
	for _, route := range setup(t).server.Table() {
		path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(route.Path, "{$1}")
		var op struct {
			Shared json.RawMessage `json:"x-signalcast-shared-cache-seconds"`
		}
		if raw, ok := doc.Paths[path]["get"]; !ok || route.Method != "GET" || json.Unmarshal(raw, &op) != nil {
			continue
		}
		var want []int
		var one int
		var several map[string]int
		if json.Unmarshal(op.Shared, &one) == nil {
			want = append(want, one)
		} else if json.Unmarshal(op.Shared, &several) == nil {
			for _, n := range several {
				want = append(want, n)
			}
		}
		m := age.FindStringSubmatch(route.Cache)
		if (m != nil) != (want != nil) {
			t.Errorf("%s: %q, described %v", route.Path, route.Cache, want)
			continue
		}
		if m != nil {
			if n, err := strconv.Atoi(m[1]); err != nil || !slices.Contains(want, n) {
				t.Errorf("%s: %q, described %v", route.Path, route.Cache, want)
			}
		}
	}
}
