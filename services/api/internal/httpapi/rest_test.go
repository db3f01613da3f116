package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

func (b *bundle) get(path string, headers ...string) answer {
	b.t.Helper()
	return b.do(http.MethodGet, path, "", headers...)
}

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// TestPublicReads checks every public list: its cache rule, its open CORS policy, the cached response to an equivalent query,
// and the rejection of a request with a credential.
func TestPublicReads(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, noRelay: true})
	b.market("701122", "SCIENCE")
	if err := b.oracle.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := "Bearer " + b.key("reader")
	for path, cache := range map[string]string{
		"/api/v1/feed?limit=9":                   "public, no-cache",
		"/api/v1/signals/leaderboard?limit=9":    "public, s-maxage=60, stale-while-revalidate=300",
		"/api/v1/signals/external?limit=9":       "public, s-maxage=30",
		"/api/aura/top?limit=9":                  "public, s-maxage=30",
		"/api/aura/score?marketId=701122":        "public, s-maxage=30",
		"/api/aura/history?marketId=701122":      "public, s-maxage=30",
		"/api/v1/oracle/markets/701122?limit=99": "public, s-maxage=30, stale-while-revalidate=60",
	} {
		t.Run(path, func(t *testing.T) {
			a := b.get(path)
			again := b.get(path+"&x=1", "If-None-Match", a.header.Get("Etag"))
			for _, got := range []answer{a, again} {
				if got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Cache-Control") != cache {
					t.Errorf("wrong CORS or cache headers: %v", got.header)
				}
			}
			if a.status != 200 || a.header.Get("Content-Type") != "application/json; charset=utf-8" || again.status != http.StatusNotModified {
				t.Errorf("status %d, headers %v; then with If-None-Match %d, want 304", a.status, a.header, again.status)
			}
			if refused := b.get(path, "Authorization", "Bearer dk_"+strings.Repeat("A", 43)); refused.status != 401 {
				t.Errorf("with an unknown key: %d", refused.status)
			}
			if with := b.get(path, "Authorization", key); with.status != 200 || string(with.raw) != string(a.raw) ||
				!strings.HasPrefix(with.header.Get("Cache-Control"), "private") || strings.Contains(with.header.Get("Cache-Control"), "s-maxage") {
				t.Errorf("with a valid key: status %d, headers %v; want the same answer with Cache-Control private", with.status, with.header)
			}
		})
	}
}

