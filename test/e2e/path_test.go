package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestCallFromDoorToRecord is the path that everything else rests on: a login, a
// key, a call, its lock, its history, its outcome, and every place where it shows.
func TestCallFromDoorToRecord(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 3000)
	id := p.call(t, market, "NO", 6850, obj{"confidence": 70, "textTake": "The upper gauges are falling."})

	p.file(t, market, "YES", 3000).is(http.StatusConflict).has(obj{
		"error": "already_predicted", "id": id, "receiptUrl": s.Hub + "/receipts/" + id,
	})
	s.signal(t, id).has(obj{
		"id": id, "callsign": p.user, "marketId": market, "direction": "NO", "priceAtPrediction": 6850, "crowdYesAtSignal": 3000,
		"confidence": 70, "textTake": "The upper gauges are falling.", "status": "pending", "score": nil, "source": "web",
		"resolvedAt": nil, "outcome": nil, "closePrice": nil, "clvBps": nil,
	})
	history(t, p, id)
	reads(t, s, p, market, id)

	s.finalize(t, market, "NO").has(obj{"scored": 1, "won": 1, "lost": 0, "void": 0, "outcome.outcome": "NO", "outcome.resolver": "manual", "outcome.source": "native"})
	s.signal(t, id).has(obj{"status": "won", "score": 30, "scoreBasisBps": 7000, "outcome": "NO", "direction": "NO", "priceAtPrediction": 6850, "confidence": 70})
	events := get(t, s.Hub+"/api/signals/"+id+"/events").is(http.StatusOK)
	last := events.list("events")[len(events.list("events"))-1].(map[string]any)
	if last["type"] != "resolved" || last["actor"] != "native" || last["createdAt"] != s.signal(t, id).str("resolvedAt") {
		t.Errorf("last event: %v", last)
	}
	get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"outcome.outcome": "NO", "outcome.disputed": false})
	p.file(t, market, "NO", 6850).fails(http.StatusConflict, "already_predicted") // wins over market_closed
	s.person(t).file(t, market, "NO", 6850).is(http.StatusConflict).has(obj{"error": "market_closed", "reason": "settled", "marketId": market})
	post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{"marketId": market, "verdict": "YES"})).
		is(http.StatusConflict).has(obj{"error": "already_resolved", "outcome.outcome": "NO"})
	feed(t, s, p, market, id)
	boards(t, s, p)
}

// history adds one event of each kind and reads them back in order.
func history(t *testing.T, p *person, id string) {
	t.Helper()
	url := p.s.Hub + "/api/signals/" + id + "/events"
	for _, e := range []obj{
		{"type": "take", "payload": obj{"text": "Rain has stopped.", "url": "https://gauge.example/ostrava", "other": 1}},
		{"type": "reaffirm"},
		{"type": "confidence", "payload": obj{"confidence": 80}},
		{"type": "note", "payload": obj{"text": "5.9 m at noon"}},
		{"type": "share", "payload": obj{"channel": "farcaster"}},
	} {
		a := post(t, url, p.auth(t), payload(e)).is(http.StatusCreated)
		a.has(obj{"event.type": e["type"], "event.actor": "owner"})
	}
	a := get(t, url).is(http.StatusOK).has(obj{
		"signalId": id, "events.0.type": "take", "events.0.payload.text": "Rain has stopped.", "events.1.type": "reaffirm",
		"events.2.payload.confidence": 80, "events.3.payload.text": "5.9 m at noon", "events.4.payload.channel": "farcaster",
	})
	if _, err := dig(a.at("events.0.payload"), "other"); err == nil {
		t.Error("an unknown member of a payload was kept")
	}
	post(t, url, p.s.person(t).auth(t), payload(obj{"type": "reaffirm"})).fails(http.StatusForbidden, "forbidden")
	post(t, url, p.auth(t), payload(obj{"type": "resolved"})).fails(http.StatusBadRequest, "invalid_type")
}

