package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// approvals hold the handles that an admin has approved.
type approvals map[string]bool

func (a approvals) Approved(_ context.Context, handle string) (bool, error) { return a[handle], nil }

// show is what somebody who is live shows.
type show struct{ id, url, market string }

// stage holds who is live.
type stage struct {
	mu  sync.Mutex
	who map[string]show
	err error
}

func (s *stage) Current(_ context.Context, handle string) (string, string, string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, live := s.who[handle]
	return at.id, at.url, at.market, live, s.err
}

// calls are the operators' own calls, by market.
type calls map[syntax.MarketID]string

func (c calls) Stance(_ context.Context, _ operator.ID, market syntax.MarketID) (*string, error) {
	if side, there := c[market]; there {
		return &side, nil
	}
	return nil, nil
}

// noVideo is a station that takes no video and where nobody is live.
func noVideo(dir clip.Directory, newID func() string, now func() time.Time) edge.Video {
	return edge.Video{
		Ingest: ingest.NewService(ingest.None{}, approvals{}, nil, newID, now),
		Clips:  clip.NewService(clip.Deps{Stage: &stage{}, Directory: dir, Stances: calls{}, Video: true, NewID: newID, Now: now}),
	}
}

// studio is a bench where mara_k is approved and live.
type studio struct {
	*bench
	stage *stage
	owner *pgxpool.Pool
}

func newStudio(t *testing.T, url string) *studio {
	t.Helper()
	s := &studio{stage: &stage{who: map[string]show{"mara_k": {"0199f0e0-0000-7000-8000-000000000001", "https://video.example/live/mara_k/index.m3u8", "701122"}}}}
	db := testkit.Postgres(t, postgres.Schema(""))
	s.owner = testkit.Pool(t, db.Admin)
	if url == "" {
		url = db.URL("hub_rw")
	}
	store := postgres.New(testkit.Pool(t, url))
	n := 0
	var mu sync.Mutex
	ids := func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("0199f0c0-0000-7000-8000-%012d", n)
	}
	s.bench = setup(t, func(_ *edge.Config, d *edge.Deps) {
		d.Clips = store
		d.Video = edge.Video{
			Ingest: ingest.NewService(ingest.Origin{Base: func() string { return "https://video.example" }}, approvals{"mara_k": true}, store, ids, d.Now),
			Clips: clip.NewService(clip.Deps{
				Stage: s.stage, Directory: d.Directory, Stances: calls{"701122": "NO"}, Store: store, Video: true, NewID: ids, Now: d.Now,
			}),
		}
	})
	return s
}

const (
	streamURL = "/api/streamer/stream"
	clipURL   = "/api/live/mara_k/clip"
)

