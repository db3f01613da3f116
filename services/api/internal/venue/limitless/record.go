package limitless

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	maxToken   = 80 // digits
	hexAddress = 40
	hexHash    = 64
)

// object is a market record. Its number is not decoded, because the slug is the public key. Amounts are read from their decimal
// form, not from the one in millionths.
type object struct {
	Slug        wire.Text    `json:"slug"`
	Title       wire.Text    `json:"title"`
	Description wire.Text    `json:"description"`
	Status      wire.Text    `json:"status"`
	Expired     *bool        `json:"expired"`
	Expiration  wire.Instant `json:"expirationTimestamp"`
	TradeType   wire.Text    `json:"tradeType"`
	MarketType  wire.Text    `json:"marketType"`
	Prices      wire.List    `json:"prices"`
	TradePrices struct {
		Buy struct {
			Market wire.List `json:"market"` // what YES and NO cost now
		} `json:"buy"`
	} `json:"tradePrices"`
	Tokens struct {
		Yes wire.Text `json:"yes"`
	} `json:"tokens"`
	ConditionID wire.Text    `json:"conditionId"`
	Volume      wire.Decimal `json:"volumeFormatted"`
	Liquidity   wire.Decimal `json:"liquidityFormatted"`
	Winner      wire.Decimal `json:"winningOutcomeIndex"` // 0 is YES, empty is none
	Payouts     wire.List    `json:"payoutNumerators"`
	Tx          wire.Text    `json:"resolutionTxHash"`
	Image       wire.Text    `json:"imageUrl"`
	Categories  []wire.Text  `json:"categories"`
	Tags        []wire.Text  `json:"tags"`
	Properties  []struct {
		Value wire.Text `json:"value"`
	} `json:"properties"`
	Markets []json.RawMessage `json:"markets"`
}

var errRecord = errors.New("the record has no slug of a valid form, no title, or no state")

// decode reads a market or a group.
func decode(raw json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	if !isSlug(string(o.Slug)) || strings.TrimSpace(string(o.Title)) == "" || strings.TrimSpace(string(o.Status)) == "" {
		return o, errRecord
	}
	return o, nil
}

// isSlug reports whether s is a key of the venue that is safe in a path. It refuses the words that name lists in the venue's
// paths. It also refuses an address: the venue finds a market by its address too, which would give the market a second id.
func isSlug(s string) bool {
	if _, err := syntax.NewMarketID(syntax.Limitless, s); err != nil {
		return false
	}
	lower := strings.ToLower(s)
	switch lower {
	case "active", "search", "categories":
		return false
	}
	return !isHex(lower, hexAddress)
}

// isHex reports whether s is 0x and length hexadecimal digits.
func isHex(s string, length int) bool {
	digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
	return ok && len(digits) == length && strings.Trim(digits, "0123456789abcdef") == ""
}

// key returns the slug of a market id; ok is false if the id cannot be a market of Limitless.
func key(id syntax.MarketID) (slug string, ok bool) {
	slug, ok = venue.NativeKey(syntax.Limitless, id)
	return slug, ok && isSlug(slug)
}

// unusable returns "group" for a group of several markets, which has no outcome, and "" for other records.
func (o *object) unusable() string {
	if o.MarketType.Normal() == "group" || o.TradeType.Normal() == "group" || len(o.Markets) > 0 {
		return "group"
	}
	return ""
}

// orderBook reports whether a market has an order book; the others have a pool.
func (o *object) orderBook() bool { return o.TradeType.Normal() == "clob" }

// token returns the YES token of an order-book market; empty: none of a valid form.
func (o *object) token() string {
	t := string(o.Tokens.Yes)
	if t == "" || len(t) > maxToken || strings.Trim(t, "0123456789") != "" {
		return ""
	}
	return t
}

// words returns the topic words of a record.
func (o *object) words() []string {
	out := wire.AppendWords(nil, o.Categories...)
	for _, p := range o.Properties {
		out = wire.AppendWords(out, p.Value)
	}
	return wire.AppendWords(out, o.Tags...)
}
