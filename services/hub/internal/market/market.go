package market

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// Sizes of the list of airable markets.
const (
	DefaultAirable = 100
	MaxAirable     = 400
)

// ErrNotFound is the error of a write about an unknown market.
var ErrNotFound = apperr.New(apperr.NotFound, "market_not_found", "no such market")

// ErrUnknown is the error of a read of an unknown market.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "")

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

// Sizes of the list of gaps.
const (
	DefaultGaps = 20
	MaxGaps     = 100
)

// ErrMissingID: a history without a market.
var ErrMissingID = apperr.New(apperr.Invalid, "missing_market_id", "a market is required")

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
	MarketID  protocol.MarketID
	Label     *string
	Tagline   *string
	Position  int32 // the lowest first
	CreatedAt time.Time
}

// Store stores the pins. Error of all methods: db_unavailable.
type Store interface {
	// Pins lists the first pins in their order, limit at most.
	Pins(ctx context.Context, limit int) ([]Pin, error)
	// Pin replaces the pin of a market, except for its time of creation, and returns the stored pin.
	Pin(ctx context.Context, p Pin) (Pin, error)
	// Unpin reports whether there was a pin.
	Unpin(ctx context.Context, id protocol.MarketID) (bool, error)
}

// ErrInvalidID is the error of a write with text that cannot be a market id.
var ErrInvalidID = apperr.New(apperr.Invalid, "invalid_market_id", "marketId has no known form").With("field", "marketId")

// WriteError returns the error of a write about a market: market_not_found for an unknown one.
func WriteError(err error, id protocol.MarketID) error {
	if apperr.Of(err).Kind == apperr.NotFound {
		return ErrNotFound.With("marketId", string(id))
	}
	return err
}

// ReadError returns the error of a read of a market: not_found for an unknown one.
func ReadError(err error) error {
	if err != nil && apperr.Of(err).Kind == apperr.NotFound {
		return ErrUnknown
	}
	return err
}

// Words for how those who called lean; below mixedFrom calls there is too little
// to be mixed.
const (
	Bullish = "bullish"
	Bearish = "bearish"
	Mixed   = "mixed"
	Neutral = "neutral"

	clearScore = 20
	mixedFrom  = 6
)

// Score returns the sentiment from -100, all NO, to 100, all YES, by weight; 0 without calls.
func Score(m *cataloguev1.GetSentimentResponse) int {
	yes, no := m.GetWeightYes(), m.GetWeightNo()
	if yes+no <= 0 {
		return 0
	}
	// A weight is not exact in binary: 19.5 must not become 19.
	return int(math.Round(math.Round(1e8*(yes-no)/(yes+no)) / 1e6))
}

// Label returns the word for the score and the number of calls.
func Label(m *cataloguev1.GetSentimentResponse) string {
	switch score := Score(m); {
	case score >= clearScore:
		return Bullish
	case score <= -clearScore:
		return Bearish
	case m.GetYes()+m.GetNo() >= mixedFrom:
		return Mixed
	}
	return Neutral
}
