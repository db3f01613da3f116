package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

func feedEvent(seq int64, kind, clock, market, handle, data string) *feedv1.Event {
	return &feedv1.Event{
		Seq: seq, Id: fmt.Sprintf("0199f0c0-0000-7000-8000-%012d", seq), Type: kind, At: at("2026-09-18T" + clock + "Z"),
		MarketId: market, Handle: handle, Data: data,
	}
}

// withFeed returns a fixture whose ledger has events and price moves.
func withFeed(t *testing.T) *fixture {
	b := setup(t)
	b.ledger.Exec(`INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ('mara_k', 'approved', now())`)
	b.set(func() {
		b.ledger.Happened = []*feedv1.Event{
			feedEvent(90, "signal.event", "11:59:50", marketID, "mara_k", `{"signalId":"0199f0a4-2222-7000-8000-000000000002","event":{"id":"0199f0b0-0000-7000-8000-000000000002","type":"note","payload":{"text":"no take"},"actor":"owner"}}`),
			feedEvent(89, "segment.started", "11:58:10", marketID, "", `{"segmentId":"default:science:2933988:c","kind":"content","id":"701122","title":"Gauge?","yesPrice":31.5}`),
			feedEvent(88, "signal.event", "11:58:40", marketID, "mara_k", `{"signalId":"0199f0a4-2222-7000-8000-000000000002","event":{"id":"0199f0b0-0000-7000-8000-000000000001","type":"take","payload":{"text":"rain band moving east"},"actor":"owner"}}`),
			feedEvent(87, "clip.ready", "11:50:00", marketID, "mara_k", `{"id":"0199f0c0-1111-7000-8000-000000000001","handle":"mara_k","marketId":"701122"}`),
			feedEvent(86, "operator.live", "11:40:00", "", "mara_k", `{"handle":"mara_k","hlsUrl":"https://video-a.example/live/mara_k/index.m3u8","viewers":1,"signal":{"marketId":"701122","name":"Gauge"}}`),
			feedEvent(85, "market.resolved", "11:30:00", nativeID, "", `{"marketId":"native-0000000001","outcome":"NO","source":"native"}`),
			feedEvent(84, "signal.created", "11:20:00", marketID, "mara_k", `{"id":"0199f0a4-2222-7000-8000-000000000002","marketId":"701122","marketTitle":"Gauge?","direction":"NO","priceAtPrediction":6850,"textTake":"dry","handle":"mara_k"}`),
			feedEvent(83, "signal.created", "11:10:00", marketID, "otto", `{"id":"0199f0a4-2222-7000-8000-000000000001","marketId":"701122","marketTitle":null,"direction":"YES","priceAtPrediction":3150,"textTake":null,"handle":"otto"}`),
			feedEvent(82, "market.status", "11:00:00", marketID, "", `{"from":"closed","to":"open"}`),
		}
		b.ledger.Moves = []*wirev1.Move{
			{MarketId: marketID, Provider: "polymarket", Title: "Gauge?", Outcome: "Yes", Lane: "SCIENCE", FromBps: 4000, ToBps: 3150, Volume: 182000, Signals: 42, DetectedAt: at("2026-09-18T11:45:00Z")},
			{MarketId: "kalshi-SMALL", Provider: "kalshi", Title: "Small", FromBps: 4000, ToBps: 4499, DetectedAt: at("2026-09-18T11:46:00Z")},
		}
	})
	return b
}

