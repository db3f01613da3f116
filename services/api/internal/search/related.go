package search

import (
	"context"
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Doc is a market and the properties by which other markets are related to it.
type Doc struct {
	ID       protocol.MarketID
	Provider protocol.Provider
	Title    string
	Lane     protocol.Lane
	EventKey string
}

// Relation is the reason why a market is related to another market.
type Relation string

// Values of Relation, the closest relation first.
const (
	SameEvent Relation = "same_event"
	Similar   Relation = "similar"
	SameLane  Relation = "same_lane"
)

// MostRelated is the largest number of related markets in a list.
const MostRelated = 12

// Related is the id of a related market, with the reason for the relation.
type Related struct {
	ID         protocol.MarketID
	Relation   Relation
	Similarity float64 // similarity of the titles, 0 to 1, two decimals
}

// Related returns at most MostRelated markets related to a market. Markets of the same event come first, then markets with a
// similar title, then markets of the same lane. Within each group, open markets come first, then greater volumes. Markets of
// unknown status are omitted. The given market need not be indexed. Error: db_unavailable.
func (s *Service) Related(ctx context.Context, d Doc) ([]Related, error) {
	words, err := s.store.GetTitleWords(ctx, d.Title)
	if err != nil {
		return nil, err
	}
	if !d.Lane.Filterable() {
		d.Lane = "" // OTHER contains markets without a lane, which have nothing in common
	}
	return s.store.ListRelated(ctx, d, words, pairs(words), MostRelated)
}

// Similarity returns the similarity of two titles, 0 to 1 with two decimals: the number of words that occur in a and b,
// divided by the number of words that occur in a or b. The words of each title must be distinct. Without a common word, it
// returns 0.
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
