package search

import (
	"context"
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Doc is what related markets have in common with a market.
type Doc struct {
	ID       protocol.MarketID
	Provider protocol.Provider
	Title    string
	Lane     protocol.Lane
	EventKey string
}

// Relation says why a market belongs with another one.
type Relation string

// The relations, the closest first.
const (
	SameEvent Relation = "same_event"
	Similar   Relation = "similar"
	SameLane  Relation = "same_lane"
)

// MostRelated is the size of the list of related markets.
const MostRelated = 12

// Related is one market that belongs with another one.
type Related struct {
	ID         protocol.MarketID
	Relation   Relation
	Similarity float64 // of the titles, 0 to 1, two decimals
}

// Related returns what belongs with a market, which need not be in the index: the
// same event, a similar title, the same lane; within each open markets before the
// others, the largest first. Markets of unknown status are left out. Error: db_unavailable.
func (s *Service) Related(ctx context.Context, d Doc) ([]Related, error) {
	words, err := s.store.GetTitleWords(ctx, d.Title)
	if err != nil {
		return nil, err
	}
	if !d.Lane.Filterable() {
		d.Lane = "" // OTHER is where markets are that have no lane
	}
	return s.store.ListRelated(ctx, d, words, pairs(words), MostRelated)
}

// Similarity returns the share of the words of two titles that both have, with two decimals.
func Similarity(a, b []string) float64 {
	has := make(map[string]bool, len(a))
	for _, w := range a {
		has[w] = true
	}
	shared := 0
	for _, w := range b {
		if has[w] {
			shared++
		}
	}
	if shared == 0 {
		return 0
	}
	return math.Round(100*float64(shared)/float64(len(a)+len(b)-shared)) / 100
}