// TestFeedPages checks that the pages of the feed contain every event in both directions, and that the parameter after takes
// precedence over cursor.
func TestFeedPages(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.market("1", "MUSIC")
	b.fact("market.status", "1", 23)
	b.head(23)
	walk := func(path string) (seqs []int64) {
		cursor := ""
		for range 20 {
			a := b.get(path + cursor)
			items, _ := a.body["items"].([]any)
			for _, it := range items {
				seqs = append(seqs, number(it.(map[string]any)["seq"]))
			}
			next, more := a.body["next_cursor"].(string)
			if !more {
				return seqs
			}
			cursor = "&cursor=" + next
			path, _, _ = strings.Cut(path, "&after=")
			path, _, _ = strings.Cut(path, "&cursor=")
		}
		t.Fatalf("%s: more than 20 pages", path)
		return nil
	}
	var down, up []int64
	for n := int64(1); n <= 23; n++ {
		down, up = append(down, 24-n), append(up, n)
	}
	for path, want := range map[string][]int64{
		"/api/v1/feed?limit=5":                                    down,
		"/api/v1/feed?limit=5&lane=MUSIC":                         down,
		"/api/v1/feed?limit=5&lane=TECH":                          nil,
		"/api/v1/feed?limit=5&after=0":                            up,
		"/api/v1/feed?limit=5&types=market.status&after=20":       up[20:],
		"/api/v1/feed?limit=5&providers=polymarket&after=22":      up[22:],
		"/api/v1/feed?limit=5&after=23":                           nil,
		"/api/v1/feed?limit=5&handle=nobody_at_all":               nil,
		"/api/v1/feed?limit=5&lane=OTHER":                         down,
		"/api/v1/feed?limit=5&lane=nonsense&cursor=":              down,
		"/api/v1/feed?limit=5&cursor=eyJrIjpbIjQiXSwiaWQiOiJiIn0": down[20:],
	} {
		if diff := cmp.Diff(want, walk(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestFeedGaps checks that a response to a request with after contains the newest event number. It must contain a gap if events
// after that number are no longer stored, even if the filter excludes them. An invalid parameter, and an after above the newest
// number, must be an error.
func TestFeedGaps(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	b.market("1", "MUSIC")
	b.market("2", "SCIENCE")
	b.dropDay("1", 5)
	b.fact("market.status", "1", 2)
	b.fact("market.status", "2", 1)
	b.head(8)
	for query, want := range map[string]string{
		"after=0":                                "6 7 8 head 8 gap 0 6",
		"after=4":                                "6 7 8 head 8 gap 4 6",
		"after=5":                                "6 7 8 head 8",
		"after=3&lane=SCIENCE":                   "8 head 8 gap 3 6",
		"after=6&lane=SCIENCE":                   "8 head 8",
		"after=2&types=market.disputed":          "head 8 gap 2 6",
		"after=8":                                "head 8",
		"after=9":                                "400 future_cursor head 8",
		"after=9223372036854775807":              "400 future_cursor head 8",
		"after=9&handle=nobody_at_all":           "400 future_cursor head 8",
		"after=8&handle=nobody_at_all":           "head 8",
		"after=2&handle=nobody_at_all":           "head 8 gap 2 6",
		"after=-1":                               "400 invalid_after",
		"after=x":                                "400 invalid_after",
		"after=":                                 "400 invalid_after",
		"after":                                  "400 invalid_after",
		"after=%zz":                              "400 invalid_after",
		"%61fter=1.5":                            "400 invalid_after",
		"after=1-2":                              "400 invalid_after",
		"after=9223372036854775808":              "400 invalid_after",
		"after=1&x=" + strings.Repeat("x", 5000): "400 invalid_after",
		"":                                       "8 7 6",
		"after=4&limit=1":                        "6 head 8 gap 4 6",
		"after=6&types=market.status,xx":         "400 invalid_types",
		"types=":                                 "400 invalid_types",
		"types=price.tick":                       "400 invalid_types",
		"providers=polymarket,x":                 "400 invalid_providers",
		"handle=%21%21":                          "400 invalid_handle",
		"handle=":                                "400 invalid_handle",
		"limit=0":                                "400 invalid_limit",
		"limit=-1":                               "400 invalid_limit",
		"limit=x":                                "400 invalid_limit",
		"limit=":                                 "400 invalid_limit",
		"limit=99999999999999999999":             "8 7 6",
		"cursor=zz":                              "400 invalid_cursor",
		"cursor=eyJrIjpbIi05Il0sImlkIjoiYiJ9":    "400 invalid_cursor",
		"cursor=eyJrIjpbIjkiXSwiaWQiOiJhZnRlciJ9": "400 future_cursor head 8",
	} {
		a := b.get("/api/v1/feed?" + query)
		var got []string
		if code, ok := a.body["error"].(string); ok {
			got = append(got, fmt.Sprint(a.status), code)
		}
		items, _ := a.body["items"].([]any)
		for _, it := range items {
			got = append(got, fmt.Sprint(number(it.(map[string]any)["seq"])))
		}
		if head, ok := a.body["head"]; ok {
			got = append(got, "head", fmt.Sprint(number(head)))
		}
		if gap, ok := a.body["gap"].(map[string]any); ok {
			got = append(got, "gap", fmt.Sprint(number(gap["from"])), fmt.Sprint(number(gap["oldest"])))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestDegraded checks that public lists are empty while the database is unavailable. They must have the header X-Degraded and
// must not be cached.
func TestDegraded(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	b := setup(t, options{memory: 1, noRelay: true, now: clock.Now, change: func(d *httpapi.Deps) {
		d.Oracle = attention.NewService(d.Feed.(*postgres.Store), clock.Now) // it has read no markets yet
	}})
	b.rw.Close()
	const now = "2026-09-18T12:00:00.000Z"
	for path, want := range map[string]struct{ body, source string }{
		"/api/v1/feed":                      {`{"items":[],"next_cursor":null}`, "db"},
		"/api/v1/signals/leaderboard":       {`{"leaderboard":[],"updatedAt":"` + now + `"}`, "db"},
		"/api/v1/signals/external":          {`{"signals":[],"count":0,"updatedAt":"` + now + `"}`, "db"},
		"/api/aura/top":                     {`{"markets":[],"updatedAt":"` + now + `"}`, "db"},
		"/api/aura/history?marketId=701122": {`{"marketId":"701122","points":[]}`, "db"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := b.get(path)
			if a.status != 200 || string(a.raw) != want.body || a.header.Get("X-Degraded") != want.source ||
				a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("degraded response: %d %s, headers %v", a.status, a.raw, a.header)
			}
		})
	}
}

func TestMintKey(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	const path = "/api/v1/agent/keys"
	for body, code := range map[string]string{
		``:              "415 unsupported_media_type",
		`[]`:            "400 invalid_body",
		`{}`:            "400 missing_label",
		`{"Label":"x"}`: "400 missing_label",
		`{"label":""}`:  "400 missing_label",
		`{"label":7}`:   "400 invalid_label",
		`{"label":"` + strings.Repeat("é", 65) + `"}`: "400 invalid_label",
		`{"label":"x","permissions":[]}`:              "400 invalid_permissions",
		`{"label":"x","permissions":["fly"]}`:         "400 invalid_permissions",
		`{"label":"x","permissions":"read"}`:          "400 invalid_permissions",
	} {
		a := b.do(http.MethodPost, path, body, "Authorization", "Bearer mara.b.c")
		if got := fmt.Sprint(a.status, " ", a.body["error"]); got != code {
			t.Errorf("%s: %s, want %s", body, got, code)
		}
		if a.header.Get("Deprecation") != "true" || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: wrong headers %v", body, a.header)
		}
	}
	for credential, code := range map[string]string{
		"":                                     "401 unauthenticated",
		"Bearer unknown.b.c":                   "401 unauthenticated",
		"Bearer " + b.key("tide"):              "401 unauthenticated",
		"Bearer dat_" + strings.Repeat("A", 9): "401 unauthenticated",
		"Bearer unavailable.b.c":               "503 identity_provider_unavailable",
	} {
		a := b.do(http.MethodPost, path, `{}`, "Authorization", credential)
		if got := fmt.Sprint(a.status, " ", a.body["error"]); got != code {
			t.Errorf("%q: %s, want %s", credential, got, code)
		}
	}
	for n := range 11 {
		a := b.do(http.MethodPost, path, `{"label":"overlay bot","permissions":["signal","read"],"more":1}`, "Authorization", "Bearer mara.b.c")
		if n == 10 {
			if a.status != 409 || a.body["error"] != "key_limit_reached" {
				t.Errorf("eleventh key: %d %s", a.status, a.raw)
			}
			continue
		}
		plaintext, _ := a.body["key"].(string)
		o, k, err := b.operators.Verify(t.Context(), operator.Hash(plaintext))
		if a.status != 201 || err != nil || o.Handle != "mara" || !strings.HasPrefix(plaintext, "db_live_") || len(plaintext) != 51 {
			t.Fatalf("mint a key: %d %s, verify: %v", a.status, a.raw, err)
		}
		want := map[string]any{"key": plaintext, "id": k.ID, "label": "overlay bot", "tier": "free", "permissions": []any{"read", "signal"}, "strict": false}
		if diff := cmp.Diff(want, a.body); diff != "" || uuid.Validate(k.ID) != nil || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("(-want +got):\n%s %v", diff, a.header)
		}
	}
}

// TestMintLimit checks the limit of 120 requests per minute for one subject of an identity provider. Rejected requests count as
// well.
func TestMintLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	const path = "/api/v1/agent/keys"
	last := answer{}
	accepted := 0
	for last.status != 429 && accepted < 200 {
		if last = b.do(http.MethodPost, path, `{}`, "Authorization", "Bearer mara.b.c"); last.status == 400 {
			accepted++
		}
	}
	if accepted != 120 || last.body["error"] != "rate_limited" || last.body["limit"] != 120.0 || last.header.Get("Retry-After") == "" {
		t.Errorf("%d requests accepted, then %d %s", accepted, last.status, last.raw)
	}
}

func TestRetiredAndHealth(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	for _, path := range []string{"/api/v1/channels", "/api/v1/channels/abc", "/api/v1/channels/a/b?x=1"} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			a := b.do(method, path, "", "Authorization", "Bearer whatever")
			if a.status != 410 || a.body["error"] != "gone" || a.body["successor"] != "/api/v1/stations" || a.body["message"] != "channels were replaced by stations; use /api/v1/stations" {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.raw)
			}
			if open := a.header.Get("Access-Control-Allow-Origin") == "*"; open != (method == "GET") {
				t.Errorf("%s %s: open CORS %v, want only for GET", method, path, open)
			}
		}
	}
	for path, want := range map[string]string{"/healthz": `{"ok":true,"nonce":"nonce"}`, "/readyz": `{"ok":true,"nonce":"nonce"}`} {
		if a := b.get(path); a.status != 200 || string(a.raw) != want {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
	}
	if a := b.get("/metrics"); a.status != 404 {
		t.Errorf("/metrics: %d, want 404", a.status)
	}
	if a := b.do("DELETE", "/api/v1/feed", ""); a.status != 405 || a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("wrong method: %d %v", a.status, a.header)
	}
	if a := b.do("OPTIONS", "/api/v1/feed", ""); a.status != 204 || a.header.Get("Access-Control-Allow-Methods") != "GET, OPTIONS" {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
}

