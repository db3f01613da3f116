package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

// TestSpotlight checks that fifty hubs that concurrently choose a spotlight all get the choice of the first one.
func TestSpotlight(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if held, err := s.Spotlight(t.Context()); err != nil || held.Version != 0 {
		t.Fatalf("initial spotlight: %+v, %v; want none", held, err)
	}
	yes := int32(3150)
	now := noon
	full := broadcast.Spotlight{
		Reason: broadcast.LiveOperator, ShowID: "0199f0e0-0000-7000-8000-000000000001", MarketID: "701122", Title: "Gauge?", Yes: &yes, Lane: protocol.LaneScience,
		Handle: "mara_k", HLSURL: "https://video-a.example/x.m3u8", Viewers: 37, StartedAt: now.Add(-time.Hour), ExpiresAt: now.Add(time.Minute), ChosenAt: now,
	}
	held, err := s.ReplaceSpotlight(t.Context(), full, 0)
	if diff := cmp.Diff(broadcast.StoredSpotlight{Spotlight: full, Version: 1}, held, cmp.Comparer(time.Time.Equal)); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	for round := range int64(3) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		said := map[string]int{}
		for i := range 50 {
			wg.Go(func() {
				one := broadcast.Spotlight{Reason: broadcast.OnClock, MarketID: protocol.MarketID(fmt.Sprint(i)), Title: "x", SegmentID: "y", StartedAt: now, ExpiresAt: now, ChosenAt: now}
				held, err := s.ReplaceSpotlight(t.Context(), one, round+1)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				said[fmt.Sprint(held.MarketID, " ", held.Version, " ", held.Yes == nil, held.ShowID, held.Handle, held.HLSURL)]++
			})
		}
		wg.Wait()
		if len(said) != 1 {
			t.Errorf("the hubs have different spotlights: %v", said)
		}
	}
	if held, err := s.Spotlight(t.Context()); err != nil || held.Version != 4 {
		t.Errorf("%+v, %v", held, err)
	}
}