// reads looks at the lists that show a pending call.
func reads(t *testing.T, s *stack, p *person, market, id string) {
	t.Helper()
	get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).has(obj{"marketId": market, "provider": "manual", "status": "open", "resolved": false, "lane": "SCIENCE"})
	get(t, s.Hub+"/api/m/"+market+"/signals").is(http.StatusOK).has(obj{
		"count": 1, "yes": 0, "no": 1, "signals.0.id": id, "signals.0.privyId": "did:idp:" + p.user, "signals.0.callsign": p.user,
	})
	get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{
		"yesCount": 0, "noCount": 1, "totalSignals": 1, "yesPercent": 0, "noPercent": 100, "topForecasters": nil, "currentUserSignal": nil,
	})
	get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"marketId": market, "outcome": nil})
	for _, kind := range []string{"recent", "open"} {
		testkit.Eventually(t, 5*time.Second, func() bool {
			a := get(t, s.Hub+"/api/signals/feed?limit=50&type="+kind).is(http.StatusOK).has(obj{"type": kind})
			return holds(a.list("signals"), "marketId", market)
		})
	}
	a := get(t, s.Hub+"/api/signals/feed?limit=50&type=open").is(http.StatusOK)
	for _, item := range a.list("signals") {
		if m := item.(map[string]any); m["marketId"] == market {
			// One NO against eight phantom calls at 30 %: 2400/9 of a hundred.
			if !same(m["liveYesBps"], 2667) || !same(m["moveBps"], 7333-6850) {
				t.Errorf("open: %v", m)
			}
		}
	}
	testkit.Eventually(t, 15*time.Second, func() bool {
		return holds(get(t, s.Hub+"/api/resolution/markets?limit=100").is(http.StatusOK).list("markets"), "marketId", market)
	})
}

// holds tells whether one of the rows has a member with that value.
func holds(rows []any, name string, value any) bool {
	for _, row := range rows {
		if m, ok := row.(map[string]any); ok && same(m[name], value) {
			return true
		}
	}
	return false
}

// feed reads the numbered record of one operator, both ways.
func feed(t *testing.T, s *stack, p *person, market, id string) {
	t.Helper()
	var items []any
	testkit.Eventually(t, 10*time.Second, func() bool {
		items = get(t, s.API+"/api/v1/feed?limit=200&handle="+p.user).is(http.StatusOK).list("items")
		return len(items) == 7 // created, five events, resolved
	})
	newest, oldest := items[0].(map[string]any), items[6].(map[string]any)
	if newest["type"] != "signal.resolved" || oldest["type"] != "signal.created" || oldest["marketId"] != market || oldest["provider"] != "manual" || oldest["lane"] != "SCIENCE" {
		t.Errorf("feed: %v … %v", oldest, newest)
	}
	data := newest["data"].(map[string]any)
	if data["signalId"] != id || data["status"] != "won" || !same(data["score"], 30) {
		t.Errorf("signal.resolved: %v", data)
	}
	first, err := oldest["seq"].(interface{ Int64() (int64, error) }).Int64()
	if err != nil {
		t.Fatal(err)
	}
	forward(t, s, first)
	get(t, s.API+"/api/v1/feed?types=market.resolved&lane=SCIENCE&providers=manual&limit=200").is(http.StatusOK)
}

// forward reads on from a number and demands that none is missing.
func forward(t *testing.T, s *stack, after int64) {
	t.Helper()
	a := get(t, s.API+"/api/v1/feed?limit=200&after="+itoa(after-1)).is(http.StatusOK)
	for i, item := range a.list("items") {
		if seq := item.(map[string]any)["seq"]; !same(seq, after+int64(i)) {
			t.Fatalf("after %d, item %d has number %v", after-1, i, seq)
		}
	}
}

