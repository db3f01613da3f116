package edge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

const (
	streamsURL = "/api/m/701122/streams"
	playURL    = "https://video-a.example/live/mara_k/index.m3u8"
)

func bound(url string) string { return fmt.Sprintf(`{"url":%q}`, url) }

func TestStreams(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	golden(t, "stations/streams_none", b.send("GET", streamsURL, ""))
	golden(t, "stations/bound", b.send("POST", streamsURL, `{"url":"`+playURL+`","label":"night desk","handle":"tidewatch"}`, b.bySession()))
	b.clock.Advance(time.Minute)
	tide := with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("tidewatch").GetId()))
	golden(t, "stations/bound_bare", b.send("POST", streamsURL, bound("https://video-b.example/t.m3u8?token=1"), tide))
	golden(t, "stations/streams", b.send("GET", streamsURL, ""))
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", streamsURL, bound("https://video-a.example/two.m3u8"), b.byKey()), 200, "")
	w := b.send("GET", streamsURL, "")
	golden(t, "stations/streams_again", w)
	if again := b.send("GET", streamsURL, "", with("If-None-Match", w.Header().Get("Etag"))); again.Code != 304 {
		t.Errorf("the same list: %d", again.Code)
	}
	if w := b.send("GET", "/api/m/"+nativeID+"/streams", ""); w.Body.String() != "{\"streams\":[]}\n" && w.Body.String() != `{"streams":[]}` {
		t.Errorf("another market: %s", w.Body)
	}
	golden(t, "stations/unbound", b.send("DELETE", streamsURL, "", b.bySession()))
	golden(t, "stations/unbound_again", b.send("DELETE", streamsURL, "", b.byKey()))
	if w := b.send("GET", streamsURL, ""); strings.Contains(w.Body.String(), "mara_k") || !strings.Contains(w.Body.String(), "tidewatch") {
		t.Errorf("after the end: %s", w.Body)
	}
}

func TestStreamMistakes(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store, func(cfg *edge.Config, _ *edge.Deps) { cfg.Videos = []string{"video-a.example", "video-b.example:8443"} })
	who := func() header { b.clock.Advance(2 * time.Second); return b.byKey() }
	for body, code := range map[string]string{
		`{}`: "missing_url", `{"url":null}`: "missing_url", `{"url":""}`: "missing_url", `{"url":7}`: "invalid_url", `[]`: "invalid_body",
		`{"url":"` + playURL + `","label":"` + strings.Repeat("l", 81) + `"}`: "invalid_label", `{"url":"` + playURL + `","label":1}`: "invalid_label", `{"url":"` + playURL + `","label":"a\tb"}`: "invalid_label", `{"url":"` + playURL + `","label":" \u200b"}`: "invalid_label",
	} {
		want(t, b.send("POST", streamsURL, body, who()), 400, code)
	}
	for _, url := range []string{
		"http://video-a.example/x.m3u8", "//video-a.example/x.m3u8", "https:///x.m3u8", "https:video-a.example/x.m3u8", "javascript:alert(1)//x.m3u8",
		"https://video-a.example/x.mp4", "https://video-a.example/?x.m3u8", "https://video-a.example/#x.m3u8", "https://video-a.example/x.m3u8#y",
		"https://u:p@video-a.example/x.m3u8", "https://video-a.example@evil.example/x.m3u8", "https://evil.example/x.m3u8",
		"https://video-a.example.evil.example/x.m3u8", "https://video-a.example./x.m3u8", "https://video-a.example:8443/x.m3u8",
		"https://video-b.example/x.m3u8", `https://evil.example\@video-a.example/x.m3u8`, "https://video-a.example/x y.m3u8",
		"https://video-a.example/\u202e.m3u8", "https://127.0.0.1/x.m3u8", "https://video-a.example/" + strings.Repeat("x", 480) + ".m3u8",
	} {
		if w := b.send("POST", streamsURL, bound(url), who()); w.Code != 400 || field(w, "error") != "invalid_url" || field(w, "field") != "url" {
			t.Errorf("%.60s: %d %s", url, w.Code, w.Body)
		}
	}
	for _, url := range []string{"https://VIDEO-A.example:443/x.m3u8", "https://video-b.example:8443/a%20b.m3u8?q=%23"} {
		want(t, b.send("POST", streamsURL, bound(url), who()), 200, "")
	}
	for _, method := range []string{"POST", "DELETE"} {
		body := map[string]string{"POST": bound(playURL)}[method]
		for _, id := range []string{"polymarket:701122", "0701122", "x%00", "%2e%2e", "native-"} {
			w := b.send(method, "/api/m/"+id+"/streams", body, who())
			if code := field(w, "error"); w.Code != 400 && w.Code != 404 || code != "invalid_market_id" && code != "not_found" || id[0] == 'p' && w.Code != 400 {
				t.Errorf("%s %s: %d %s", method, id, w.Code, w.Body)
			}
		}
		w := b.send(method, "/api/m/999/streams", body, who())
		want(t, w, 404, "market_not_found")
		if field(w, "marketId") != "999" {
			t.Errorf("%s", w.Body)
		}
		// What is wrong with the body is said before what is unknown about the market.
		want(t, b.send("POST", "/api/m/999/streams", `{}`, who()), 400, "missing_url")
		want(t, b.send(method, streamsURL, body), 401, "unauthenticated")
		want(t, b.send(method, streamsURL, body, byLogin("mara_k")), 401, "unauthenticated")
		want(t, b.send(method, streamsURL, body, byAdmin()), 401, "unauthenticated")
		want(t, b.send(method, streamsURL, body, with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
	}
	key := b.knownKey()
	b.revoke(key)
	want(t, b.send("POST", streamsURL, bound(playURL), with("Authorization", "Bearer "+key)), 401, "unauthenticated")
}

// TestStreamsWhenAPartIsAway: lists are empty and say so; writes say what is missing.
func TestStreamsWhenAPartIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, away(t))
	for name, target := range map[string]string{"streams_away": streamsURL, "clips_away": "/api/m/701122/clips"} {
		w := b.send("GET", target, "")
		golden(t, "stations/"+name, w)
		if w.Header().Get("X-Degraded") != "db" || w.Header().Get("Etag") != "" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	want(t, b.send("GET", "/api/m/polymarket:1/streams", ""), 404, "not_found")
	want(t, b.send("GET", "/api/m/polymarket:1/clips", ""), 404, "not_found")
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 503, "db_unavailable")
	want(t, b.send("DELETE", streamsURL, "", b.byKey()), 503, "db_unavailable")
	b.setBefore(func(_ context.Context, method string) error {
		if method == "GetMarket" {
			return memledger.ErrDB
		}
		return nil
	})
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 503, "db_unavailable")
}

