package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
)

// withCalls returns a fixture with several calls, a resolved market and an event. open and won are ids of calls.
func withCalls(t *testing.T, options ...option) (b *fixture, open, won string) {
	t.Helper()
	b = setup(t, options...)
	for i, c := range []struct {
		handle, direction string
		price             int
	}{{"tidewatch", "NO", 6900}, {"otto", "YES", 3100}} {
		op := b.ledger.AddOperator(c.handle)
		b.clock.Advance(time.Minute)
		b.ledger.Quote(marketID, 3200, 6900)
		b.file(c.direction, c.price+i, with("Authorization", "Bearer "+b.ledger.AddKey(op.GetId())))
	}
	b.clock.Advance(time.Minute)
	b.ledger.Quote(marketID, 3200, 6900)
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey())
	want(t, w, 200, "")
	open = field(w, "id")
	want(t, b.send("POST", "/api/signals/"+open+"/events",
		`{"type":"take","payload":{"url":"https://video.example/1","text":"look","actor":"hub"}}`, b.byKey()), 201, "")
	b.ledger.Exec(`UPDATE market_quotes SET yes_bps = 4900 WHERE market_id = $1`, nativeID) // YES is the minority side
	w = b.send("POST", "/api/predictions", `{"marketId":"native-0000000001","direction":"YES","priceAtPrediction":6190}`, b.byKey())
	want(t, w, 200, "")
	won = field(w, "id")
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", "/api/resolution/finalize",
		`{"marketId":"native-0000000001","verdict":"YES","proofUrl":"https://records.example/mill/1"}`, byAdmin()), 200, "")
	b.clock.Advance(time.Minute)
	return b, open, won
}

func TestReads(t *testing.T) {
	t.Parallel()
	b, open, won := withCalls(t)
	b.followed(11, b.mara.GetId())
	b.ledger.Lock()
	b.ledger.Board, b.ledger.Top = board(b), [2]int32{67, 3}
	b.ledger.Program = programme()
	b.ledger.Unlock()
	for name, target := range map[string]string{
		"feed_recent":      "/api/signals/feed",
		"feed_open":        "/api/signals/feed?type=open&limit=2",
		"feed_beat_crowd":  "/api/signals/feed?type=beat_crowd",
		"signal_open":      "/api/signals/" + open,
		"signal_won":       "/api/signals/" + strings.ToUpper(won),
		"events":           "/api/signals/" + open + "/events",
		"market":           "/api/m/701122",
		"market_resolved":  "/api/m/native-0000000001",
		"ledger":           "/api/m/701122/signals?limit=2",
		"ledger_empty":     "/api/m/999/signals",
		"crowd":            "/api/m/701122/crowd",
		"crowd_empty":      "/api/m/999/crowd",
		"outcome_claimed":  "/api/resolution/outcome?market=native-0000000001",
		"outcome_none":     "/api/resolution/outcome?market=701122",
		"natives_resolved": "/api/resolution/markets?status=resolved",
		"natives_open":     "/api/resolution/markets",
		"board":            "/api/operator/leaderboard?operators=human&window=28d&lane=science",
		"program":          "/api/network/program?preset=hot&providers=manual,polymarket&categories=Science,nonsense&minVolume=1000",
		"program_no_lanes": "/api/network/program?lanes=0&limit=1",
		"broadcast":        "/api/broadcast/program?preset=close",
	} {
		w := b.send("GET", target, "")
		golden(t, "reads/"+name, w)
		want(t, b.send("HEAD", target, ""), w.Code, "", "Etag: "+w.Header().Get("Etag"))
		b.unchanged(target, w)
		want(t, b.send("GET", target, "", with("If-None-Match", `W/"000000000000000000000000"`)), w.Code, "")
	}
	b.receipt(won)
	golden(t, "reads/crowd_own", b.send("GET", "/api/m/701122/crowd", "", b.bySession()))
	has(t, b.send("GET", "/api/m/701122/crowd", "", b.bySession()), "Etag: ", "Vary: Cookie")
}

// receipt compares the JSON form of a receipt with its golden file. It calls the handler directly, because the route belongs to
// the pages.
func (b *fixture) receipt(id string) {
	b.t.Helper()
	w := httptest.NewRecorder()
	c := b.server.Router().NewContext(httptest.NewRequest("GET", "/receipts/"+id, nil), w)
	c.SetParamNames("id")
	c.SetParamValues(id)
	if err := b.server.Receipt(c); err != nil {
		b.t.Error(err)
	}
	golden(b.t, "reads/receipt", &answer{w, ""})
}

