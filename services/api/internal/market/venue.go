package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is the state of one market at one time, as its venue returned it. If Status is resolved, Verdict is the final result
// at the venue; the ledger has an outcome only after this result is claimed. A nil or empty member is unknown or does not
// apply.
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
	Lane        protocol.Lane // content lane from the venue's tags; OTHER if they name no lane
	Tags        []string
	Category    string // programme category, set by Classify
	Slug        string
	EventKey    string
	EventTitle  string
	ConditionID string
	ClobTokenID string
	YesIndex    int
	Outcomes    []string
	ImageURL    string
	URL         string // page of the market at the venue; it is the proof of a final result
	VolumeUnit  string
	Yes         *protocol.Bps
	Volume      *float64
	VolumeUSD   *float64
	Volume24h   *float64
	Liquidity   *float64
	FetchedAt   time.Time // when the venue was requested
	Quote       *Quote    // quote of an open market; nil if the response has none
	Creator     string    // user id of the creator of a market of Manifold
	// ClosedAt is the time at which trading ended, according to the venue. It is never in the future. It is nil while the
	// market is open, and if the venue gives only a date.
	ClosedAt *time.Time

	// Short is true for an answer that omits members. Its empty members do not change stored values. Its title does not
	// replace a stored title that contains it.
	Short bool
	// Guessed is true if the lane of a short answer was derived from the title alone. A stored lane then has precedence.
	Guessed bool
}

// Quote is the ask price of each side in basis points, rounded up, from 1 to 9999. The price of YES is the best ask of YES,
// and the price of NO is 10000 minus the best bid of YES. At is a time of the venue's clock; the age of the quote is
// measured from it.
type Quote struct {
	Yes, No protocol.Bps
	At      time.Time
	Rule    string // source of the quote, for example polymarket.book or kalshi.market
	SHA256  []byte // SHA-256 of the response; nil for a stream frame
}

// Of returns the price of the given side in basis points.
func (q *Quote) Of(side protocol.Side) protocol.Bps {
	if side == protocol.Yes {
		return q.Yes
	}
	return q.No
}

// Venue reads the markets of one provider. Its methods return ErrNotFound if the venue has no such market. Any other error is
// treated as ErrUnavailable.
type Venue interface {
	// Get reads one market in any state. The record has a quote if the market is open and the venue has one.
	Get(ctx context.Context, id protocol.MarketID) (Record, error)
	// ListOpen reads one page of the open markets. next is empty after the last page.
	ListOpen(ctx context.Context, cursor string) (records []Record, next string, err error)
	// Quote reads many markets in few requests, with the quotes of the open ones. The result contains markets that the venue
	// shows as not open with their state. A market that the result omits is not open or does not exist; Get returns which.
	Quote(ctx context.Context, ids []protocol.MarketID) ([]Record, error)
}

// Venues contains the connected venue of each provider.
type Venues map[protocol.Provider]Venue

// Classify contains the functions that assign lanes and categories to markets.
type Classify struct {
	// Lane returns the content lane of a market from its title and tags. It is used if the record of the venue names
	// no lane.
	Lane func(title string, tags []string) protocol.Lane
	// Category returns the category (programme lane) of a market from its content lane, title and tags.
	Category func(lane protocol.Lane, title string, tags []string) string
}
