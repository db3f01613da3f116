package edge_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

// playing puts operators on the stage of a bench.
func playing(shows *[]broadcast.Show) option {
	return func(_ *edge.Config, d *edge.Deps) {
		d.Broadcast.Stage = broadcast.StageFunc(func(context.Context) ([]broadcast.Show, error) { return *shows, nil })
	}
}

func (b *bench) set(change func()) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	change()
}

// TestSpotlight goes down the ladder, rung by rung, on a database.
func TestSpotlight(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	shows := []broadcast.Show{
		{ShowID: "0199f0e0-0000-7000-8000-000000000001", Handle: "tidewatch", Viewers: 4, HLSURL: "https://video-a.example/live/tidewatch/index.m3u8", MarketID: nativeID, StartedAt: at("2026-09-18T11:00:00Z").AsTime()},
		{ShowID: "0199f0e0-0000-7000-8000-000000000002", Handle: "mara_k", Viewers: 37, HLSURL: playURL, MarketID: marketID, StartedAt: at("2026-09-18T11:30:00Z").AsTime()},
	}
	b := setup(t, store, playing(&shows))
	b.set(func() {
		b.ledger.Program = programme()
		b.ledger.Taken = []*wirev1.Taken{{MarketId: nativeID, Takes: 9}}
		b.ledger.Moves = []*wirev1.Move{{MarketId: marketID, Provider: "polymarket", Title: "Gauge", Lane: "SCIENCE", FromBps: 3650, ToBps: 3150, DetectedAt: at("2026-09-18T11:50:00Z")}}
	})
	read := func(name string) *httptest.ResponseRecorder {
		t.Helper()
		w := b.send("GET", "/api/broadcast/spotlight", "")
		golden(t, "broadcast/spotlight_"+name, w)
		return w
	}
	read("live")
	b.clock.Advance(30 * time.Second)
	shows[0].Viewers = 900 // it does not flicker
	if w := b.send("GET", "/api/broadcast/spotlight", ""); field(w, "showId") != shows[1].ShowID {
		t.Errorf("half a minute later: %s", w.Body)
	}
	b.clock.Advance(30 * time.Second)
	if w := b.send("GET", "/api/broadcast/spotlight", ""); field(w, "showId") != shows[0].ShowID {
		t.Errorf("a minute later: %s", w.Body)
	}
	shows = nil // over, and so is its time
	b.clock.Advance(2 * time.Second)
	read("takes")
	b.set(func() { b.ledger.Taken = nil })
	b.clock.Advance(time.Minute)
	read("move")
	b.set(func() { b.ledger.Moves[0].ToBps = 3200 }) // 4.5 points
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

// TestSpotlightIsOne: hubs that share a database show one choice, whoever asks first.
func TestSpotlightIsOne(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	one, other := setup(t, store), setup(t, store)
	one.set(func() { one.ledger.Taken = []*wirev1.Taken{{MarketId: marketID, Takes: 3}} })
	other.set(func() { other.ledger.Taken = []*wirev1.Taken{{MarketId: nativeID, Takes: 4}} })
	for i := range 6 {
		first, second := one, other
		if i%2 == 1 {
			first, second = other, one
		}
		a, b := first.send("GET", "/api/broadcast/spotlight", ""), second.send("GET", "/api/broadcast/spotlight", "")
		if a.Code != 200 || a.Body.String() != b.Body.String() || a.Header().Get("Etag") != b.Header().Get("Etag") {
			t.Errorf("%s\n%s", a.Body, b.Body)
		}
		one.clock.Advance(59 * time.Second)
		other.clock.Advance(59 * time.Second)
	}
}

// TestSpotlightWithoutItsParts: a rung that cannot be seen is passed over and said; a hub
// without its database shows the last that it saw, for five minutes.
func TestSpotlightWithoutItsParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(func() { b.ledger.Program = programme(); b.ledger.Moves = nil })
	b.setBefore(func(_ context.Context, method string) error {
		if method == "ListTaken" {
			return memledger.ErrDB
		}
		return nil
	})
	w := b.send("GET", "/api/broadcast/spotlight", "")
	if field(w, "spotlight.reason") != "clock" && !strings.Contains(w.Body.String(), `"reason":"clock"`) || marks(w) != [2]string{"db", "no-store"} {
		t.Errorf("%v %s", marks(w), w.Body)
	}
	b.setBefore(nil)
	b.clock.Advance(2 * time.Second)
	if w := b.send("GET", "/api/broadcast/spotlight", ""); marks(w) != [2]string{"", "public, s-maxage=5"} {
		t.Errorf("%v %s", marks(w), w.Body)
	}
	gone := setup(t, away(t))
	gone.set(func() { gone.ledger.Program = programme() })
	golden(t, "broadcast/spotlight_away", gone.send("GET", "/api/broadcast/spotlight", ""))
	b.deps.Broadcast.Spotlights = gone.deps.Broadcast.Spotlights
	b.clock.Advance(2 * time.Minute)
	if w := b.send("GET", "/api/broadcast/spotlight", ""); marks(w) != [2]string{"db", "no-store"} || !strings.Contains(w.Body.String(), `"reason":"clock"`) {
		t.Errorf("a copy: %v %s", marks(w), w.Body)
	}
	b.clock.Advance(4 * time.Minute)
	if w := b.send("GET", "/api/broadcast/spotlight", ""); !strings.Contains(w.Body.String(), `"spotlight":null`) {
		t.Errorf("an old copy: %s", w.Body)
	}
}
