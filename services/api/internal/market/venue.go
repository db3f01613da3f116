package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is one answer of a venue about one market. With status resolved, Verdict is the venue's final result. The ledger has an
// outcome only after a claim. Nil and empty members are unknown or do not apply.
type Record struct {
	ID          protocol.MarketID
	Title       string
	Description string
	EndDate     *time.Time
	Status      protocol.MarketStatus
	Provisional bool // a result is shown, proposed or challenged
	Disputed    bool // the proposed result is challenged at the venue; Provisional, which decides, is then set too
	Verdict     *protocol.Verdict
	Payout      *string
	Lane        protocol.Lane // by the venue's tags; OTHER: they name no lane
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
	Yes         *protocol.Bps
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

	// Short is set for an answer that leaves out members. Stored values of its empty members are not changed, nor is a stored title
	// that contains its title.
	Short bool
	// Guessed is set with the lane for a short answer whose lane follows from the title alone. A stored lane has precedence.
	Guessed bool
}

// Quote is the price of each side in bps, rounded up, from 1 to 9999: the best ask of YES,
// and 10000 minus the best bid of YES. Its age counts from At, a time of the venue's clock.
type Quote struct {
	Yes, No protocol.Bps
	At      time.Time
	Rule    string // where it came from, for example polymarket.book or kalshi.market
	SHA256  []byte // of the answer; nil for a stream frame
}

// Of returns the price of a side.
func (q *Quote) Of(side protocol.Side) protocol.Bps {
	if side == protocol.Yes {
		return q.Yes
	}
	return q.No
}

// Venue reads the markets of one provider. Errors: ErrNotFound when the venue
// says that there is no such market, anything else counts as ErrUnavailable.
type Venue interface {
	// Get reads one market whatever its state, with its quote when it is open.
	Get(ctx context.Context, id protocol.MarketID) (Record, error)
	// ListOpen reads one page of the open markets; next is empty at the end.
	ListOpen(ctx context.Context, cursor string) (records []Record, next string, err error)
	// Quote reads many markets in few requests, with the quotes of those that are open. Markets
	// that the answers show as not open are returned as such. A market that is left out is not
	// open or does not exist; Get returns which.
	Quote(ctx context.Context, ids []protocol.MarketID) ([]Record, error)
}

// Venues are the venues that are connected, by provider.
type Venues map[protocol.Provider]Venue

// Classify sorts markets into lanes (contract 4.16.3).
type Classify struct {
	// Lane returns the content lane of a market whose venue's tags name none.
	Lane func(title string, tags []string) protocol.Lane
	// Category finds the programme lane of a market of a content lane.
	Category func(lane protocol.Lane, title string, tags []string) string
}