// items reads a page of the broadcast feed. It returns the type and id of each item, and the cursor of the next page.
func (b *fixture) items(t *testing.T, query string) (ids []string, next string) {
	t.Helper()
	w := b.send("GET", "/api/broadcast/feed?"+query, "")
	var page struct {
		Items      []struct{ ID, Type string }
		NextCursor *string `json:"next_cursor"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	for _, i := range page.Items {
		ids = append(ids, i.Type+" "+i.ID)
	}
	if page.NextCursor != nil {
		next = *page.NextCursor
	}
	return ids, next
}

func TestBroadcastFeed(t *testing.T) {
	t.Parallel()
	b := withFeed(t)
	golden(t, "broadcast/feed", b.send("GET", "/api/broadcast/feed", ""))
	if r := apitest.Last[*feedv1.ListEventsRequest](b.ledger); r.GetTopic() != "program:default" || strings.Contains(fmt.Sprint(r.GetTypes()), "market.status") {
		t.Errorf("the hub requested %v", r)
	}
	whole, next := b.items(t, "limit=100")
	if len(whole) != 8 || next != "" {
		t.Fatalf("%d items, then %q", len(whole), next)
	}
	for limit := 1; limit <= 9; limit++ {
		var all []string
		cursor := ""
		for page := 0; ; page++ {
			ids, next := b.items(t, fmt.Sprintf("limit=%d&cursor=%s", limit, cursor))
			if all = append(all, ids...); next == "" {
				break
			}
			if page > 20 {
				t.Fatal("the list has more than 20 pages")
			}
			cursor = next
			b.set(func() { // a new event must not shift later pages
				seq := b.ledger.Happened[0].GetSeq() + 1
				b.ledger.Happened = append([]*feedv1.Event{feedEvent(seq, "signal.created", "12:00:00", marketID, "otto", `{"id":"x"}`)}, b.ledger.Happened...)
			})
			b.clock.Advance(time.Minute)
		}
		equal(t, fmt.Sprint(all), fmt.Sprint(whole), limit, all, whole)
		b.set(func() {
			for b.ledger.Happened[0].GetSeq() > 90 {
				b.ledger.Happened = b.ledger.Happened[1:]
			}
		})
		b.clock.Advance(time.Minute)
	}
	for query, want := range map[string]string{
		"types=take": "take", "types=move": "move", "types=segment,live": "segment live", "types=nonsense": "segment take tape move live resolved signal signal",
		"types=resolved,SIGNAL": "resolved", "types=signal&limit=1": "signal",
	} {
		ids, _ := b.items(t, query)
		var kinds []string
		for _, id := range ids {
			kind, _, _ := strings.Cut(id, " ")
			kinds = append(kinds, kind)
		}
		equal(t, strings.Join(kinds, " "), want, query, kinds)
	}
	for _, cursor := range []string{"x", "e30", "eyJrIjpbIjEiXSwiaWQiOiIxIn0", "eyJrIjpbIi0xIiwiMCJdLCJpZCI6IjoifQ", strings.Repeat("A", 2000), "%00"} {
		if ids, _ := b.items(t, "limit=100&cursor="+cursor); fmt.Sprint(ids) != fmt.Sprint(whole) {
			t.Errorf("a bad cursor %.40q: %v", cursor, ids)
		}
	}
}

// TestBroadcastFeedSkipsOtherEvents checks that a page of takes skips only a bounded number of other events. The page may then be
// empty and still have a cursor.
func TestBroadcastFeedSkipsOtherEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(func() {
		for seq := int64(3000); seq > 0; seq-- {
			kind := "note"
			if seq == 7 {
				kind = "take"
			}
			b.ledger.Happened = append(b.ledger.Happened, feedEvent(seq, "signal.event", "11:00:00", marketID, "mara_k", `{"signalId":"s","event":{"type":"`+kind+`","payload":{"text":"\"type\":\"take\""}}}`))
		}
	})
	ids, next := b.items(t, "types=take")
	pages := 1
	for len(ids) == 0 && next != "" {
		ids, next = b.items(t, "types=take&cursor="+next)
		pages++
	}
	if len(ids) != 1 || pages != 3 || next != "" {
		t.Errorf("%v in %d pages, then %q", ids, pages, next)
	}
	equal(t, b.ledger.Count("FeedReadService/ListEvents"), 15)
}

func TestBroadcastFeedWithoutSources(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{"ListMoves": "7", "ListMarkets": "8", "ListEvents": "0"} {
		b := withFeed(t)
		b.ledger.Fail(apitest.ErrDB, method)
		w := b.send("GET", "/api/broadcast/feed", "")
		if n := strings.Count(w.Body.String(), `"href"`); w.Code != 200 || fmt.Sprint(n) != want || degradedHeaders(w) != [2]string{"db", "no-store"} {
			t.Errorf("without %s: %d %v, %d items, want %s", method, w.Code, degradedHeaders(w), n, want)
		}
		if method == "ListEvents" {
			golden(t, "broadcast/feed_unavailable", w)
		}
	}
}

// programmeWithBumpers returns a programme with future bumpers.
func programmeWithBumpers() *programv1.Program {
	p := programme()
	for i, g := range []struct{ kind, from, planned string }{
		{"bumper", "2026-09-18T12:08:10Z", "2026-09-18T06:02:00Z"}, {"content", "2026-09-18T12:08:20Z", ""}, {"bumper", "2026-09-18T12:18:20Z", ""}, {"bumper", "2026-09-18T13:09:10Z", ""},
	} {
		s := proto.CloneOf(p.Segments[0])
		s.SegmentId, s.Kind, s.StartsAt = fmt.Sprintf("default:science:%d:%s", 2933989+i, g.kind[:1]), g.kind, at(g.from)
		s.EndsAt = timestamppb.New(s.StartsAt.AsTime().Add(10 * time.Second))
		if g.planned != "" {
			s.PlannedAt = at(g.planned)
		}
		p.Segments = append(p.Segments, s)
	}
	return p
}

func TestBumpers(t *testing.T) {
	t.Parallel()
	b := withFeed(t)
	b.set(func() {
		b.ledger.Program = programmeWithBumpers()
		b.ledger.Happened = append(b.ledger.Happened, feedEvent(5, "market.resolved", "11:00:00", "999", "", `{"outcome":"YES"}`), feedEvent(4, "market.resolved", "11:00:00", "998", "", `{"outcome":"YES"}`))
		b.ledger.Happened[len(b.ledger.Happened)-1].At = at("2026-09-17T11:59:00Z") // more than a day ago
	})
	w := b.send("GET", "/api/broadcast/bumpers", "")
	golden(t, "broadcast/bumpers", w)
	b.clock.Advance(time.Minute)
	again := b.send("GET", "/api/broadcast/bumpers", "")
	var one, two struct {
		Bumpers []struct{ ID, Status, CreatedAt string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || json.Unmarshal(again.Body.Bytes(), &two) != nil || fmt.Sprint(one) != fmt.Sprint(two) || len(one.Bumpers) != 5 {
		t.Errorf("ids change: %v\n%v", one, two)
	}
	for method, left := range map[string]int{"GetProgram": 2, "ListEvents": 3, "ListMarkets": 5} {
		b := withFeed(t)
		b.set(func() {
			b.ledger.Program = programmeWithBumpers()
			b.ledger.Happened = append(b.ledger.Happened, feedEvent(5, "market.resolved", "11:00:00", "999", "", `{"outcome":"YES"}`))
		})
		b.ledger.Fail(errClock, method)
		w := b.send("GET", "/api/broadcast/bumpers", "")
		if n := strings.Count(w.Body.String(), `"planned"`); w.Code != 200 || n != left || degradedHeaders(w) != [2]string{"clock", "no-store"} {
			t.Errorf("without %s: %d %v, %d bumpers, want %d", method, w.Code, degradedHeaders(w), n, left)
		}
	}
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(10 * time.Minute)
	golden(t, "broadcast/bumpers_unavailable", b.send("GET", "/api/broadcast/bumpers", ""))
}

func TestInfluence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "broadcast/influence_none", b.send("GET", "/api/broadcast/influence?window=1h", ""))
	b.set(func() {
		b.ledger.Influence = &programv1.GetInfluenceResponse{
			Airings: 130, MeanAbsMoveBps: proto.Float64(41.5), BaselineAbsMoveBps: proto.Float64(37.49), UpdatedAt: at("2026-09-18T12:00:00Z"),
			Items: []*programv1.Moved{
				{
					SegmentId: "default:science:2933980:c", MarketId: marketID, Title: "Gauge?", Lane: "science", AiredAt: at("2026-09-18T10:36:50Z"), EndedAt: at("2026-09-18T10:46:50Z"),
					YesBpsBefore: 3650, YesBpsAfter: 3150, SignalsDuring: proto.Int64(7), ViewersPeak: 61, MeasuredAt: at("2026-09-18T10:56:51Z"),
				},
				{SegmentId: "station.lab:moon:1:c", MarketId: nativeID, Title: "Mill?", Lane: "moon", AiredAt: at("2026-09-18T10:36:50Z"), EndedAt: at("2026-09-18T10:46:50Z"), YesBpsAfter: 10000, MeasuredAt: at("2026-09-18T10:56:51Z")},
			},
		}
	})
	golden(t, "broadcast/influence", b.send("GET", "/api/broadcast/influence", ""))
	for query, want := range map[string]string{
		"window=7d&limit=9": "7d 9", "window=15m&limit=0": "15m 50", "window=8d&limit=201": "24h 200", "window=24h&limit=-1": "24h 50",
	} {
		b.clock.Advance(time.Minute)
		b.send("GET", "/api/broadcast/influence?"+query, "")
		if r := apitest.Last[*programv1.GetInfluenceRequest](b.ledger); fmt.Sprint(r.GetWindow(), " ", r.GetLimit()) != want {
			t.Errorf("%s asks for %v", query, r)
		}
	}
	b.ledger.Fail(errClock)
	b.clock.Advance(10 * time.Minute)
	w := b.send("GET", "/api/broadcast/influence", "")
	golden(t, "broadcast/influence_unavailable", w)
	has(t, w, "X-Degraded: clock", "Cache-Control: no-store")
	alone := setup(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Programs, d.Broadcast.Programs = nil, nil })
	for _, target := range []string{"/api/broadcast/influence", "/api/broadcast/bumpers", "/api/broadcast/spotlight"} {
		want(t, alone.send("GET", target, ""), 200, "", "X-Degraded: ")
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, url, status, views, boosted, created_by, created_at, ready_at)
		SELECT format('0199f0c0-0000-7000-8000-%s', lpad(n::text, 12, '0'))::uuid, 'mara_k', '701122', 'https://video-a.example/' || n || '.m3u8',
			CASE WHEN n = 1 THEN 'processing' ELSE 'ready' END, 0, false, 'mara_k', now(), now() FROM generate_series(1, 4) n`)
	b.set(func() {
		for i, end := range []string{
			"2026-09-18T12:10:00Z", // about to end: not airable
			"2026-09-18T13:00:00Z", "2026-09-18T13:00:01Z", "2026-09-18T23:59:59Z", "2026-09-19T00:00:00Z", "2026-09-20T00:00:00Z",
			"2026-09-25T12:00:00Z", "2026-09-25T12:00:01Z", "2026-10-19T12:00:00Z", "2026-10-19T12:00:01Z",
		} {
			id := fmt.Sprint(900 + i)
			b.ledger.AddMarket(apitest.Market{ID: id, Title: "Science " + id, Yes: i, Lane: "SCIENCE", End: at(end).AsTime()})
			b.ledger.Exec(`INSERT INTO market_totals (market_id, yes, no) VALUES ($1, $2, 1)`, id, i)
		}
	})
	w := b.send("GET", "/api/broadcast/schedule?cat=science", "")
	golden(t, "broadcast/schedule", w)
	var got struct {
		Buckets map[string][]struct{ ID, Bucket string }
	}
	must(t, json.Unmarshal(w.Body.Bytes(), &got))
	for bucket, want := range map[string]string{
		"ON AIR": "901", "TODAY": "902 903", "TOMORROW": "904", "THIS WEEK": "905 906", "THIS MONTH": "907 908", "LATER": "909 701122",
	} {
		var ids []string
		for _, m := range got.Buckets[bucket] {
			ids = append(ids, m.ID)
			equal(t, m.Bucket, bucket, m.ID)
		}
		equal(t, strings.Join(ids, " "), want, bucket, ids)
	}
	golden(t, "broadcast/schedule_none", b.send("GET", "/api/broadcast/schedule?cat=nonsense", ""))
	for _, cat := range []string{"sport", "music", "crypto", "politics", "news", "culture", "science"} {
		if w := b.send("GET", "/api/broadcast/schedule?cat="+cat, ""); field(w, "cat") != cat || strings.Count(w.Body.String(), ":[") != 6 {
			t.Errorf("%s: %s", cat, w.Body)
		}
	}
	down := setup(t)
	down.setDown(true)
	has(t, down.send("GET", "/api/broadcast/schedule?cat=science", ""), "X-Degraded: db", "Cache-Control: no-store", marketID)
	down.ledger.Fail(apitest.ErrDB)
	down.clock.Advance(time.Hour)
	golden(t, "broadcast/schedule_unavailable", down.send("GET", "/api/broadcast/schedule?cat=music", ""))
}

