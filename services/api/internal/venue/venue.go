package venue

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Faults of a read.
var (
	// ErrNotFound: the venue itself answered that the market does not exist, or
	// that it is none on which a call can be made.
	ErrNotFound = fault.New(fault.NotFound, "market_not_found", "no such market")
	// ErrUnavailable: no usable answer came.
	ErrUnavailable = fault.New(fault.Unavailable, "venue_unavailable", "the market's venue cannot be reached")
)

// Market is one market as its venue shows it. Nil and empty members are
// unknown or do not apply.
type Market struct {
	ID          string // as our API spells it
	Question    string
	Description string
	EndDate     *time.Time // UTC, whole seconds
	Status      string     // open, closed, resolved or unknown
	Settled     bool       // only with resolved
	Provisional bool       // trading over or an outcome put forward, but not final
	Disputed    bool       // the proposed outcome is challenged; implies Provisional
	Outcome     string     // YES, NO or INVALID, only with resolved; else empty
	Payout      *string    // decimal text: what one YES share pays, with an outcome
	YesBps      *int
	Volume      *float64
	Volume24h   *float64
	Liquidity   *float64
	VolumeUnit  string // usd, contracts or mana
	ClobTokenID string // the first token, whatever its label
	Outcomes    [2]string
	Lane        string   // tags first, else words of the question
	VenueLane   string   // by the venue's tags alone
	Category    string   // category of the program clock
	Tags        []string // the venue's own topic words
	Slug        string
	EventKey    string
	EventTitle  string
	ConditionID string
	ProofURL    string
	ImageURL    string
	// ClosedAt is when trading ended, by the venue, in milliseconds: the earliest that is not
	// in the future of Kalshi's close_time and settlement_ts, Manifold's closeTime and
	// resolutionTime, Polymarket's closedTime, Limitless' expirationTimestamp. It is nil while
	// the market is open, and when the venue gives no time or one without a time of day.
	ClosedAt  *time.Time
	YesIndex  int           // which outcome counts as YES
	FetchedAt time.Time     // when the venue was asked
	Quote     *market.Quote // of an open market; nil: the answer has no quote
	// Creator is the id of the user who created a market of Manifold. It is not the user's
	// name, because that can be changed and then taken by another user.
	Creator string
	// Short: the answer leaves out what fuller ones say (description, topics, the
	// name of the group), so what is empty here may yet exist.
	Short bool
}

// The words of Market.Status.
const (
	Open     = string(syntax.MarketOpen)
	Closed   = string(syntax.MarketClosed)
	Resolved = string(syntax.MarketResolved)
	Unknown  = string(syntax.MarketUnknown)
)

// Point is one price of a history: Unix seconds and the YES probability, 0 to 1
// with at most four decimals.
type Point struct {
	T int64
	P float64
}

// Interval is a stretch of price history.
type Interval string

// The intervals of the API.
const (
	Hour Interval = "1H"
	Day  Interval = "24H"
	Week Interval = "7D"
	All  Interval = "ALL"
)

// ParseInterval reads an interval exactly.
func ParseInterval(s string) (Interval, bool) {
	switch i := Interval(s); i {
	case Hour, Day, Week, All:
		return i, true
	}
	return "", false
}

// Venue reads the markets of one provider.
type Venue interface {
	// Provider is the provider's word in our API.
	Provider() string
	// Get reads one market whatever its state, with its quote when it is open. Faults:
	// ErrNotFound, ErrUnavailable.
	Get(ctx context.Context, id string) (Market, error)
	// List reads one page of open markets. The first cursor is empty; next is
	// empty after the last page, and every walk along it ends. Fault: ErrUnavailable.
	List(ctx context.Context, cursor string) (page []Market, next string, err error)
	// Quote reads many markets in few requests, with the quotes of those that are open. A
	// market that is closed, proposed or resolved is returned as such where the same answers
	// show it, and left out where the venue lists open markets only. A market that is left
	// out must be read with Get. Fault: ErrUnavailable.
	Quote(ctx context.Context, ids []string) ([]Market, error)
	// History reads the YES prices of a market, rising in time, one per moment.
	// Of m only ClobTokenID is needed; YesIndex and ClosedAt make the answer
	// right for odd and finished markets. No data is an empty list. Fault:
	// ErrUnavailable.
	History(ctx context.Context, m Market, interval Interval) ([]Point, error)
}
