package market

import (
	"context"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// Sizes of the list of airable markets.
const (
	DefaultAirable = 100
	MaxAirable     = 400
)

// ErrNotFound is the error of a write about an unknown market.
var ErrNotFound = fault.New(fault.NotFound, "market_not_found", "no such market")

// ErrUnknown is the error of a read of an unknown market.
var ErrUnknown = fault.New(fault.NotFound, "not_found", "")

// Labels returns the names of the two sides where they say more than Yes and No; else nil.
func Labels(m *marketv1.Market) []string {
	given := m.GetOutcomes()
	if len(given) != 2 || strings.EqualFold(given[0], "yes") && strings.EqualFold(given[1], "no") {
		return nil
	}
	return given
}

// Sizes of pages.
const (
	MaxRows         = 100
	DefaultRows     = 100
	DefaultResolved = 50
)

// maxText is more of a text than the ledger looks at.
const maxText = 512

// CutText makes any text fit to be searched for: valid, and not longer than
// what the ledger looks at.
func CutText(raw string) string {
	if len(raw) > maxText {
		raw = raw[:maxText]
	}
	return strings.ToValidUTF8(raw, " ")
}

// Resolving24h is the mode of a heatmap with a tile for each market that ends
// within a day.
const Resolving24h = "resolving24h"

// ParseMode reads the mode of a heatmap; anything unknown is none.
func ParseMode(raw string) string {
	if raw == Resolving24h {
		return raw
	}
	return ""
}

// Interval is a stretch of price history.
type Interval string

// The intervals.
const (
	Hour Interval = "1H"
	Day  Interval = "24H" // the default
	Week Interval = "7D"
	All  Interval = "ALL"
)

// ParseInterval reads an interval; anything unknown is Day.
func ParseInterval(raw string) Interval {
	switch i := Interval(raw); i {
	case Hour, Week, All:
		return i
	}
	return Day
}

// Sizes of the list of gaps.
const (
	DefaultGaps = 20
	MaxGaps     = 100
)

// ErrMissingID: a history without a market.
var ErrMissingID = fault.New(fault.Invalid, "missing_market_id", "a market is required")

// Bounds of a pin.
const (
	MaxPinText  = 80
	MinPosition = 1
	MaxPosition = 100 // where a pin stands that was given no place
	MaxPins     = 200 // that are listed
	MaxTiles    = 40
)

// Pin puts a market in front of the heatmap, under words of its own where it has any.
type Pin struct {
	MarketID  syntax.MarketID
	Label     *string
	Tagline   *string
	Position  int32 // the lowest first
	CreatedAt time.Time
}

// Pins keeps the pins. Fault: db_unavailable.
type Pins interface {
	// Pins lists the first pins in their order, limit at most.
	Pins(ctx context.Context, limit int) ([]Pin, error)
	// Pin puts a pin in the place of the one before on its market, which keeps its
	// time of creation, and gives it back as it is kept.
	Pin(ctx context.Context, p Pin) (Pin, error)
	// Unpin tells whether there was a pin.
	Unpin(ctx context.Context, id syntax.MarketID) (bool, error)
}