// withShows sets the live shows that the broadcast service reads.
func withShows(shows *[]livestream.Show) option {
	return func(_ *httpapi.Config, d *httpapi.Deps) {
		d.Broadcast.Live = func(context.Context) ([]livestream.Show, error) { return *shows, nil }
	}
}

// set calls change, which sets answers of the ledger, under the lock of the ledger.
func (b *fixture) set(change func()) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	change()
}

// TestSpotlight removes the source of the spotlight step by step and checks the next source. The order is a live show, takes, a
// price move, the programme, the last market of the programme, and nothing.
func TestSpotlight(t *testing.T) {
	t.Parallel()
	shows := []livestream.Show{
		{ShowID: "0199f0e0-0000-7000-8000-000000000001", Handle: "tidewatch", Viewers: 4, HLSURL: "https://video-a.example/live/tidewatch/index.m3u8", Approved: true, Signal: &livestream.Signal{MarketID: nativeID}, StartedAt: at("2026-09-18T11:00:00Z").AsTime()},
		{ShowID: "0199f0e0-0000-7000-8000-000000000002", Handle: "mara_k", Viewers: 37, HLSURL: playURL, Approved: true, Signal: &livestream.Signal{MarketID: marketID}, StartedAt: at("2026-09-18T11:30:00Z").AsTime()},
	}
	b := setup(t, withShows(&shows))
	b.set(func() {
		b.ledger.Program = programme()
		b.ledger.Taken = []*wirev1.Taken{{MarketId: nativeID, Takes: 9}}
		b.ledger.Moves = []*wirev1.Move{{MarketId: marketID, Provider: "polymarket", Title: "Gauge", Lane: "SCIENCE", FromBps: 3650, ToBps: 3150, DetectedAt: at("2026-09-18T11:50:00Z")}}
	})
	read := func(name string) *answer {
		t.Helper()
		w := b.send("GET", "/api/broadcast/spotlight", "")
		golden(t, "broadcast/spotlight_"+name, w)
		return w
	}
	read("live")
	b.clock.Advance(30 * time.Second)
	shows[0].Viewers = 900 // the choice does not change within a minute
	has(t, b.send("GET", "/api/broadcast/spotlight", ""), "showId="+shows[1].ShowID)
	b.clock.Advance(30 * time.Second)
	has(t, b.send("GET", "/api/broadcast/spotlight", ""), "showId="+shows[0].ShowID)
	shows = nil // no live show is left
	b.clock.Advance(2 * time.Second)
	read("takes")
	b.set(func() { b.ledger.Taken = nil })
	b.clock.Advance(time.Minute)
	read("move")
	b.set(func() { b.ledger.Moves[0].ToBps = 3200 }) // a move of 4.5 percentage points
	b.clock.Advance(time.Minute)
	read("clock")
	b.set(func() {
		b.ledger.Program.Segments[0].EndsAt, b.ledger.Program.Segments[0].MarketEndDate = at("2026-09-18T12:08:10Z"), at("2026-09-18T12:40:00Z")
	})
	b.clock.Advance(time.Minute)
	read("final")
	b.set(func() { b.ledger.Program.Segments = nil; b.ledger.Program.Lanes = nil })
	b.clock.Advance(time.Minute)
	read("nothing")
}

