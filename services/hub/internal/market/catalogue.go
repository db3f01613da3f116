package market

import (
	"context"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// Sizes of pages.
const (
	MaxRows         = 100
	DefaultRows     = 100
	DefaultResolved = 50
)

// maxText is more of a text than the ledger looks at.
const maxText = 512

// Query is a search. The ledger knows the sorts and what cannot be read.
type Query struct {
	Text     string
	Provider syntax.Provider
	Lane     syntax.Lane // empty: every lane
	Closed   bool        // those that are closed or resolved; else the open ones
	Sort     string
	Limit    int
	Cursor   string
}

// CutText makes any text fit to be searched for: valid, and not longer than
// what the ledger looks at.
func CutText(raw string) string {
	if len(raw) > maxText {
		raw = raw[:maxText]
	}
	return strings.ToValidUTF8(raw, " ")
}

// Page is one page of markets.
type Page struct {
	Markets    []Market
	NextCursor string // empty: the last page
}

// Resolved is a market with its outcome.
type Resolved struct {
	ID         syntax.MarketID
	Title      string
	Outcome    string
	ResolvedAt time.Time
	ClosePrice *int32   // bps
	Volume     *float64 // USD
	Signals    int64
}

// ResolvedPage is one page of outcomes.
type ResolvedPage struct {
	Markets    []Resolved
	NextCursor string // empty: the last page
}

// Tile is one field of the heatmap: an event, or one market, and the market that
// stands for it.
type Tile struct {
	ID        string
	Label     string
	MarketID  syntax.MarketID
	Title     string // of that market
	Lane      syntax.Lane
	Markets   int32
	Volume24h float64 // USD, of all of them
	Yes       *int32  // bps
	Move      *int32  // bps in the last day
	ImageURL  string  // empty: none
	EndsAt    time.Time
	Attention int32 // 0-100
}

// Heatmap is the tiles in their order.
type Heatmap struct {
	Tiles     []Tile
	UpdatedAt time.Time
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

// Point is one price of YES: Unix seconds, and 0 to 1.
type Point struct {
	T int64
	P float64
}

// Relation is a market that belongs with another one.
type Relation struct {
	Market     Market
	Relation   string // same_event, similar, same_lane
	Similarity float64
}

// Related is a market and what belongs with it.
type Related struct {
	Active  Market
	Related []Relation
}

// Sentiment is how those who called on a market lean: the calls of operators that
// count as crowd, by side.
type Sentiment struct {
	Market                      Market
	Yes, No                     int64
	WeightYes, WeightNo         float64
	ConfidenceYes, ConfidenceNo *float64 // means; nil: nobody said
	TakesYes, TakesNo           int64
	Signals24h                  int64
	Move24h                     *int32 // bps
	UpdatedAt                   time.Time
}

// Gap is an open market on which the crowd has called.
type Gap struct {
	Market  Market
	Yes, No int64 // calls of operators that count as crowd
}

// Sizes of the list of gaps.
const (
	DefaultGaps = 20
	MaxGaps     = 100
)

// ErrMissingID: a history without a market.
var ErrMissingID = fault.New(fault.Invalid, "missing_market_id", "a market is required")

// Catalogue is the ledger's catalogue as readers look through it.
type Catalogue interface {
	// Find searches; a cursor that cannot be read starts from the beginning.
	Find(ctx context.Context, q Query) (Page, error)
	// Resolved lists the markets that have an outcome, the newest first.
	Resolved(ctx context.Context, p syntax.Provider, limit int, cursor string) (ResolvedPage, error)
	// Tiles is the heatmap of a mode. Pinned markets come first, in their order; not
	// in the mode of those that end soon.
	Tiles(ctx context.Context, mode string, pinned []syntax.MarketID) (Heatmap, error)
	// Related faults with market_not_found.
	Related(ctx context.Context, id syntax.MarketID) (Related, error)
	// Sentiment faults with market_not_found.
	Sentiment(ctx context.Context, id syntax.MarketID) (Sentiment, error)
	// Gaps lists open markets where crowd and price differ, the widest gap first;
	// an empty id is every market.
	Gaps(ctx context.Context, id syntax.MarketID, limit int) ([]Gap, error)
	// History is the price of YES over time, by token or else by market; nobody
	// knowing them is no fault.
	History(ctx context.Context, id syntax.MarketID, token string, i Interval) ([]Point, error)
}
