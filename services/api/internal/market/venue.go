package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is one answer of a venue about one market. With status resolved, Verdict is the venue's final result. The
// ledger has an outcome only after a claim. Nil and empty members are unknown or do not apply.
type Record struct {
	ID          protocol.MarketID
	Title       string
	Description string
	EndDate     *time.Time
	Status      protocol.MarketStatus
	Provisional bool // a result is shown, proposed or challenged
	Disputed    bool // the proposed result is challenged at the venue; Provisional is then set too
	Verdict     *protocol.Verdict
	Payout      *string
	Lane        protocol.Lane // from the venue's tags; OTHER if they name no lane
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
	URL         string // page of the market; the proof once the market is final
	VolumeUnit  string
	Yes         *protocol.Bps
	Volume      *float64
	VolumeUSD   *float64
	Volume24h   *float64
	Liquidity   *float64
	FetchedAt   time.Time // when the venue was requested
	Quote       *Quote    // quote of an open market; nil if the answer has none
	Creator     string    // user id of the creator of a market of Manifold
	// ClosedAt is the time at which trading ended according to the venue. It is never in the future. It is nil while
	// the market is open, and when the venue gives only a date.
	ClosedAt *time.Time

	// Short is set for an answer that leaves out members. Its empty members do not change stored values. Its title does
	// not replace a stored title that contains it.
	Short bool
	// Guessed is set when the lane of a short answer follows from the title alone. A stored lane then has precedence.
	Guessed bool
}

// Quote is the price of each side in bps, rounded up, from 1 to 9999: the best ask of YES, and 10000 minus the best bid
// of YES. At is a time of the venue's clock, from which its age counts.
type Quote struct {
	Yes, No protocol.Bps
	At      time.Time
	Rule    string // source of the quote, for example polymarket.book or kalshi.market
	SHA256  []byte // SHA-256 of the answer; nil for a stream frame
}

// Of returns the price of a side.
func (q *Quote) Of(side protocol.Side) protocol.Bps {
	if side == protocol.Yes {
		return q.Yes
	}
	return q.No
}

// Venue reads the markets of one provider. Its methods return ErrNotFound when the venue answers that there is no such
// market. Any other error counts as ErrUnavailable.
type Venue interface {
	// Get reads one market in any state, with its quote when it is open.
	Get(ctx context.Context, id protocol.MarketID) (Record, error)
	// ListOpen reads one page of the open markets. next is empty after the last page.
	ListOpen(ctx context.Context, cursor string) (records []Record, next string, err error)
	// Quote reads many markets in few requests, with the quotes of those that are open. It returns markets that the
	// venue shows as not open with their state. A market that the result omits is not open or does not exist; Get
	// returns which.
	Quote(ctx context.Context, ids []protocol.MarketID) ([]Record, error)
}

// Venues are the connected venues by provider.
type Venues map[protocol.Provider]Venue

// Classify assigns lanes to markets.
type Classify struct {
	// Lane returns the content lane of a market when the tags of its venue name none.
	Lane func(title string, tags []string) protocol.Lane
	// Category returns the programme lane of a market from its content lane.
	Category func(lane protocol.Lane, title string, tags []string) string
}