// boards finds the operator on both hosts, by handle, masked and raw. Two long shots
// put it before the many that other tests bring: a board shows its first hundred.
func boards(t *testing.T, s *stack, p *person) {
	t.Helper()
	for range 2 {
		market := s.native(t, 100)
		p.call(t, market, "YES", 100)
		s.finalize(t, market, "YES")
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		hub := get(t, s.Hub+"/api/operator/leaderboard?limit=100").is(http.StatusOK)
		api := get(t, s.API+"/api/v1/signals/leaderboard?operators=human&limit=200").is(http.StatusOK)
		return holds(hub.list("leaderboard"), "handle", p.user) && holds(api.list("leaderboard"), "privyId", "did:idp:"+p.user)
	})
	for _, row := range get(t, s.Hub+"/api/operator/leaderboard?limit=100").list("leaderboard") {
		if m := row.(map[string]any); m["handle"] == p.user {
			if m["operatorPublicId"] != s.masked("did:idp:"+p.user) || !same(m["score"], 30+2*99) || !same(m["accuracy"], 100) || m["tier"] != "independent" {
				t.Errorf("board: %v", m)
			}
		}
	}
}

// TestProgramme: what airs now and next, on the clock's host and through the hub.
func TestProgramme(t *testing.T) {
	t.Parallel()
	s := up(t)
	// Markets of music end hours apart, so this lane always has a next one; that of crypto may have none.
	const lane = "music"
	var now, next *answer
	testkit.Eventually(t, 60*time.Second, func() bool { // the catalogue is read at start
		now = get(t, s.Clock+"/program/now?lane="+lane).is(http.StatusOK)
		return now.at("segment") != nil
	})
	eventually(t, func() bool { // and the rundown filled from it
		next = get(t, s.Clock+"/program/next?lane="+lane).is(http.StatusOK)
		return next.at("segment") != nil
	}, "what comes next in "+lane+"; stored slots: "+s.row(t, "SELECT count(*) || ' from ' || min(slot) || ' to ' || max(slot) FROM clock.program_slots WHERE lane = $1", lane))
	if next.str("segment.kind") != "content" || next.str("segment.category") != lane {
		t.Errorf("next: %s", next.body)
	}
	begin, end := now.str("segment.startsAt"), now.str("segment.endDate")
	if at := now.str("generatedAt"); begin > at || end <= at {
		t.Errorf("on the air at %s: %s to %s", at, begin, end)
	}
	if next.str("segment.startsAt") <= next.str("generatedAt") {
		t.Errorf("next has begun: %s", next.body)
	}
	// Ten seconds of bumper and ten minutes of content, the same for everybody.
	for at, within := range map[string]int64{now.str("segment.startsAt"): 10, next.str("segment.startsAt"): 10} {
		start, err := time.Parse(time.RFC3339, at)
		if err != nil || start.Unix()%610 != 0 && start.Unix()%610 != within {
			t.Errorf("a segment starts at %s, %d seconds into its slot: %v", at, start.Unix()%610, err)
		}
	}
	timeline := get(t, s.Clock+"/program/timeline?limit=400").is(http.StatusOK)
	if !holds(timeline.list("segments"), "segmentId", now.str("segment.segmentId")) && timeline.str("generatedAt") < end {
		t.Errorf("the timeline lacks %s", now.str("segment.segmentId"))
	}
	for _, path := range []string{
		"/program/channel?preset=hot", "/program/channel?preset=resolving", "/program/channel?preset=close&limit=5",
		`/program/channel?spec=%7B%22categories%22%3A%5B%22science%22%5D%2C%22topPerCategory%22%3A3%7D`,
	} {
		get(t, s.Clock+path).is(http.StatusOK)
	}
	get(t, s.Clock+`/program/channel?spec=%7B%22minYes%22%3A60%2C%22maxYes%22%3A40%7D`).fails(http.StatusBadRequest, "invalid_spec")
	get(t, s.Clock+`/program/channel?spec=nothing`).fails(http.StatusBadRequest, "invalid_spec")
	hub := get(t, s.Hub+"/api/broadcast/program?preset=hot&limit=10").is(http.StatusOK).has(obj{"enabled": true})
	if len(hub.list("segments")) > 10 || len(hub.list("segments")) == 0 {
		t.Errorf("%d segments", len(hub.list("segments")))
	}
	bare := get(t, s.Hub+"/api/network/program?lanes=0&minVolume=10000&limit=3").is(http.StatusOK)
	if _, err := dig(bare.at("segments"), "lanes"); err == nil {
		t.Error("lanes were not left out")
	}
}
