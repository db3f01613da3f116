package market

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// Default and maximum number of markets in the list of markets that can be aired.
const (
	DefaultAirable = 100
	MaxAirable     = 400
)

// ErrNotFound is the error of a write that refers to an unknown market.
var ErrNotFound = apperr.New(apperr.NotFound, "market_not_found", "no such market")

// ErrUnknown is the error of a read of an unknown market.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "there is no market with this id")

// Sides returns the names of the two sides of a market, Yes and No unless its venue has other names.
func Sides(m *marketv1.Market) (yes, no string) {
	if names := m.GetOutcomes(); len(names) == 2 {
		return names[0], names[1]
	}
	return "Yes", "No"
}

// Labels returns the names of the two sides of a market. It returns nil if they are Yes and No.
func Labels(m *marketv1.Market) []string {
	if yes, no := Sides(m); !strings.EqualFold(yes, "yes") || !strings.EqualFold(no, "no") {
		return []string{yes, no}
	}
	return nil
}

// Maximum and default numbers of markets on a page. DefaultResolved applies to lists of resolved markets.
const (
	MaxRows         = 100
	DefaultRows     = 100
	DefaultResolved = 50
)

// ProviderFilter parses the query parameter provider. It returns "" for an unknown value.
func ProviderFilter(raw string) protocol.Provider {
	p, _ := protocol.ParseProvider(raw)
	return p
}

// anyStatus is the status of a request that selects markets of every status.
const anyStatus = "any"

// StatusFilter parses the query parameter status. An unknown value selects every status.
func StatusFilter(raw string) string {
	switch s := protocol.MarketStatus(raw); s {
	case protocol.MarketOpen, protocol.MarketClosed, protocol.MarketResolved:
		return raw
	}
	return anyStatus
}

// listOrders contains the sort orders of the list of all markets, by the value of the query parameter sort.
var listOrders = map[string]string{"volume": "volume", "closes": "endDate", "newest": "newest", "calls": "calls", "move": "move"}

// ListOrder parses the query parameter sort of the list of all markets and returns the name of the order in the ledger. An
// unknown value selects the order by volume.
func ListOrder(raw string) string { return cmp.Or(listOrders[raw], listOrders["volume"]) }

// maxText is the maximum number of bytes of a search text that is sent to the ledger.
const maxText = 512

// CutText returns a search text as valid UTF-8, truncated to at most maxText bytes.
func CutText(raw string) string {
	if len(raw) > maxText {
		raw = raw[:maxText]
	}
	return strings.ToValidUTF8(raw, " ")
}

// Resolving24h is the heatmap mode that shows the markets that end within 24 hours.
const Resolving24h = "resolving24h"

// ParseMode parses the mode of a heatmap. It returns "" for an unknown mode.
func ParseMode(raw string) string {
	if raw == Resolving24h {
		return raw
	}
	return ""
}

// Default and maximum number of entries in the list of gaps. A gap is the difference between the share of YES calls and the
// price.
const (
	DefaultGaps = 20
	MaxGaps     = 100
)

// ErrMissingID is the error of a request that requires a market id and has none.
var ErrMissingID = apperr.New(apperr.Invalid, "missing_market_id", "marketId is required")

// Limits of pins and of the heatmap: characters of a text, positions, pins and tiles.
const (
	MaxPinText  = 80
	MinPosition = 1
	MaxPosition = 100 // also the position of a pin that names none
	MaxPins     = 200 // maximum number of pins in a list
	MaxTiles    = 40
)

// Pin places a market at the start of the heatmap. It can have its own label and tagline.
type Pin struct {
	MarketID  protocol.MarketID
	Label     *string
	Tagline   *string
	Position  int32 // the lowest position is first
	CreatedAt time.Time
}

// Store stores the pins of markets. Error of all methods: db_unavailable.
type Store interface {
	// Pins lists the pins by position, at most limit.
	Pins(ctx context.Context, limit int) ([]Pin, error)
	// Pin creates or replaces the pin of a market and returns it. An existing pin keeps its CreatedAt.
	Pin(ctx context.Context, p Pin) (Pin, error)
	// Unpin deletes the pin of a market. It reports whether there was one.
	Unpin(ctx context.Context, id protocol.MarketID) (bool, error)
}

// WriteError converts the error of a write. If err means that the market is unknown, it returns ErrNotFound with the market
// id. Otherwise it returns err.
func WriteError(err error, id protocol.MarketID) error {
	if apperr.Of(err).Kind == apperr.NotFound {
		return ErrNotFound.With("marketId", string(id))
	}
	return err
}

// ReadError converts the error of a read. If err means that the market is unknown, it returns ErrUnknown. Otherwise it returns
// err.
func ReadError(err error) error {
	if err != nil && apperr.Of(err).Kind == apperr.NotFound {
		return ErrUnknown
	}
	return err
}

// Labels of the sentiment of calls, and their thresholds. The sentiment is Bullish from a score of clearScore and Bearish from
// -clearScore. Between these scores it is Mixed if there are at least mixedFrom calls, else Neutral.
const (
	Bullish = "bullish"
	Bearish = "bearish"
	Mixed   = "mixed"
	Neutral = "neutral"

	clearScore = 20
	mixedFrom  = 6
)

// Score returns the weighted sentiment of calls, from -100 (all NO) to 100 (all YES). It returns 0 without calls.
func Score(m *cataloguev1.GetSentimentResponse) int {
	yes, no := m.GetWeightYes(), m.GetWeightNo()
	if yes+no <= 0 {
		return 0
	}
	// Rounding twice avoids an error: weights are inexact in binary, and 19.5 must not round to 19.
	return int(math.Round(math.Round(1e8*(yes-no)/(yes+no)) / 1e6))
}

// Label returns the sentiment label for the score and the number of calls.
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
