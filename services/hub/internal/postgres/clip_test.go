package postgres_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	clips "github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func draft(by, of string, at time.Time) clips.Draft {
	return clips.Draft{ID: uuid.Must(uuid.NewV7()).String(), Handle: protocol.Handle(of), MarketID: "701122", By: protocol.Handle(by), At: at, Source: clips.Source{Kind: clips.Origin}}
}

// add requests a clip and returns the result: ok, cooldown or daily, with the time to wait.
func add(t *testing.T, s *postgres.Store, by, of string, at time.Time) string {
	t.Helper()
	v, err := s.AddClip(t.Context(), draft(by, of, at))
	switch {
	case err != nil:
		t.Fatal(err)
	case v.Daily:
		return "daily " + v.Wait.String()
	case v.Wait > 0:
		return "cooldown " + v.Wait.String()
	}
	return "ok"
}

func TestClipLimits(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	step := func(by, of string, after time.Duration, want string) {
		t.Helper()
		if got := add(t, store, by, of, noon.Add(after)); got != want {
			t.Errorf("%s of %s after %v: %s, want %s", by, of, after, got, want)
		}
	}
	step("ann", "mara_k", 0, "ok")
	step("ann", "mara_k", time.Second, "cooldown 1m59s")
	step("ann", "tidewatch", 2*time.Second, "cooldown 1m58s")   // the limit of the creator
	step("bob", "mara_k", 119*time.Second, "cooldown 1s")       // the limit of the stream
	step("bob", "tidewatch", 119*time.Second, "ok")             // no limit
	step("ann", "mara_k", 120*time.Second, "ok")                // just after the cooldown
	step("mara_k", "mara_k", 130*time.Second, "cooldown 1m50s") // an operator as creator and as owner of a stream
	step("mara_k", "otto", 130*time.Second, "ok")
	for i := range 8 {
		step("ann", fmt.Sprintf("op%d", i), time.Duration(10+2*i)*time.Minute, "ok")
	}
	step("ann", "op9", time.Hour, "daily 11h0m0s")
	step("ann", "op9", 12*time.Hour-time.Millisecond, "daily 1ms")
	step("ann", "op9", 12*time.Hour, "ok")
	for i := range 8 {
		step(fmt.Sprintf("by%d", i), "mara_k", time.Duration(100+2*i)*time.Minute, "ok")
	}
	step("by9", "mara_k", 4*time.Hour, "daily 8h0m0s")
}

