package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// Market is the record of one market.
type Market struct {
	ID               syntax.MarketID
	Provider         syntax.Provider
	Title            string
	Description      string    // empty: none
	EndDate          time.Time // zero: none
	Status           syntax.MarketStatus
	Provisional      bool // the venue shows a result, or trading is over, and nothing is final
	Disputed         bool // the outcome, or that there is one, is under review
	ResolutionValue  *string
	ClosePrice       *int32 // bps of YES at the close; nil: none, or not resolved
	Yes              *int32 // bps
	Volume           *float64
	VolumeUnit       string // of Volume; that of the USD members is USD
	VolumeUSD        *float64
	Volume24h        *float64 // USD
	Liquidity        *float64
	ClobTokenID      string // empty: none
	Slug             string // at its venue; empty: none
	EventKey         string // empty: none
	URL              string // at its venue; empty: none
	Lane             syntax.Lane
	Category         string   // key of its lane in the programme
	Outcomes         []string // two labels; empty: Yes and No
	UpdatedAt        time.Time
	CreatedAt        time.Time
	ResolvesBy       time.Time // native; zero: none
	ResolutionSource *string   // native
	SignalsYes       int64
	SignalsNo        int64
	Takes            int64
	Streams          int32 // live ones, as the ledger last heard
	Rated            bool  // calls on it count
}

// Sizes of the list of airable markets.
const (
	DefaultAirable = 100
	MaxAirable     = 400
)

// ErrNotFound refuses a write about a market that nobody knows.
var ErrNotFound = fault.New(fault.NotFound, "market_not_found", "no such market")

// ErrUnknown is the answer for a market that nobody knows.
var ErrUnknown = fault.New(fault.NotFound, "not_found", "")

// Ledger is the owner of markets.
type Ledger interface {
	// Market faults with market_not_found.
	Market(ctx context.Context, id syntax.MarketID) (Market, error)
	// Airable lists open markets that have a price and end more than ten minutes
	// ahead, the soonest first; an empty lane is every lane.
	Airable(ctx context.Context, lane syntax.Lane, limit int) ([]Market, error)
	// Create makes a native market.
	Create(ctx context.Context, d Draft) (Market, error)
	// SetRated sets whether calls on a market count. Faults: market_not_found, already_resolved.
	SetRated(ctx context.Context, id syntax.MarketID, rated bool, reason string) (Market, error)
}
