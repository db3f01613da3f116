package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Record is one answer of a venue about one market, in the words of this
// package. Status resolved is the venue's final word, with Verdict set; it
// becomes an outcome only by a claim.
type Record struct {
	ID          syntax.MarketID
	Title       string
	Description string
	EndDate     *time.Time
	Status      syntax.MarketStatus
	Provisional bool // a result is shown, proposed or challenged
	Verdict     *syntax.Verdict
	Payout      *string
	Lane        syntax.Lane // by the venue's own tags; OTHER: they do not tell
	Tags        []string
	Category    string // programme lane, found by Classify
	Slug        string
	EventKey    string
	EventTitle  string
	ConditionID string
	ClobTokenID string
	YesIndex    int
	Outcomes    []string
	ImageURL    string
	URL         string // market page; the proof once the market is final
	VolumeUnit  string
	Yes         *syntax.Bps
	Volume      *float64
	VolumeUSD   *float64
	Volume24h   *float64
	Liquidity   *float64
	FetchedAt   time.Time // when the venue was asked
	Quote       *Quote    // of an open market; nil: the answer has no quote
	Creator     string    // user id of the creator of a market of Manifold
	// ClosedAt is when trading ended, by the venue, and never in the future; nil while the
	// market is open and when the venue gives no time with a time of day.
	ClosedAt *time.Time

	// Short is an answer that does not say everything: what is empty in it stays
	// as it is kept, and a kept title that only adds to its title stays too.
	Short bool
	// Guessed, found with the lane: a short answer whose lane is told by its title
	// alone; a kept lane is better.
	Guessed bool
}

// Quote is the price of each side in bps, rounded up, from 1 to 9999: the best ask of YES,
// and 10000 minus the best bid of YES. Its age counts from At, a time of the venue's clock.
type Quote struct {
	Yes, No syntax.Bps
	At      time.Time
	Rule    string // where it came from, for example polymarket.book or kalshi.market
	SHA256  []byte // of the answer; nil for a stream frame
}

// Of returns the price of a side.
func (q *Quote) Of(side syntax.Side) syntax.Bps {
	if side == syntax.Yes {
		return q.Yes
	}
	return q.No
}

// Venue reads the markets of one provider. Errors: ErrNotFound when the venue
// says that there is no such market, anything else counts as ErrUnavailable.
type Venue interface {
	// Get reads one market whatever its state, with its quote when it is open.
	Get(ctx context.Context, id syntax.MarketID) (Record, error)
	// ListOpen reads one page of the open markets; next is empty at the end.
	ListOpen(ctx context.Context, cursor string) (records []Record, next string, err error)
	// Quote reads many markets in few requests, with the quotes of those that are open. Markets
	// that the answers show as not open are returned as such. One that is left out is not
	// open, or unknown: Get says which.
	Quote(ctx context.Context, ids []syntax.MarketID) ([]Record, error)
}

// Venues are the venues that are connected, by provider.
type Venues map[syntax.Provider]Venue

// Classify sorts markets into lanes (contract 4.16.3).
type Classify struct {
	// Lane finds the content lane where the venue's own tags do not tell it.
	Lane func(title string, tags []string) syntax.Lane
	// Category finds the programme lane of a market of a content lane.
	Category func(lane syntax.Lane, title string, tags []string) string
}