func board(b *fixture) []*boardv1.Row {
	op := proto.CloneOf(b.mara)
	op.AvatarUrl = proto.String("https://img.example/m.png")
	return []*boardv1.Row{{
		Rank: 1, Operator: op, Score: 48, Total: 24, Won: 12, Lost: 6, Pending: 5, Accuracy: 67,
		BroadcastScore: 515, Skill: 0.53, Activity: 0.46, Reach: 0.55, ViewerMinutes: 561, Live: true,
		EdgeCalls: 18, EdgeBps: 260, EdgeLowBps: -140, EdgeHighBps: 655,
	}}
}

func programme() *programv1.Program {
	return &programv1.Program{
		GeneratedAt: at("2026-09-18T12:00:00Z"), Total: 3, Spec: `{"categories":["science"],"minVolume":1000}`,
		Segments: []*programv1.Segment{
			{
				SegmentId: "hot:science:2933988:b", Kind: "bumper", MarketId: marketID, Category: "science", Title: "NEXT",
				StartsAt: at("2026-09-18T11:58:00Z"), EndsAt: at("2026-09-18T11:58:10Z"), MarketEndDate: at("2026-11-30T23:00:00Z"),
				EndsInMs: proto.Int64(6346800000), YesPrice: proto.Float64(31.5), NoPrice: proto.Float64(68.5), Volume: proto.Float64(182000),
				Bucket: "ON AIR", Status: "live", Signals: 42, Tapes: 3, Takes: 6, Streams: 1, EventKey: "ostrava-flood",
				Provider: "polymarket", Route: "/m/701122",
			},
			{
				SegmentId: "hot:science:2933988:c", Kind: "content", MarketId: nativeID, Category: "science", Title: "Mill race",
				StartsAt: at("2026-09-18T11:58:10Z"), EndsAt: at("2026-09-18T12:08:10Z"), Bucket: "ON AIR", Status: "live",
				Provider: "manual", Route: "/m/" + nativeID,
			},
		},
		Lanes: []*programv1.Lane{{Key: "science", Label: "SCIENCE", Segments: []int32{0, 1}}},
	}
}

func TestProgramQuery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Program = programme()
	b.send("GET", "/api/network/program?preset=hot&spec=%7B%22minYes%22%3A70%2C%22maxYes%22%3A60%2C%22minVolume%22%3A1%7D"+
		"&minVolume=5&providers=kalshi,unknown&categories=science,POLITICS&topPerCategory=200&maxResolveHours=24&limit=9999", "")
	r := apitest.Last[*programv1.GetProgramRequest](b.ledger)
	const spec = `{"categories":["politics","science"],"minVolume":5,"minYes":70,"maxResolveHours":24}`
	if r.GetPreset() != "hot" || r.GetSpec() != spec || fmt.Sprint(r.GetProviders()) != "[kalshi]" || r.GetLimit() != 400 {
		t.Errorf("the hub requested %v", r)
	}
	b.send("GET", "/api/broadcast/program?preset=unknown&minVolume=7", "")
	if r := apitest.Last[*programv1.GetProgramRequest](b.ledger); r.GetPreset() != "default" || r.GetSpec() != "" || r.GetLimit() != 200 {
		t.Errorf("the hub requested %v", r)
	}
}

func TestProgramWithoutClock(t *testing.T) {
	t.Parallel()
	b := setup(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Programs = nil })
	golden(t, "reads/program_off", b.send("GET", "/api/network/program", ""))
}

func TestProgramWhenTheClockIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Program = programme()
	b.ledger.Fail(errClock)
	off := b.send("GET", "/api/network/program", "")
	golden(t, "reads/program_unavailable", off)
	has(t, off, "X-Degraded: clock", "Access-Control-Allow-Origin: *")
	b.clock.Advance(2 * time.Second)
	b.ledger.Fail(nil)
	enabled := func() bool { return field(b.send("GET", "/api/network/program", ""), "enabled") == "true" }
	if !enabled() {
		t.Fatal("the clock is available again, but the programme is not served")
	}
	b.ledger.Fail(errClock)
	b.clock.Advance(4*time.Minute + 55*time.Second)
	has(t, b.send("GET", "/api/network/program", ""), "total=3", "X-Degraded: clock", "Cache-Control: no-store")
	b.clock.Advance(10 * time.Second)
	if enabled() {
		t.Error("a copy older than five minutes is served")
	}
}

func TestCachedReadsMakeNoCall(t *testing.T) {
	t.Parallel()
	b, _, _ := withCalls(t)
	want(t, b.send("GET", "/api/signals/feed", ""), 200, "")
	asked := b.ledger.Count("ListFeed")
	for range 50 {
		for _, target := range []string{
			"/api/signals/feed", "/api/signals/feed?limit=20&type=recent", "/api/signals/feed?x=1&type=nonsense&limit=-3",
		} {
			if w := b.send("GET", target, ""); w.Code != 200 || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Fatal(w.Code, w.Header())
			}
		}
	}
	equal(t, b.ledger.Count("ListFeed"), asked)
	b.clock.Advance(1100 * time.Millisecond)
	b.send("GET", "/api/signals/feed", "")
	testkit.Eventually(t, 5*time.Second, func() bool { return b.ledger.Count("ListFeed") > asked })
}