// TestClipRace checks that one of several concurrent requests for clips is accepted, and that the daily limit is enforced when
// the clock advances.
func TestClipRace(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for name, who := range map[string]func(i int) (by, of string){
		"one caller, many streams": func(i int) (string, string) { return "ann", fmt.Sprintf("st%02d", i) },
		"many callers, one stream": func(i int) (string, string) { return fmt.Sprintf("by%02d", i), "mara_k" },
		"two of each other":        func(i int) (string, string) { return []string{"eve", "kim"}[i%2], []string{"kim", "eve"}[i%2] },
	} {
		var all sync.WaitGroup
		var taken atomic.Int64
		for i := range 100 {
			all.Go(func() {
				by, of := who(i)
				v, err := store.AddClip(t.Context(), draft(by, of, noon))
				for n := 0; err != nil && n < 5; n++ { // more requests than connections
					v, err = store.AddClip(t.Context(), draft(by, of, noon))
				}
				if err != nil {
					t.Error(err)
				} else if v.Wait == 0 {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		want := int64(1)
		if name == "two of each other" {
			want = 2 // each is once the creator and once the owner of the stream
		}
		if taken.Load() != want {
			t.Errorf("%s: %d requests were accepted", name, taken.Load())
		}
	}
	var all sync.WaitGroup
	var taken atomic.Int64
	for i := range 100 {
		all.Go(func() {
			if v, err := store.AddClip(t.Context(), draft("zoe", fmt.Sprintf("zs%02d", i), noon.Add(time.Duration(i)*3*time.Minute))); err == nil && v.Wait == 0 {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n > clips.PerDay || n == 0 {
		t.Errorf("%d clips in one day, want at most the limit", n)
	}
}

// TestClipLife checks that one worker at a time processes a clip, and that another takes it over after a crash. The clip must be
// finished and published once.
func TestClipLife(t *testing.T) {
	t.Parallel()
	store, db := open(t)
	owner := testkit.Pool(t, db.Admin)
	d := draft("ann", "mara_k", noon)
	yes := "YES"
	d.Title, d.Stance, d.ShowID = "A \"quote\"\nand a line", &yes, "0199f0e0-0000-7000-8000-000000000001"
	if v, err := store.AddClip(t.Context(), d); err != nil || v.Wait != 0 {
		t.Fatal(v, err)
	}
	take := func(after time.Duration) (clips.Job, bool) {
		t.Helper()
		now := noon.Add(after)
		j, there, err := store.LeaseClip(t.Context(), []clips.Kind{clips.Origin}, now, now.Add(30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return j, there
	}
	j, there := take(0)
	if !there || j.ID != d.ID || j.Handle != "mara_k" || !j.At.Equal(noon) || j.Tries != 1 {
		t.Fatalf("%+v %v", j, there)
	}
	if _, there := take(29 * time.Second); there {
		t.Error("two workers got the clip")
	}
	if j, there := take(30 * time.Second); !there || j.Tries != 2 {
		t.Errorf("after a crash: %+v %v", j, there)
	}
	film := clips.Video{URL: "http://127.0.0.1:1/clips/x/index.m3u8", Thumbnail: "http://127.0.0.1:1/clips/x/t.jpg", Length: 29600 * time.Millisecond}
	for range 2 {
		if err := store.ReadyClip(t.Context(), d.ID, film, noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.FailClip(t.Context(), d.ID, "late"); err != nil {
		t.Fatal(err)
	}
	if _, there := take(time.Hour); there {
		t.Error("a finished clip was given to a worker")
	}
	list, err := store.Clips(t.Context(), "701122", 10)
	if err != nil || len(list) != 1 || list[0].URL != film.URL || *list[0].Duration != 30 || list[0].Title != d.Title || *list[0].Stance != "YES" || list[0].Views != 0 {
		t.Fatalf("%+v %v", list, err)
	}
	for show, want := range map[string]int{d.ShowID: 1, "0199f0e0-0000-7000-8000-000000000002": 0, "": 0} {
		list, err := store.SessionClips(t.Context(), "mara_k", show, 10)
		if err != nil || len(list) != want || want == 1 && (list[0].ID != d.ID || list[0].URL != film.URL || *list[0].Duration != 30) {
			t.Errorf("clips of the session %q: %+v %v; want %d", show, list, err, want)
		}
	}
	for range 3 {
		if err := store.AddView(t.Context(), "hub", d.ID); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := store.Clips(t.Context(), "701122", 10); err != nil || list[0].Views != 3 {
		t.Errorf("%+v %v", list, err)
	}
	facts, err := store.Waiting(t.Context(), 10)
	if err != nil || len(facts) != 1 || facts[0].Type != "clip.ready" || facts[0].MarketID != "701122" || facts[0].Handle != "mara_k" || !facts[0].At.Equal(noon.Add(time.Minute)) {
		t.Fatalf("%+v %v", facts, err)
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(facts[0].Data), &told); err != nil {
		t.Fatal(err)
	}
	for member, want := range map[string]any{
		"id": d.ID, "handle": "mara_k", "marketId": "701122", "url": film.URL, "thumbnailUrl": film.Thumbnail, "durationS": 30.0, "status": "ready", "stance": "YES",
		"views": 0.0, "boosted": false, "createdBy": "ann", "createdAt": protocol.Stamp(noon), "readyAt": protocol.Stamp(noon.Add(time.Minute)), "title": d.Title,
	} {
		if told[member] != want {
			t.Errorf("%s: %v, want %v", member, told[member], want)
		}
	}
	if tapes, err := store.LocalTapes(t.Context(), 10); err != nil || len(tapes) != 1 || tapes[0].URL != film.URL {
		t.Errorf("%+v %v", tapes, err)
	}
	if err := store.DropClip(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	if tapes, err := store.LocalTapes(t.Context(), 10); err != nil || len(tapes) != 0 {
		t.Errorf("%+v %v", tapes, err)
	}
	var status string
	if err := owner.QueryRow(t.Context(), `SELECT status FROM hub.clips`).Scan(&status); err != nil || status != "dropped" {
		t.Error(status, err)
	}
}

// TestTapeReports checks that each changed number of tapes is reported once, also the change to 0, and every number again after
// some time.
func TestTapeReports(t *testing.T) {
	t.Parallel()
	store, db := open(t)
	owner := testkit.Pool(t, db.Admin)
	exec := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, market := range []string{"7", "7", "8", "9"} {
		exec(`INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
			VALUES (gen_random_uuid(), 'mara_k', '` + market + `', 'https://video.example/c.m3u8', 30, 'ready', 'otto', now(), now())`)
	}
	exec(`INSERT INTO hub.clips (id, handle, market_id, status, created_by, created_at)
		VALUES (gen_random_uuid(), 'mara_k', '6', 'processing', 'otto', now())`)
	report := func(at time.Time, limit int, want ...clips.Count) {
		t.Helper()
		got, err := store.UnreportedTapes(t.Context(), at.Add(-time.Minute), limit)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("unreported: %v %v, want %v", got, err, want)
		}
		if err := store.TapesReported(t.Context(), got, at); err != nil {
			t.Fatal(err)
		}
	}
	report(noon, 2, clips.Count{MarketID: "7", Tapes: 2}, clips.Count{MarketID: "8", Tapes: 1})
	report(noon.Add(time.Second), 2, clips.Count{MarketID: "9", Tapes: 1})
	report(noon.Add(2*time.Second), 10)
	exec(`UPDATE hub.clips SET status = 'dropped', url = NULL WHERE market_id = '9'`)
	report(noon.Add(3*time.Second), 10, clips.Count{MarketID: "9"})
	report(noon.Add(4*time.Second), 10)
	report(noon.Add(time.Minute), 10, clips.Count{MarketID: "7", Tapes: 2}, clips.Count{MarketID: "8", Tapes: 1})
	report(noon.Add(time.Minute), 10)
}

// TestClipWithoutAMarket checks that a clip without a market has a null market in its event and no market in the list of tapes, that
// only workers of its source get it, and that waiting for a video host does not count as an attempt.
func TestClipWithoutAMarket(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	d := draft("ann", "mara_k", noon)
	d.MarketID, d.Source = "", clips.Source{Kind: "mux", URL: "https://stream.mux.com/p.m3u8", RemoteID: "stream-1"}
	if v, err := store.AddClip(t.Context(), d); err != nil || v.Wait != 0 {
		t.Fatal(v, err)
	}
	if _, there, err := store.LeaseClip(t.Context(), []clips.Kind{clips.Origin, clips.Playlist, "livepeer"}, noon, noon.Add(time.Minute)); there || err != nil {
		t.Errorf("a worker of other sources got the clip: %v", err)
	}
	for i, hostID := range []string{"", "asset-1", "asset-1"} {
		now := noon.Add(time.Duration(i) * time.Minute)
		j, there, err := store.LeaseClip(t.Context(), []clips.Kind{"mux"}, now, now.Add(30*time.Second))
		if err != nil || !there || j.Source != d.Source || j.HostID != hostID || j.Tries != 1 {
			t.Fatalf("%d: %+v %v %v", i, j, there, err)
		}
		if err := store.AwaitClip(t.Context(), d.ID, "asset-1", now.Add(5*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.ReadyClip(t.Context(), d.ID, clips.Video{URL: "https://stream.mux.com/c.m3u8", Length: clips.Length}, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	facts, err := store.Waiting(t.Context(), 10)
	if err != nil || len(facts) != 1 || facts[0].MarketID != "" || !strings.Contains(facts[0].Data, `"marketId": null`) {
		t.Errorf("%+v %v", facts, err)
	}
	if tapes, err := store.LocalTapes(t.Context(), 10); err != nil || len(tapes) != 1 || tapes[0].MarketID != "" || tapes[0].URL != "https://stream.mux.com/c.m3u8" {
		t.Errorf("%+v %v", tapes, err)
	}
}