// TestAddressLimit checks that requests to every route except health count towards the limit of an IP address, including those
// with a cached response.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, perAddr: 12})
	paths := []string{"/api/v1/feed", "/api/v1/feed", "/ws", "/api/v1/channels", "/nowhere", "/healthz"}
	counted := 0
	for n := range 18 {
		a := b.get(paths[n%6])
		if n%6 < 5 {
			counted++
		}
		if limited := a.status == 429; limited != (counted > 12 && n%6 < 5) {
			t.Errorf("call %d, counted %d: %d", n, counted, a.status)
		}
	}
	a := b.get("/api/v1/feed")
	if a.status != 429 || a.body["error"] != "rate_limited" || a.body["limit"] != 12.0 || a.header.Get("Retry-After") == "" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("over the limit: %d %s, headers %v; want 429", a.status, a.raw, a.header)
	}
	if _, _, err := b.dial("127.0.0.1", nil); err == nil {
		t.Error("a socket opened over the limit")
	}
	if c, _, err := b.dial("127.0.3.1", nil); err != nil {
		t.Errorf("another address: %v", err)
	} else {
		_ = c.conn.CloseNow()
	}
}

// TestRoutes compares the list of all routes with testdata/routes.txt.
func TestRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	var got []string
	for _, r := range b.server.Table() {
		line := testkit.Must(json.Marshal([]any{r.Method, r.Path, r.Who, r.CORS, r.Cache}))(t)
		got = append(got, string(line))
	}
	testkit.Golden(t, "routes.txt", []byte(strings.Join(got, "\n")+"\n"))
}
