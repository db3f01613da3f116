package lane

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
)

// Item is a market or a question to be classified. An empty Title means the title of the market with the id MarketID.
type Item struct {
	MarketID string
	Title    string
}

// Place is the lane and category of an item.
type Place struct {
	MarketID string
	categorise.Result
}

// Known is the stored classification of a market.
type Known struct {
	Title    string
	Lane     protocol.Lane
	Category string
	Ruled    bool // set by an administrator
}

// Count is the number of calls and markets of a lane.
type Count struct {
	Lane                   protocol.Lane
	Signals, Open, Markets int64
}

// Store reads and writes lanes. Fault: db_unavailable.
type Store interface {
	// KnownLanes returns the stored lanes of markets by id, without unknown markets.
	KnownLanes(ctx context.Context, ids []string) (map[string]Known, error)
	// RuleLane stores an administrator's lane and writes it to the audit log. place returns the category for the title
	// of the market. Fault: market_not_found.
	RuleLane(ctx context.Context, marketID string, lane protocol.Lane, place func(title string) (category string), now time.Time) (category string, err error)
	// LaneCounts returns the number of calls by lane.
	LaneCounts(ctx context.Context) ([]Count, error)
}

// MaxItems is the largest number of items in one request.
const MaxItems = 100

// venueConfidence is the confidence of a lane that the tags of the venue gave.
const venueConfidence = 95

// Categories are the categories of the programme, and other.
var Categories = []string{
	"sports", "music", "film", "tv", "fashion", "culture", "crypto", "politics", "news", "science", "tech", "economy", "other",
}

// ErrInvalid rejects an unknown lane or category.
var ErrInvalid = apperr.New(apperr.Invalid, "invalid_request", "not a known value")

// Service classifies markets.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a service that uses a store.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Categorise returns the lane and category of each item, in the order of the items.
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

// Rule stores an administrator's lane of a market and returns its category. An empty category means the default
// category of the lane. Faults: market_not_found, db_unavailable.
func (s *Service) Rule(ctx context.Context, marketID string, lane protocol.Lane, category string) (string, error) {
	return s.store.RuleLane(ctx, marketID, lane, func(title string) string {
		if category != "" {
			return category
		}
		return categorise.Category(lane, title, nil)
	}, s.now().UTC())
}

// Counts returns the number of calls in every lane. A lane without calls has zeros.
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