func TestClips(t *testing.T) {
	t.Parallel()
	store, owner := stored(t)
	b := setup(t, store)
	golden(t, "stations/clips_none", b.send("GET", "/api/m/999/clips", ""))
	const rows = `INSERT INTO hub.clips (id, handle, market_id, url, thumbnail_url, duration_s, status, stance, views, boosted, created_by, created_at, ready_at)
		SELECT format('0199f0c0-0000-7000-8000-%s', lpad(n::text, 12, '0'))::uuid, 'mara_k', '701122', 'https://video-a.example/clips/' || n || '.m3u8',
			CASE WHEN n % 2 = 0 THEN 'https://video-a.example/t.jpg' END, CASE WHEN n % 2 = 0 THEN 30 END,
			CASE WHEN n % 10 = 9 THEN 'processing' ELSE 'ready' END, CASE WHEN n % 2 = 0 THEN 'NO' END, n, n % 3 = 0, 'tidewatch',
			timestamptz '2026-09-18T10:00:00Z' + n * interval '1 minute', timestamptz '2026-09-18T10:00:30Z' + n * interval '1 minute'
		FROM generate_series(1, 80) n`
	if _, err := owner.Exec(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "stations/clips", b.send("GET", "/api/m/701122/clips?limit=3", ""))
	for query, count := range map[string]string{
		"": "20", "?limit=0": "20", "?limit=-5": "20", "?limit=x": "20", "?limit=50": "50", "?limit=51": "50", "?limit=99999999999999999999": "50",
	} {
		if w := b.send("GET", "/api/m/701122/clips"+query, ""); w.Code != 200 || field(w, "count") != count || strings.Contains(w.Body.String(), "processing") {
			t.Errorf("%q: %d %s of %s", query, w.Code, field(w, "count"), count)
		}
	}
	if w := b.send("GET", "/api/m/"+nativeID+"/clips", ""); field(w, "count") != "0" {
		t.Errorf("another market: %s", w.Body)
	}
}
