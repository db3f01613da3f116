package venue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

const (
	maxPages = 500
	maxReads = 150 // largest number of markets of each venue that are read one by one after the list
)

// TestSweepOfAllVenues reads every page of the simulated venues, with generated markets and with the recorded markets of
// each directory. Every list must end, every id must be valid, no market may be listed twice, and listed markets must be
// readable.
func TestSweepOfAllVenues(t *testing.T) {
	t.Parallel()
	for i, data := range append([]string{""}, folders(t)...) {
		t.Run(fmt.Sprint("data ", i), func(t *testing.T) {
			t.Parallel()
			sim := venuetest.StartSimulator(t, data)
			meter := venue.NewMeter(prometheus.NewRegistry())
			for name, a := range venuetest.Adapters(t, sim.URL, meter, time.Now) {
				made := sim.Create(name, "Will the invented canal be full?", `,"yesPrice":0.25`)
				began, seen, pages, cursor := time.Now(), map[protocol.MarketID]market.Record{}, 0, ""
				lanes, open := map[protocol.Lane]int{}, 0
				for {
					page, next, err := a.ListOpen(t.Context(), cursor)
					if err != nil {
						t.Fatalf("list of %s: %v", name, err)
					}
					for _, m := range page {
						id, err := protocol.ParseMarketID(string(m.ID))
						if _, twice := seen[m.ID]; err != nil || id.Provider() != name || twice && name != "manifold" {
							t.Errorf("%s lists %s: %v; listed twice: %v", name, m.ID, err, twice)
						}
						seen[m.ID] = m
						lanes[m.Lane]++
						if m.Status == protocol.MarketOpen {
							open++
						}
					}
					if pages++; next == "" {
						break
					}
					if cursor = next; pages > maxPages {
						t.Fatalf("%s: the list does not end", name)
					}
				}
				ids := make([]protocol.MarketID, 0, len(seen))
				for id := range seen {
					ids = append(ids, id)
				}
				slices.Sort(ids)
				for _, id := range ids[:min(len(ids), maxReads)] {
					m, err := a.Get(t.Context(), id)
					if err != nil || m.Title != seen[id].Title || m.Status == protocol.MarketResolved && m.Verdict == nil {
						t.Errorf("single read of %s: %+v %v", id, m, err)
					}
				}
				_, listed := seen[made]
				few := len(seen) < 3000 || open < 2500 || len(lanes) < 10 || lanes[protocol.LaneOther] > len(seen)/20
				if !listed || data == "" && name == "polymarket" && few {
					t.Errorf("%s: %d markets, %d open, in the lanes %v; the new market is listed: %v", name, len(seen), open, lanes, listed)
				}
				t.Logf("%s: %d markets on %d pages in %v, with %d read individually", name, len(seen), pages, time.Since(began).Round(time.Millisecond), min(len(ids), maxReads))
			}
		})
	}
}

// TestEveryVenueCanBeBusy checks that every adapter returns an error that wraps ErrBusy after an answer with status 429.
func TestEveryVenueCanBeBusy(t *testing.T) {
	t.Parallel()
	sim := venuetest.StartSimulator(t, "")
	for name, a := range venuetest.Adapters(t, sim.URL, venue.NewMeter(prometheus.NewRegistry()), time.Now) {
		id := sim.Create(name, "Will the invented canal be full?", `,"yesPrice":0.25`)
		sim.Post(string(name)+"/fault", `{"mode":"429","seconds":60}`)
		for what, err := range map[string]error{
			"get": second(a.Get(t.Context(), id)), "quote": second(a.Quote(t.Context(), []protocol.MarketID{id})), "list": third(a.ListOpen(t.Context(), "")),
		} {
			if !errors.Is(err, market.ErrBusy) || !errors.Is(err, market.ErrUnavailable) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		sim.Post(string(name)+"/fault", `{"mode":"none"}`)
		ctx, cancel := context.WithTimeout(market.WithPurpose(t.Context(), market.ForFiling), time.Second)
		if m, err := a.Get(ctx, id); err != nil || m.Status != protocol.MarketOpen {
			t.Errorf("%s after the fault: %+v %v", name, m, err)
		}
		cancel()
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }
