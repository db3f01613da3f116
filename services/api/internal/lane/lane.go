package lane

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
)

// Item is a market or a question to be placed. With an id that is known, an empty
// title is the market's own.
type Item struct {
	MarketID string
	Title    string
}

// Place is where an item belongs.
type Place struct {
	MarketID string
	categorise.Result
}

// Known is what the ledger has of a market.
type Known struct {
	Title    string
	Lane     protocol.Lane
	Category string
	Ruled    bool // by an admin
}

// Count is what was called in a lane.
type Count struct {
	Lane                   protocol.Lane
	Signals, Open, Markets int64
}

// Store keeps lanes. Fault: db_unavailable.
type Store interface {
	// KnownLanes finds markets by id; those that are not known are left out.
	KnownLanes(ctx context.Context, ids []string) (map[string]Known, error)
	// RuleLane writes an admin's word, and where it came from in the audit log. place
	// gives the category for a title. Fault: market_not_found.
	RuleLane(ctx context.Context, marketID string, lane protocol.Lane, place func(title string) (category string), now time.Time) (category string, err error)
	// LaneCounts counts calls by lane.
	LaneCounts(ctx context.Context) ([]Count, error)
}

// MaxItems is how many items one question may have.
const MaxItems = 100

// venueConfidence is that of a lane which the venue's own tags gave.
const venueConfidence = 95

// Categories are those of the programme (contract 4.9.4) and other.
var Categories = []string{
	"sports", "music", "film", "tv", "fashion", "culture", "crypto", "politics", "news", "science", "tech", "economy", "other",
}

// ErrInvalid is a lane or a category that there is not.
var ErrInvalid = apperr.New(apperr.Invalid, "invalid_request", "not a known value")

// Service places markets.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService wires the subject.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Categorise places items, in their order.
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
		case ok && k.Lane != protocol.LaneOther && k.Lane != p.Lane: // its venue said more than the title
			p = categorise.Result{Lane: k.Lane, Category: k.Category, Confidence: venueConfidence, Method: categorise.Keyword}
		}
		out[i] = Place{it.MarketID, p}
	}
	return out, nil
}

// Rule writes an admin's word on a market; an empty category is the one of the lane.
// Faults: market_not_found, db_unavailable.
func (s *Service) Rule(ctx context.Context, marketID string, lane protocol.Lane, category string) (string, error) {
	return s.store.RuleLane(ctx, marketID, lane, func(title string) string {
		if category != "" {
			return category
		}
		return categorise.Category(lane, title, nil)
	}, s.now().UTC())
}

// Counts counts calls in every lane; a lane without a call has zeros.
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