// TestSpotlightWithoutSources checks that the hub skips an unavailable source and marks the answer as degraded. Without its
// database, the hub repeats the last spotlight for five minutes.
func TestSpotlightWithoutSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(func() { b.ledger.Program = programme(); b.ledger.Moves = nil })
	b.ledger.Fail(apitest.ErrDB, "ListTaken")
	w := b.send("GET", "/api/broadcast/spotlight", "")
	if field(w, "spotlight.reason") != "clock" && !strings.Contains(w.Body.String(), `"reason":"clock"`) || degradedHeaders(w) != [2]string{"db", "no-store"} {
		t.Errorf("%v %s", degradedHeaders(w), w.Body)
	}
	b.ledger.Fail(nil)
	b.clock.Advance(2 * time.Second)
	has(t, b.send("GET", "/api/broadcast/spotlight", ""), "X-Degraded: ", "Cache-Control: public, s-maxage=5")
	down := setup(t)
	down.setDown(true)
	down.set(func() { down.ledger.Program = programme() })
	golden(t, "broadcast/spotlight_unavailable", down.send("GET", "/api/broadcast/spotlight", ""))
	b.setDown(true)
	b.clock.Advance(2 * time.Minute)
	has(t, b.send("GET", "/api/broadcast/spotlight", ""), "X-Degraded: db", "Cache-Control: no-store", `"reason":"clock"`)
	b.clock.Advance(4 * time.Minute)
	has(t, b.send("GET", "/api/broadcast/spotlight", ""), `"spotlight":null`)
}

