package lane

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
)

// Item is a market or a question to be classified. If Title is empty, the title of the stored market with the id MarketID is
// used.
type Item struct {
	MarketID string
	Title    string
}

// Place is the lane and the category of an item.
type Place struct {
	MarketID string
	categorise.Result
}

// Known is the stored title and classification of a market.
type Known struct {
	Title    string
	Lane     protocol.Lane
	Category string
	Ruled    bool // an administrator set the lane
}

// Count contains statistics of one lane: the numbers of all calls, of calls on open markets, and of markets with calls.
type Count struct {
	Lane                   protocol.Lane
	Signals, Open, Markets int64
}

// Store reads and writes the stored lanes of markets. All methods can return db_unavailable.
type Store interface {
	// KnownLanes returns the stored classifications of the given markets by market id. Unknown ids are absent from the map.
	KnownLanes(ctx context.Context, ids []string) (map[string]Known, error)
	// RuleLane stores a lane that an administrator chose, adds it to the audit log, and returns the stored category. place
	// returns the category for the title of the market. Error: market_not_found.
	RuleLane(ctx context.Context, marketID string, lane protocol.Lane, place func(title string) (category string), now time.Time) (category string, err error)
	// LaneCounts returns the counts of each lane that has calls.
	LaneCounts(ctx context.Context) ([]Count, error)
}

// MaxItems is the largest number of items in one classification request.
const MaxItems = 100

// venueConfidence is the confidence, from 0 to 100, of a lane that follows from the tags of the venue.
const venueConfidence = 95

// Categories contains the programme categories, and "other" for markets that no programme shows.
var Categories = []string{
	"sports", "music", "film", "tv", "fashion", "culture", "crypto", "politics", "news", "science", "tech", "economy", "other",
}

// Service classifies markets and questions, and stores the decisions of administrators.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a service that uses the given store and clock.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Categorise returns the lane and category of each item, in the order of the items. The decision of an administrator has
// precedence. Without one, the stored lane from the venue's tags applies, and otherwise the words of the title decide. Error:
// db_unavailable.
func (s *Service) Categorise(ctx context.Context, items []Item) ([]Place, error) {
	var ids []string
	for _, it := range items {
		if it.MarketID != "" {
			ids = append(ids, it.MarketID)
		}
	}
	known := map[string]Known{}
	if len(ids) > 0 {
		var err error
		if known, err = s.store.KnownLanes(ctx, ids); err != nil {
			return nil, err
		}
	}
	out := make([]Place, len(items))
	for i, it := range items {
		k, ok := known[it.MarketID]
		title := it.Title
		if title == "" {
			title = k.Title
		}
		p := categorise.Classify(title, nil)
		switch {
		case ok && k.Ruled:
			p = categorise.Result{Lane: k.Lane, Category: k.Category, Confidence: 100, Method: categorise.Override}
		case ok && k.Lane != protocol.LaneOther && k.Lane != p.Lane: // the venue's tags have precedence over the title
			p = categorise.Result{Lane: k.Lane, Category: k.Category, Confidence: venueConfidence, Method: categorise.Keyword}
		}
		out[i] = Place{it.MarketID, p}
	}
	return out, nil
}

// Rule stores the lane that an administrator chose for a market, and returns the stored category. An empty category selects
// the default category of the lane. Errors: market_not_found, db_unavailable.
func (s *Service) Rule(ctx context.Context, marketID string, lane protocol.Lane, category string) (string, error) {
	return s.store.RuleLane(ctx, marketID, lane, func(title string) string {
		if category != "" {
			return category
		}
		return categorise.Category(lane, title, nil)
	}, s.now().UTC())
}

// Counts returns the numbers of calls and markets of every lane, in the order of protocol.Lanes. They are zero for a lane
// without calls. Error: db_unavailable.
func (s *Service) Counts(ctx context.Context) ([]Count, error) {
	found, err := s.store.LaneCounts(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Count, 0, len(protocol.Lanes))
	for _, l := range protocol.Lanes {
		c := Count{Lane: l}
		for _, f := range found {
			if f.Lane == l {
				c = f
			}
		}
		out = append(out, c)
	}
	return out, nil
}
