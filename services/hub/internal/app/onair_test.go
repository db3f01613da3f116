package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

// streamer is an operator with a key and a stream.
func (w *town) streamer(h *hub, handle string) (key string) {
	w.t.Helper()
	key = "Bearer " + w.ledger.AddKey(w.ledger.AddOperator(handle).GetId())
	status, _, body := h.do("POST", "/api/m/701122/streams", fmt.Sprintf(`{"url":"https://video.example/%s.m3u8"}`, handle), "Authorization", key)
	if status != 200 {
		w.t.Fatal(status, body)
	}
	return key
}

func (h *hub) live() (handles []string) {
	h.w.t.Helper()
	status, _, body := h.do("GET", "/api/streamers/live", "")
	var list struct{ Live []struct{ Handle string } }
	if err := json.Unmarshal([]byte(body), &list); status != 200 || err != nil {
		h.w.t.Fatal(status, body)
	}
	for _, v := range list.Live {
		handles = append(handles, v.Handle)
	}
	return handles
}

// TestLiveOverTwoHubs: a session that one hub opens is live on the other, the ledger
// hears of it, its viewers and its signal, and how each channel begins.
func TestLiveOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	one, two := w.hub(), w.hub()
	one.ready()
	two.ready()
	key := w.streamer(one, "mara_k")
	status, _, body := one.do("POST", "/api/streamer/heartbeat", "", "Authorization", key)
	if status != 200 {
		t.Fatal(status, body)
	}
	if got := two.live(); !slices.Equal(got, []string{"mara_k"}) {
		t.Errorf("live on the other hub: %v", got)
	}
	heard := &w.ledger.Heard
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Contains(heard.Facts("mara_k"), "operator.live") && strings.Contains(heard.Copy("live"), `"handle": "mara_k"`) &&
			strings.Contains(heard.Copy("operator:mara_k"), `"live": true`)
	})
	if data := heard.Fact("operator.live"); !strings.Contains(data, `"showId"`) || !strings.Contains(data, `"hlsUrl": "https://video.example/mara_k.m3u8"`) {
		t.Errorf("operator.live says %s", data)
	}
	status, _, body = two.do("POST", "/api/streamer/signal", `{"marketId":"701122","name":"Ostrava"}`, "Authorization", key)
	if status != 200 {
		t.Fatal(status, body)
	}
	status, _, body = two.do("POST", "/api/live/mara_k/view", `{"viewerId":"a"}`)
	if status != 200 || !strings.Contains(body, `"viewers":1`) {
		t.Error(status, body)
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		return heard.Watching("mara_k") == 1 && strings.Contains(heard.News("live", "viewers.updated"), `"viewers": 1`) &&
			strings.Contains(heard.Copy("live"), `"viewers": 1`)
	})
	for _, channel := range []string{"overlay:mara_k", "operator:mara_k"} {
		if data := heard.News(channel, "overlay.updated"); !strings.Contains(data, `"name": "Ostrava"`) || !strings.Contains(data, `"slug": null`) {
			t.Errorf("%s hears %s", channel, data)
		}
	}
	if data := heard.Copy("overlay:mara_k"); !strings.Contains(data, `"marketId": "701122"`) {
		t.Errorf("the overlay begins with %s", data)
	}
	if data := heard.Copy("operator:mara_k"); !strings.Contains(data, `"marketId": "701122"`) {
		t.Errorf("the operator begins with %s", data)
	}
	// What a page reads and what a listener is sent have the same members.
	_, _, read := one.do("GET", "/api/streamer/signal?handle=mara_k", "")
	same(t, "the signal", read, heard.Copy("overlay:mara_k"))
	_, _, list := one.do("GET", "/api/streamers/live", "")
	same(t, "the live list", list, heard.Copy("live"))

	if status, _, body := one.do("DELETE", "/api/streamer/signal", "", "Authorization", key); status != 200 {
		t.Fatal(status, body)
	}
	if status, _, body := two.do("POST", "/api/streamer/heartbeat", `{"state":"offline"}`, "Authorization", key); status != 200 {
		t.Fatal(status, body)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(heard.Facts("mara_k"), []string{"stream.bound", "operator.live", "operator.offline"}) &&
			strings.Contains(heard.Copy("live"), `"live": []`) && heard.Copy("overlay:mara_k") == `{"marketId":null}` &&
			strings.Contains(heard.Copy("operator:mara_k"), `"signal": null`)
	})
	_, _, list = two.do("GET", "/api/streamers/live", "")
	same(t, "the live list with who was live", list, heard.Copy("live"))
	testkit.Eventually(t, 20*time.Second, func() bool { return heard.Watching("mara_k") == 0 })
}