// setProgram sets the programme that the fake clock returns.
func (b *fixture) setProgram(p *programv1.Program) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Program = p
}

// degradedHeaders returns X-Degraded and Cache-Control of an answer.
func degradedHeaders(w *answer) [2]string {
	return [2]string{w.Header().Get("X-Degraded"), w.Header().Get("Cache-Control")}
}

// TestDegradedProgram checks that a degraded programme of the clock is passed on unchanged, marked as degraded, and not cached.
// The next complete programme replaces it at once.
func TestDegradedProgram(t *testing.T) {
	t.Parallel()
	const whole = "public, s-maxage=30, stale-while-revalidate=60"
	for _, target := range []string{"/api/network/program", "/api/broadcast/program?preset=hot"} {
		b := setup(t)
		ill := programme()
		ill.Degraded, ill.Total = "api", 2
		for _, step := range []struct {
			program *programv1.Program
			total   string
			marks   [2]string
		}{
			{ill, "2", [2]string{"api", "no-store"}},
			{programme(), "3", [2]string{"", whole}},
			{ill, "2", [2]string{"api", "no-store"}},
			{programme(), "3", [2]string{"", whole}},
		} {
			b.clock.Advance(time.Minute)
			b.setProgram(step.program)
			for range 3 { // the first read calls the clock, the others use the cache
				w := b.send("GET", target, "")
				if w.Code != 200 || field(w, "enabled") != "true" || field(w, "total") != step.total || degradedHeaders(w) != step.marks {
					t.Errorf("%s: %d %v %.80s, want total %s and %v", target, w.Code, degradedHeaders(w), w.Body, step.total, step.marks)
				}
			}
		}
	}
}

// TestDegradedProgramIsReadOncePerSecond checks that all requests for a degraded programme share one call of the clock per
// second.
func TestDegradedProgramIsReadOncePerSecond(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ill := programme()
	ill.Degraded = "postgres"
	b.setProgram(ill)
	for range 100 {
		b.send("GET", "/api/network/program", "")
	}
	equal(t, b.ledger.Count("GetProgram"), 1)
}

// TestEmptyProgramIsCachedForOneSecond checks that an empty programme is cached for only one second. A clock that has just
// started returns such a programme.
func TestEmptyProgramIsCachedForOneSecond(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setProgram(&programv1.Program{GeneratedAt: at("2026-09-18T12:00:00Z")})
	w := b.send("GET", "/api/network/program", "")
	want(t, w, 200, "", "enabled=true", "total=0", "X-Degraded: ", "Cache-Control: public, s-maxage=1")
	b.setProgram(programme())
	b.clock.Advance(time.Second)
	has(t, b.send("GET", "/api/network/program", ""), "total=3")
}
