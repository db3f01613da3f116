package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/lane"
)

// callsBundle returns a bundle with one market in each of the lanes SCIENCE, CRYPTO and OTHER.
func callsBundle(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, options{memory: 1})
	b.market("100", "SCIENCE")
	b.market("200", "CRYPTO")
	b.market("300", "OTHER")
	return b
}

// call stores a call of the operator with the id who, filed n seconds after noon. If status is not empty, it also stores the
// result.
func (b *bundle) call(who, market, status string, n int) (id string) {
	b.t.Helper()
	id = fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
	at := time.Date(2026, 9, 18, 12, 0, n, 0, time.UTC)
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, crowd_yes_bps, created_at, market_title, text_take, source)
		VALUES ($1, $2, $3, true, 4000, 4000, true, 2800, $4, 'Ostrava gauge above 6 m?', 'It rains', 'web')`, id, market, who, at)
	b.exec(`INSERT INTO api.operator_totals AS t (user_id, total) VALUES ($1, 1) ON CONFLICT (user_id) DO UPDATE SET total = t.total + 1`, who)
	b.exec(`INSERT INTO api.market_totals AS t (market_id, yes) VALUES ($1, 1) ON CONFLICT (market_id) DO UPDATE SET yes = t.yes + 1`, market)
	if status == "" {
		return id
	}
	score := map[string]int{"won": 60, "lost": -40}[status]
	b.exec(`INSERT INTO api.signal_results (signal_id, event_id, user_id, status, score, beat_crowd, scoring_version, scoring_vertical, resolved_at, counted)
		VALUES ($1, gen_random_uuid(), $2, $3, $4, false, '1.1', 'CRYPTO', $5, $3 <> 'void')`, id, who, status, score, at.Add(time.Hour))
	for _, table := range []string{"operator_scores", "operator_lane_scores"} {
		columns, values := "user_id", "$1"
		if table == "operator_lane_scores" {
			columns, values = "user_id, lane", "$1, 'CRYPTO'"
		}
		b.exec(`INSERT INTO api.`+table+` AS t (`+columns+`, won, lost, void, score) VALUES (`+values+`, ($2 = 'won')::int, ($2 = 'lost')::int, ($2 = 'void')::int, $3)
			ON CONFLICT (`+columns+`) DO UPDATE SET won = t.won + excluded.won, lost = t.lost + excluded.lost, void = t.void + excluded.void, score = t.score + excluded.score`,
			who, status, score)
	}
	return id
}

// ids returns the ends of the call ids in an answer, without leading zeros: the numbers n of the method call.
func ids(a answer) string {
	list, _ := a.body["signals"].([]any)
	var out []string
	for _, row := range list {
		id, _ := row.(map[string]any)["id"].(string)
		out = append(out, strings.TrimLeft(id[24:], "0"))
	}
	return strings.Join(out, " ")
}

// TestCallsByFilter checks every filter of GET /api/v1/signals, the pages of the list, and the JSON of a call.
func TestCallsByFilter(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	_, mara, _ := b.keyWith("mara")
	_, otto, _ := b.keyWith("otto")
	b.call(mara, "100", "", 1)
	b.call(mara, "200", "won", 2)
	b.call(otto, "200", "lost", 3)
	b.call(otto, "300", "", 4)
	for query, want := range map[string]string{
		"": "4 3 2 1", "lane=CRYPTO": "3 2", "lane=crypto": "3 2", "lane=MOON": "4 3 2 1", "lane=OTHER": "4 3 2 1",
		"status=pending": "4 1", "status=won": "2", "status=lost": "3", "status=void": "", "status=WON": "4 3 2 1",
		"handle=otto": "4 3", "handle=Otto": "4 3", "handle=unknown_one": "", "handle=!!": "", "marketId=200": "3 2", "marketId=404": "", "marketId=%C3%BC": "",
		"handle=mara&status=won&lane=CRYPTO&marketId=200": "2", "limit=1": "4", "limit=0": "4 3 2 1", "limit=-1": "4 3 2 1", "limit=x": "4 3 2 1", "cursor=x": "4 3 2 1", "unknown=1": "4 3 2 1",
	} {
		a := b.get("/api/v1/signals?" + query)
		if a.status != 200 || ids(a) != want || number(a.body["count"]) != int64(len(strings.Fields(want))) || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%q: %d %q, want %q: %s", query, a.status, ids(a), want, a.raw)
		}
	}
	first := b.get("/api/v1/signals?limit=3")
	next, _ := first.body["next_cursor"].(string)
	if rest := b.get("/api/v1/signals?limit=3&cursor=" + url.QueryEscape(next)); ids(first) != "4 3 2" || ids(rest) != "1" || rest.body["next_cursor"] != nil {
		t.Errorf("pages %q and %q, %v", ids(first), ids(rest), rest.body["next_cursor"])
	}
	a := b.get("/api/v1/signals?status=won")
	want := map[string]any{
		"id": "00000000-0000-7000-8000-000000000002", "lane": "CRYPTO", "operatorPublicId": a.body["signals"].([]any)[0].(map[string]any)["operatorPublicId"],
		"marketId": "200", "marketTitle": "Ostrava gauge above 6 m?", "direction": "YES", "priceAtPrediction": 4000.0, "crowdYesAtSignal": 2800.0,
		"score": 60.0, "status": "won", "createdAt": "2026-09-18T12:00:02.000Z", "resolvedAt": "2026-09-18T13:00:02.000Z", "textTake": "It rains", "handle": "mara",
		"marketYesAtSignal": nil, "closesAtSignal": nil, "scoreBasisBps": 4000.0, "priceVerified": true, "rated": false, "counted": true, "reason": nil, "quoteAt": nil, "confirmedAt": nil,
	}
	if diff := cmp.Diff(map[string]any{"signals": []any{want}, "count": 1.0, "next_cursor": nil}, a.body); diff != "" || strings.Contains(string(a.raw), "did:") {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := b.get("/api/v1/signals?status=won", "If-None-Match", a.header.Get("Etag")); again.status != 304 {
		t.Errorf("with the current ETag: %d, want 304", again.status)
	}
	if a := b.get("/api/v1/signals", "Authorization", "Bearer dk_wrong"); a.status != 401 {
		t.Errorf("with a wrong key: %d %s", a.status, a.raw)
	}
}

// TestCategories checks the numbers of each lane, and that lanes without calls are listed as well.
func TestCategories(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	_, mara, _ := b.keyWith("mara")
	b.call(mara, "100", "", 1)
	b.call(mara, "300", "", 2)
	b.exec("UPDATE api.markets SET status = 'closed' WHERE market_id = '100'")
	a := b.get("/api/v1/signals/categories")
	got, _ := a.body["categories"].([]any)
	if a.status != 200 || len(got) != len(protocol.Lanes) {
		t.Fatalf("categories: %d %s", a.status, a.raw)
	}
	for i, l := range protocol.Lanes {
		want := map[string]any{"lane": string(l), "signals": 0.0, "openSignals": 0.0, "markets": 0.0}
		switch l {
		case "SCIENCE":
			want["signals"], want["markets"] = 1.0, 1.0
		case protocol.LaneOther:
			want["signals"], want["openSignals"], want["markets"] = 1.0, 1.0, 1.0
		}
		if !l.Filterable() {
			want["filterable"] = false
		}
		if diff := cmp.Diff(any(want), got[i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", l, diff)
		}
	}
}

// TestCategorise checks that questions are assigned to lanes by their words. The lane that an administrator has set for a
// market must take precedence.
func TestCategorise(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	key, _, _ := b.keyWith("mara", "read")
	as := "Bearer " + key
	post := func(body string, headers ...string) answer {
		return b.do("POST", "/api/v1/signals/categorize", body, headers...)
	}
	a := post(`{"items":[{"title":"Will Bitcoin close above 100k?"},{"marketId":"100"},{"marketId":"404","title":"zzz qqq"},{"title":"zzz qqq","more":1}]}`, "Authorization", as)
	items, _ := a.body["items"].([]any)
	if a.status != 200 || len(items) != 4 {
		t.Fatalf("categorize: %d %s", a.status, a.raw)
	}
	var got []string
	for _, it := range items {
		m := it.(map[string]any)
		got = append(got, fmt.Sprint(m["marketId"], " ", m["lane"], " ", m["method"]))
	}
	want := []string{"<nil> CRYPTO keyword", "100 SCIENCE keyword", "404 OTHER fallback", "<nil> OTHER fallback"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := func(n int) string {
		return `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"title":"x"},`, n), ",") + `]}`
	}
	if a := post(many(lane.MaxItems), "Authorization", as); a.status != 200 {
		t.Errorf("the maximum number of items: %d %s", a.status, a.raw)
	}
	for body, code := range map[string]string{
		`{}`: "missing_items", `{"items":{}}`: "invalid_items", `{"items":[1]}`: "invalid_items", many(lane.MaxItems + 1): "invalid_items",
		`{"items":[{}]}`: "missing_title", `{"items":[{"title":""}]}`: "missing_title", `{"items":[{"title":"` + strings.Repeat("x", 501) + `"}]}`: "invalid_title",
		`{"items":[{"title":"x","marketId":"%"}]}`: "invalid_market_id", `[]`: "invalid_body", `{"items":[],"items":[]}`: "invalid_body",
	} {
		if a := post(body, "Authorization", as); a.status != 400 || a.body["error"] != code {
			t.Errorf("%.60s: %d %s, want %s", body, a.status, a.raw, code)
		}
	}
	blind, _, _ := b.keyWith("otto", "signal")
	if a := post(many(1), "Authorization", "Bearer "+blind); a.status != 403 || a.body["error"] != "insufficient_scope" || a.body["required"] != "read" {
		t.Errorf("without read: %d %s", a.status, a.raw)
	}
	if a := post(many(1)); a.status != 401 {
		t.Errorf("without a credential: %d %s", a.status, a.raw)
	}
	if a := post(many(1), "X-Admin-Secret", adminSecret); a.status != 401 {
		t.Errorf("with the admin secret: %d %s", a.status, a.raw)
	}
}

// TestRuleLane checks that a market stays in the lane that an administrator has set, and that the change is in the audit log.
func TestRuleLane(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	key, _, _ := b.keyWith("mara", "read")
	rule := func(market, body string, headers ...string) answer {
		return b.do("PUT", "/api/v1/markets/"+market+"/lane", body, headers...)
	}
	admin := []string{"X-Admin-Secret", adminSecret}
	for i, c := range [][2]string{
		{`{"lane":"CRYPTO","category":"music"}`, `{"ok":true,"marketId":"100","lane":"CRYPTO","category":"music"}`},
		{`{"lane":"SPORT","more":1}`, `{"ok":true,"marketId":"100","lane":"SPORT","category":"sports"}`},
	} {
		if a := rule("100", c[0], admin...); a.status != 200 || string(a.raw) != c[1] {
			t.Errorf("change %d: %d %s", i, a.status, a.raw)
		}
	}
	placed := b.do("POST", "/api/v1/signals/categorize", `{"items":[{"marketId":"100","title":"Will Bitcoin close above 100k?"}]}`, "Authorization", "Bearer "+key)
	if it := placed.body["items"].([]any)[0]; fmt.Sprint(it) != "map[category:sports confidence:100 lane:SPORT marketId:100 method:override]" {
		t.Errorf("categorised after the change: %v", it)
	}
	for name, c := range map[string]struct {
		market, body string
		headers      []string
		status       int
		code         string
	}{
		"no lane":       {"100", `{}`, admin, 400, "missing_lane"},
		"unknown lane":  {"100", `{"lane":"MOON"}`, admin, 400, "invalid_lane"},
		"small letters": {"100", `{"lane":"sport"}`, admin, 400, "invalid_lane"},
		"bad category":  {"100", `{"lane":"SPORT","category":"moon"}`, admin, 400, "invalid_category"},
		"bad body":      {"100", `{"lane":"SPORT"`, admin, 400, "invalid_body"},
		"unknown":       {"404", `{"lane":"SPORT"}`, admin, 404, "market_not_found"},
		"no id":         {"%25", `{"lane":"SPORT"}`, admin, 404, "market_not_found"},
		"no credential": {"100", `{"lane":"CRYPTO"}`, nil, 401, "unauthenticated"},
		"a key":         {"100", `{"lane":"CRYPTO"}`, []string{"Authorization", "Bearer " + key}, 401, "unauthenticated"},
		"both":          {"100", `{"lane":"CRYPTO"}`, append([]string{"Authorization", "Bearer " + key}, admin...), 401, "unauthenticated"},
		"wrong secret":  {"100", `{"lane":"CRYPTO"}`, []string{"X-Admin-Secret", "guess"}, 403, "forbidden"},
	} {
		if a := rule(c.market, c.body, c.headers...); a.status != c.status || a.body["error"] != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	var lanes string
	err := b.admin.QueryRow(t.Context(), `SELECT m.lane || ' ' || m.lane_ruled || ' ' || (SELECT count(*) FROM api.audit_log WHERE subject = '100' AND action = 'market.lane')
		FROM api.markets m WHERE market_id = '100'`).Scan(&lanes)
	if err != nil || lanes != "SPORT true 2" {
		t.Errorf("stored lane, lane_ruled and audit entries: %q, %v", lanes, err)
	}
}

// TestUsers checks that the calls and statistics of an operator can be read only with a key of the operator or as an
// administrator.
func TestUsers(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	key, mara, _ := b.keyWith("mara", "read", "signal")
	other, otto, _ := b.keyWith("otto", "read")
	blind, _, _ := b.keyWith("rita", "signal")
	b.call(mara, "100", "", 1)
	b.call(mara, "200", "won", 2)
	b.call(mara, "300", "lost", 3)
	b.call(otto, "200", "lost", 4)
	as := []string{"Authorization", "Bearer " + key}
	admin := []string{"X-Admin-Secret", adminSecret}
	me := b.get("/api/v1/users/me", as...)
	id := me.body["operatorPublicId"]
	want := map[string]any{
		"handle": "mara", "operatorPublicId": id, "displayName": me.body["displayName"], "operatorType": "human", "isAi": false, "tier": "independent", "permissions": []any{"read", "signal"},
	}
	if diff := cmp.Diff(want, me.body); me.status != 200 || diff != "" || !strings.HasPrefix(fmt.Sprint(id), "op_") || me.header.Get("Cache-Control") != "no-store" {
		t.Errorf("me: %d %q (-want +got):\n%s", me.status, me.header.Get("Cache-Control"), diff)
	}
	for _, who := range [][]string{as, admin, append(append([]string{}, as...), admin...)} { // a key takes precedence over the admin secret
		stats := b.get("/api/v1/users/mara/stats", who...)
		want := map[string]any{
			"handle": "mara", "operatorPublicId": id, "total": 3.0, "won": 1.0, "lost": 1.0, "void": 0.0, "pending": 1.0, "resolved": 2.0, "accuracy": 50.0, "score": 20.0,
			"streak": 0.0, "avgClvBps": nil, "rank": stats.body["rank"], "operators": stats.body["operators"], "updatedAt": stats.body["updatedAt"],
			"lanes": []any{
				map[string]any{
					"lane": "CRYPTO", "total": 2.0, "won": 1.0, "lost": 1.0, "void": 0.0, "pending": 0.0, "resolved": 2.0, "accuracy": 50.0,
					"score": 20.0, "streak": 0.0, "avgClvBps": nil,
				},
				map[string]any{
					"lane": "SCIENCE", "total": 1.0, "won": 0.0, "lost": 0.0, "void": 0.0, "pending": 1.0, "resolved": 0.0, "accuracy": 0.0,
					"score": 0.0, "streak": 0.0, "avgClvBps": nil,
				},
			},
		}
		if diff := cmp.Diff(want, stats.body); stats.status != 200 || diff != "" {
			t.Errorf("stats: %d (-want +got):\n%s", stats.status, diff)
		}
	}
	for query, want := range map[string]string{"": "3 2 1", "?status=won": "2", "?limit=2": "3 2", "?marketId=200&lane=CRYPTO&handle=otto": "3 2 1"} {
		if a := b.get("/api/v1/users/mara/signals"+query, as...); a.status != 200 || ids(a) != want || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %d %q, want %q", query, a.status, ids(a), want)
		}
	}
	for _, path := range []string{"/api/v1/users/mara/signals", "/api/v1/users/mara/stats"} {
		for name, c := range map[string]struct {
			path    string
			headers []string
			status  int
			code    string
		}{
			"no credential":    {path, nil, 401, "unauthenticated"},
			"another operator": {path, []string{"Authorization", "Bearer " + other}, 403, "forbidden"},
			"without read":     {strings.Replace(path, "mara", "rita", 1), []string{"Authorization", "Bearer " + blind}, 403, "insufficient_scope"},
			"wrong key":        {path, []string{"Authorization", "Bearer dk_wrong"}, 401, "unauthenticated"},
			"wrong secret":     {path, []string{"X-Admin-Secret", "guess"}, 403, "forbidden"},
			"key, no handle":   {strings.Replace(path, "mara", "%21", 1), as, 403, "forbidden"},
			"admin, no handle": {strings.Replace(path, "mara", "%21", 1), admin, 404, "not_found"},
			"admin, unknown":   {strings.Replace(path, "mara", "unknown_one", 1), admin, 404, "not_found"},
		} {
			if a := b.get(c.path, c.headers...); a.status != c.status || a.body["error"] != c.code {
				t.Errorf("%s, %s: %d %s", path, name, a.status, a.raw)
			}
		}
	}
	if a := b.get("/api/v1/users/me", admin...); a.status != 401 {
		t.Errorf("with the admin secret: %d %s", a.status, a.raw)
	}
	empty := b.get("/api/v1/users/otto/signals?status=won", "Authorization", "Bearer "+other)
	if string(empty.raw) != `{"signals":[],"count":0,"next_cursor":null}` {
		t.Errorf("no matching call: %s", empty.raw)
	}
}

// TestCallsWithoutDatabase checks the answers while the database is unavailable: public lists are empty with the header
// X-Degraded, and reads with a key fail.
func TestCallsWithoutDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, noRelay: true})
	key, _, _ := b.keyWith("mara", "read")
	b.rw.Close()
	as := []string{"Authorization", "Bearer " + key}
	for path, want := range map[string]string{"/api/v1/signals": `{"signals":[],"count":0,"next_cursor":null}`, "/api/v1/signals/categories": `{"categories":[],`} {
		if a := b.get(path); a.status != 200 || !strings.HasPrefix(string(a.raw), want) || a.header.Get("X-Degraded") == "" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s %v", path, a.status, a.raw, a.header)
		}
	}
	refused := []answer{b.do("POST", "/api/v1/signals/categorize", `{"items":[{"title":"x"}]}`, as...)}
	for _, path := range []string{"/api/v1/users/me", "/api/v1/users/mara/stats", "/api/v1/users/mara/signals"} {
		refused = append(refused, b.get(path, as...))
	}
	for i, a := range refused {
		if a.status != 503 || a.body["error"] != "db_unavailable" || a.header.Get("Retry-After") == "" {
			t.Errorf("request %d: %d %s, want 503", i, a.status, a.raw)
		}
	}
}