func TestProvisionStream(t *testing.T) {
	t.Parallel()
	b := newStudio(t, "")
	w := b.send("POST", streamURL, `{"label":"night desk","latency":"low","handle":"tidewatch"}`, byLogin("mara_k"))
	want(t, w, 201, "")
	var said struct {
		Stream struct {
			ID     string
			Ingest struct{ Protocol, URL, StreamKey, PushURL string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil {
		t.Fatal(err)
	}
	key := said.Stream.Ingest.StreamKey
	if !ingest.IsKey(key) || said.Stream.Ingest.PushURL != "https://video.example/ingest/"+key+"/mara_k/index.m3u8" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", w.Body, w.Header())
	}
	masked := strings.ReplaceAll(w.Body.String(), key, "sk_0123456789abcdefghijABCDEFGHIJ_-")
	w.Body.Reset()
	w.Body.WriteString(masked)
	golden(t, "video/provisioned", w)
	again := b.send("POST", streamURL, "", byLogin("mara_k"))
	want(t, again, 201, "")
	if strings.Contains(again.Body.String(), key) || !strings.Contains(again.Body.String(), said.Stream.ID) || !strings.Contains(again.Body.String(), `"label":""`) {
		t.Errorf("%s", again.Body)
	}
	for body, code := range map[string]string{
		`{"label":"` + strings.Repeat("l", 81) + `"}`: "invalid_label", `{"label":1}`: "invalid_label", `{"label":"\u2066a"}`: "invalid_label", `{"label":"\u3164"}`: "invalid_label", `{"label":"a\u2028b"}`: "invalid_label", `{"latency":"none"}`: "invalid_latency", `{"latency":""}`: "invalid_latency", `[]`: "invalid_body",
	} {
		want(t, b.send("POST", streamURL, body, byLogin("mara_k")), 400, code)
	}
	golden(t, "video/not_approved", b.send("POST", streamURL, `{}`, byLogin("tidewatch")))
	// Before the approval, the shape; before the shape, the credential, and of one kind alone.
	want(t, b.send("POST", streamURL, `{"latency":1}`, byLogin("tidewatch")), 400, "invalid_latency")
	for name, who := range map[string]header{"session": b.bySession(), "key": b.byKey(), "admin": byAdmin()} {
		if w := b.send("POST", streamURL, `{}`, who); w.Code != 401 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	want(t, b.send("POST", streamURL, `{}`), 401, "unauthenticated")
	want(t, setup(t, func(_ *edge.Config, d *edge.Deps) {
		d.Video.Ingest = ingest.NewService(ingest.None{}, approvals{"mara_k": true}, postgres.New(testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw"))), d.NewID, d.Now)
	}).send("POST", streamURL, `{}`, byLogin("mara_k")), 503, "ingest_unavailable")
	want(t, newStudio(t, "postgres://hub_rw:x@127.0.0.1:1/none").send("POST", streamURL, `{}`, byLogin("mara_k")), 503, "db_unavailable")
}

func TestMakeClip(t *testing.T) {
	t.Parallel()
	b := newStudio(t, "")
	golden(t, "video/clip", b.send("POST", clipURL, `{"title":"The gauge turns"}`, b.bySession()))
	b.clock.Advance(1500 * time.Millisecond)
	w := b.send("POST", clipURL, "", b.bySession())
	golden(t, "video/clip_cooldown", w)
	if w.Header().Get("Retry-After") != "119" {
		t.Errorf("%v", w.Header())
	}
	for range 9 {
		b.clock.Advance(2 * time.Minute)
		want(t, b.send("POST", "/api/live/MARA_K/clip", `{"marketId":"`+nativeID+`"}`, b.bySession()), 201, "")
	}
	b.clock.Advance(2 * time.Minute)
	w = b.send("POST", clipURL, "", b.bySession())
	golden(t, "video/clip_daily_limit", w)
	if w.Header().Get("Retry-After") != "41999" { // from 12:20:01.5 to midnight
		t.Errorf("%v", w.Header())
	}
	b.clock.Advance(12 * time.Hour)
	b.stage.who["mara_k"] = show{id: "x", url: "https://video.example/live/mara_k/index.m3u8"}
	want(t, b.send("POST", clipURL, "{}", b.bySession()), 400, "missing_market_id")
	if w := b.send("GET", "/api/m/701122/clips", ""); !strings.Contains(w.Body.String(), `"count":0`) {
		t.Errorf("not cut yet: %s", w.Body)
	}
	if _, err := b.owner.Exec(t.Context(), `UPDATE hub.clips SET status = 'ready', url = 'https://video.example/clips/1/index.m3u8', duration_s = 30, ready_at = created_at + interval '1 s' WHERE market_id = '701122'`); err != nil {
		t.Fatal(err)
	}
	golden(t, "video/clips", b.send("GET", "/api/m/701122/clips", ""))
}

func TestClipMistakes(t *testing.T) {
	t.Parallel()
	b := newStudio(t, "")
	for body, code := range map[string]string{
		`[]`: "invalid_body", `{"title":"` + strings.Repeat("t", 121) + `"}`: "invalid_title", `{"title":1}`: "invalid_title", `{"title":"a\u0085b"}`: "invalid_title", `{"title":"\u202ea"}`: "invalid_title", `{"title":" "}`: "invalid_title", `{"marketId":"polymarket:1"}`: "invalid_market_id", `{"marketId":7}`: "invalid_market_id",
	} {
		want(t, b.send("POST", clipURL, body, b.bySession()), 400, code)
	}
	w := b.send("POST", clipURL, `{"marketId":"999"}`, b.bySession())
	want(t, w, 404, "market_not_found")
	for _, handle := range []string{"nobody_here", "x", "%2e%2e", strings.Repeat("a", 33)} {
		want(t, b.send("POST", "/api/live/"+handle+"/clip", "", b.bySession()), 404, "not_found")
	}
	b.ledger.AddOperator("tidewatch")
	golden(t, "video/not_live", b.send("POST", "/api/live/tidewatch/clip", "", b.bySession()))
	want(t, b.send("POST", clipURL, ""), 401, "unauthenticated")
	want(t, b.send("POST", clipURL, "", b.byKey()), 401, "unauthenticated")
	want(t, b.send("POST", clipURL, "", byLogin("mara_k")), 401, "unauthenticated")
	want(t, b.send("POST", clipURL, "", with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
	b.stage.err = memledger.ErrDB
	want(t, b.send("POST", clipURL, "", b.bySession()), 503, "db_unavailable")
	away := newStudio(t, "postgres://hub_rw:x@127.0.0.1:1/none")
	want(t, away.send("POST", clipURL, "", away.bySession()), 503, "db_unavailable")
	var n int
	if err := b.owner.QueryRow(t.Context(), `SELECT count(*) FROM hub.clips`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d clips, %v", n, err)
	}
}
