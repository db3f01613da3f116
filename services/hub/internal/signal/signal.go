package signal

import (
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// Signal is a call as it was filed, with its result once there is one.
type Signal struct {
	ID               string
	PublicID         syntax.PublicID
	ProviderID       string // raw; shown by the market ledger alone
	Handle           string // empty: none
	MarketID         syntax.MarketID
	MarketTitle      string
	Direction        syntax.Side
	Price            syntax.Bps // of the side called
	CrowdYes         *int32
	Confidence       *int32
	TextTake         *string
	Status           syntax.SignalStatus
	Score            *int32
	CreatedAt        time.Time
	ResolvedAt       time.Time // zero: pending
	TimeToResolution *int32
	Source           *string
	Outcome          *string
	ClosePrice       *int32
	Clv              *int32
	LiveYes          *int32 // feed of open calls only
	Move             *int32 // feed of open calls only

	ScoreBasis    syntax.Bps // scoring price: of the result once there is one, else of the filing
	PriceVerified bool       // the ledger had a fresh quote at the call
	Rated         bool       // the market was rated at the call
	Counted       *bool      // the call is part of points; nil while pending
	MarketYes     *int32     // the ledger's YES price at the call
	ClosesAt      time.Time  // the ledger's end date of the market at the call; zero: none
	QuoteAt       time.Time  // of the quote at filing, by the venue's clock; zero: none
	ConfirmedAt   time.Time  // of the second quote; zero: none
	Reason        string     // late or unknown_market, of a void; else empty
	Unconfirmed   bool       // no venue has confirmed the market: not public
}

// Ledger is a page of a market's signals; the counts are totals.
type Ledger struct {
	Yes, No    int64
	Signals    []Signal // newest first
	NextCursor string   // empty: the end
}

// Crowd is what operators that count as crowd said about a market.
type Crowd struct {
	Yes, No   int64
	Top       *Top
	Own       *Signal // the caller's own call
	UpdatedAt time.Time
}

// Top is the consensus of the best forecasters.
type Top struct {
	YesPercent int32
	Sample     int32
}

// FeedType selects a feed.
type FeedType string

// The feeds.
const (
	FeedRecent    FeedType = "recent"
	FeedBeatCrowd FeedType = "beat_crowd"
	FeedOpen      FeedType = "open"
)

// Feed limits.
const (
	FeedDefault = 20
	FeedMax     = 50
)

// ParseFeedType reads a `type` query parameter; anything unknown is recent.
func ParseFeedType(raw string) FeedType {
	switch t := FeedType(raw); t {
	case FeedBeatCrowd, FeedOpen:
		return t
	}
	return FeedRecent
}

// ErrUnknown is the answer for a signal that is not there.
var ErrUnknown = fault.New(fault.NotFound, "not_found", "")
