package edge

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/syntax"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// Times of what is known about stories.
const (
	storyTTL  = 30 * time.Second
	storyLast = 10 * time.Minute // old answers are better than none while the ledger is away
)

// stories finds the market that leads the situation of an event, for somebody who follows a link. Unknown events, however many
// there are, cost the ledger one look in storyTTL.
type stories struct {
	ledger wirev1.WireReadServiceClient
	leads  *cache.Cache[bool, map[string]syntax.MarketID] // by event; true: of each lane, too
}

func newStories(ledger wirev1.WireReadServiceClient, now func() time.Time) *stories {
	leads := cache.New(cache.Options[bool, map[string]syntax.MarketID]{
		TTL: storyTTL, Hold: -1, Timeout: 2 * time.Second, Values: true, Now: now,
	})
	return &stories{ledger: ledger, leads: leads}
}

// lead returns the market that leads the situation of an event; empty when no market of the event moves. The fault is the
// ledger's; a market with a fault led within the last storyLast.
func (s *stories) lead(ctx context.Context, key string) (syntax.MarketID, error) {
	for _, wide := range [...]bool{false, true} {
		leads, err := s.leads.Get(ctx, wide, func(ctx context.Context, _ map[string]syntax.MarketID) (map[string]syntax.MarketID, error) {
			return s.look(ctx, wide)
		})
		if err != nil {
			return s.last(key), err
		}
		if id := leads[key]; id != "" {
			return id, nil
		}
	}
	return "", nil
}

// last returns the market that led an event within storyLast.
func (s *stories) last(key string) (id syntax.MarketID) {
	newest := storyLast
	for _, wide := range [...]bool{false, true} {
		if leads, age, _ := s.leads.Last(wide); age < newest && leads[key] != "" {
			id, newest = leads[key], age
		}
	}
	return id
}

// look reads the situations of every window, the longest first: those of all lanes
// together, and wide, those of each lane, where a list of all ends too early.
func (s *stories) look(ctx context.Context, wide bool) (map[string]syntax.MarketID, error) {
	lanes := []syntax.Lane{""}
	if wide {
		for _, lane := range syntax.Lanes {
			if lane.Filterable() {
				lanes = append(lanes, lane)
			}
		}
	}
	leads := map[string]syntax.MarketID{}
	for i := range syntax.Windows {
		window := syntax.Windows[len(syntax.Windows)-1-i]
		for _, lane := range lanes {
			list, err := listSituations(ctx, s.ledger, wireQuery{window, lane, maxSituations})
			if err != nil {
				return nil, err
			}
			for _, sit := range list.GetSituations() {
				key := sit.GetEventKey()
				if _, ok := leads[key]; !ok && key != "" {
					leads[key] = syntax.MarketID(sit.GetMarkets()[0].GetMarketId())
				}
			}
		}
	}
	return leads, nil
}