func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const none = "0199f0a4-0000-7000-8000-00000000ffff"
	for target, code := range map[string]string{
		"/api/signals/" + none:                          "not_found",
		"/api/signals/not-a-uuid":                       "not_found",
		"/api/signals/" + none + "/events":              "not_found",
		"/api/signals/x/events":                         "not_found",
		"/api/m/999":                                    "not_found",
		"/api/m/polymarket:1":                           "not_found",
		"/api/m/polymarket:1/signals":                   "not_found",
		"/api/m/polymarket:1/crowd":                     "not_found",
		"/api/resolution/outcome?market=polymarket:701": "not_found",
		"/api/m/999/related":                            "not_found",
		"/api/m/polymarket:1/related":                   "not_found",
		"/api/m/999/sentiment":                          "not_found",
		"/api/m/%ff/sentiment":                          "not_found",
		"/api/network/market/999":                       "not_found",
		"/api/network/market/x%00":                      "not_found",
		"/api/polymarket/market":                        "not_found",
		"/api/polymarket/market?id=999":                 "not_found",
		"/api/polymarket/market?id=" + nativeID:         "not_found",
		"/api/polymarket/market?id=0701122":             "not_found",
		"/api/polymarket/market?id=701122%00":           "not_found",
		"/api/polymarket/market?id=%ff":                 "not_found",
		"/api/kalshi/markets":                           "not_found",
		"/api/operator/no_such_user":                    "not_found",
		"/api/operator/not-a-handle":                    "not_found",
		"/api/operator/no_such_user/skill":              "not_found",
		"/api/operator/x%00/skill":                      "not_found",
		"/api/network/field-record/no_such_user":        "not_found",
		"/api/network/field-record/%ff":                 "not_found",
		"/api/nothing":                                  "not_found",
	} {
		want(t, b.send("GET", target, ""), 404, code, "Cache-Control: no-store")
	}
	want(t, b.send("GET", "/api/resolution/outcome", ""), 400, "missing_market")
	want(t, b.send("POST", "/api/signals/"+none+"/events", `{"type":"reaffirm"}`, b.byKey()), 404, "not_found")
}

// TestReadsWithoutLedger checks that without the ledger, lists are empty and degraded, and single objects answer 503. None of
// these answers is cacheable.
func TestReadsWithoutLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, outage := range []struct {
		source string
		err    error
	}{
		{"signal_service", errAPI}, {"db", apitest.ErrDB},
	} {
		source := outage.source
		b.clock.Advance(time.Minute)
		b.ledger.Fail(outage.err)
		for name, target := range map[string]string{
			"feed": "/api/signals/feed?type=open", "ledger": "/api/m/701122/signals", "crowd": "/api/m/701122/crowd",
			"natives": "/api/resolution/markets", "board": "/api/operator/leaderboard",
			"found": "/api/polymarket/markets?q=gauge", "resolved": "/api/polymarket/resolved", "gaps": "/api/network/crowd",
			"history": "/api/polymarket/market-history?marketId=701122", "old_history": "/api/polymarket/history?market_id=701122",
		} {
			w := b.send("GET", target, "")
			has(t, w, "X-Degraded: "+source, "Cache-Control: no-store", "Etag: ")
			if source == "db" {
				golden(t, "unavailable/"+name, w)
			}
		}
		want(t, b.send("GET", "/api/m/701122/crowd", "", b.bySession()), 200, "", "Cache-Control: no-store")
		const id = "0199f0a4-0000-7000-8000-00000000ffff"
		for _, target := range []string{
			"/api/signals/" + id, "/api/signals/" + id + "/events", "/api/m/701122", "/api/resolution/outcome?market=701122",
			"/api/polymarket/market?id=701122", "/api/m/701122/related", "/api/m/701122/sentiment", "/api/network/market/701122",
		} {
			want(t, b.send("GET", target, ""), 503, source+"_unavailable", "!Retry-After: ", "Cache-Control: no-store")
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	b, _, _ := withCalls(t)
	seen, cursor := map[string]bool{}, ""
	for range 5 {
		w := b.send("GET", "/api/m/701122/signals?limit=1&cursor="+cursor, "")
		var page struct {
			Count      int
			Signals    []struct{ ID string }
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Count != 3 || len(page.Signals) > 1 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, s := range page.Signals { // the page after a full last page is empty
			seen[s.ID] = true
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	equal(t, len(seen), 3)
}

// TestCrowdThatDidNotChange checks that the entity tag of a crowd changes only if its content changes. A conditional read one
// minute later therefore gets 304.
func TestCrowdThatDidNotChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("GET", "/api/m/999/crowd", "")
	b.clock.Advance(time.Minute)
	b.unchanged("/api/m/999/crowd", w)
}