// TestPagesShowApprovedOperatorsOnly: until an administrator approves an operator, its stream
// is in the live list alone: not on its page, on /tv or in the spotlight, and no policy names
// its host.
func TestPagesShowApprovedOperatorsOnly(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	h.ready()
	key := w.streamer(h, "mara_k")
	for path, sent := range map[string]string{"/api/streamer/heartbeat": "", "/api/streamer/signal": `{"marketId":"701122","name":"Ostrava"}`} {
		if status, _, body := h.do("POST", path, sent, "Authorization", key); status != 200 {
			t.Fatal(status, body)
		}
	}
	shown := func(want bool) {
		t.Helper()
		for _, path := range []string{"/tv", "/live/mara_k"} {
			status, header, body := h.do("GET", path, "")
			policy := header.Get("Content-Security-Policy")
			if status != 200 || strings.Contains(policy+body, "https://video.example") != want {
				t.Errorf("%s: %d, policy %s", path, status, policy)
			}
		}
		if _, header, _ := h.do("GET", "/markets", ""); strings.Contains(header.Get("Content-Security-Policy"), "video.example") {
			t.Errorf("/markets names the host of a stream")
		}
		testkit.Eventually(t, 20*time.Second, func() bool { // the answer is cached for seconds
			_, _, body := h.do("GET", "/api/broadcast/spotlight", "")
			return strings.Contains(body, "mara_k") == want
		})
		if _, _, body := h.do("GET", "/api/streamers/live", ""); !strings.Contains(body, fmt.Sprintf(`"approved":%t`, want)) {
			t.Errorf("live list: %s", body)
		}
	}
	decide := func(status string) {
		t.Helper()
		if code, _, body := h.do("POST", "/api/admin/streamers", `{"handle":"mara_k","status":"`+status+`"}`, "X-Admin-Secret", w.environ["ADMIN_SECRET"]); code != 200 {
			t.Fatal(code, body)
		}
	}
	decide("pending")
	shown(false)
	decide("approved")
	shown(true)
	facts := w.ledger.Heard.Facts
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(facts("mara_k"), []string{"stream.bound", "operator.live", "stream.bound", "stream.bound"})
	})
	decide("suspended")
	if got := h.live(); len(got) != 0 {
		t.Errorf("live while suspended: %v", got)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(facts("mara_k")[4:], []string{"operator.offline", "stream.unbound"}) && strings.Contains(w.ledger.Heard.Copy("live"), `"live": [], "recent": []`)
	})
}

// same compares two JSON texts as values.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Errorf("%s: %s and %s", what, a, b)
		return
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	if string(left) != string(right) {
		t.Errorf("%s:\n%s\n%s", what, left, right)
	}
}

// TestFirstBeatsAtOnce: fifty first heartbeats at two hubs are one session, and beats
// against their end leave one at most.
func TestFirstBeatsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	one, two := w.hub("DB_MAX_CONNS", "8"), w.hub("DB_MAX_CONNS", "8")
	one.ready()
	two.ready()
	w.ledger.AddOperator("mara_k")
	shows := make(chan string, 64)
	all := func(n int, do func(i int, h *hub)) {
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { do(i, []*hub{one, two}[i%2]) })
		}
		group.Wait()
	}
	all(50, func(_ int, h *hub) {
		for {
			session, err := h.onair.Beat(t.Context(), onair.Beat{Handle: "mara_k"})
			if err == nil {
				shows <- session.ID
				return
			}
		}
	})
	close(shows)
	seen := map[string]bool{}
	for id := range shows {
		seen[id] = true
	}
	pool := testkit.Pool(t, w.database.Admin)
	number := func(sql string) (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := number(`SELECT count(*) FROM hub.live_sessions`); len(seen) != 1 || n != 1 {
		t.Errorf("%d sessions were answered and %d are kept", len(seen), n)
	}
	all(40, func(i int, h *hub) {
		if i%4 == 0 {
			_, _, _ = h.onair.Offline(context.WithoutCancel(t.Context()), "mara_k")
			return
		}
		_, _ = h.onair.Beat(context.WithoutCancel(t.Context()), onair.Beat{Handle: "mara_k"})
	})
	if n := number(`SELECT count(*) FROM hub.live_sessions WHERE ended_at IS NULL`); n > 1 {
		t.Errorf("%d sessions are open", n)
	}
	if n := number(`SELECT count(*) FROM hub.live_sessions a JOIN hub.live_sessions b ON a.handle = b.handle AND a.id <> b.id
		AND a.started_at < b.ended_at AND b.started_at < a.ended_at`); n != 0 {
		t.Errorf("%d sessions overlap", n)
	}
}

// TestSessionsEndWhileHubsAreDown: a session whose hub went away ends 45 seconds behind
// its last heartbeat, however late that is noted, and the ledger hears of it once.
func TestSessionsEndWhileHubsAreDown(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	first := w.hub()
	first.ready()
	key := w.streamer(first, "mara_k")
	if status, _, body := first.do("POST", "/api/streamer/heartbeat", "", "Authorization", key); status != 200 {
		t.Fatal(status, body)
	}
	first.stop()
	pool := testkit.Pool(t, w.database.Admin)
	if _, err := pool.Exec(t.Context(), `UPDATE hub.live_sessions SET started_at = started_at - interval '1 hour', last_beat = last_beat - interval '10 minutes'`); err != nil {
		t.Fatal(err)
	}
	one, two := w.hub(), w.hub()
	one.ready()
	two.ready()
	if got := one.live(); len(got) != 0 {
		t.Errorf("live: %v", got)
	}
	heard := &w.ledger.Heard
	testkit.Eventually(t, 20*time.Second, func() bool { return slices.Contains(heard.Facts("mara_k"), "operator.offline") })
	var exact bool
	if err := pool.QueryRow(t.Context(), `SELECT ended_at = last_beat + interval '45 seconds' FROM hub.live_sessions`).Scan(&exact); err != nil || !exact {
		t.Errorf("the end is not 45 seconds behind the last heartbeat: %v", err)
	}
	if data := heard.Fact("operator.offline"); !strings.Contains(data, `"durationS": 3045`) {
		t.Errorf("operator.offline says %s", data)
	}
	// A heartbeat opens the next one; the one before is as it was.
	if status, _, body := two.do("POST", "/api/streamer/heartbeat", "", "Authorization", key); status != 200 {
		t.Fatal(status, body)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return slices.Equal(heard.Facts("mara_k"), []string{"stream.bound", "operator.live", "operator.offline", "operator.live"})
	})
}
