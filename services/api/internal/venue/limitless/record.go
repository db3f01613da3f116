package limitless

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

const (
	maxToken   = 80 // digits
	hexAddress = 40
	hexHash    = 64
)

// object is the JSON record of a market or a group. Its numeric id is not decoded, because the slug is the public key.
// Amounts are read from their decimal form, not from the form in millionths.
type object struct {
	Slug        loosejson.Text    `json:"slug"`
	Title       loosejson.Text    `json:"title"`
	Description loosejson.Text    `json:"description"`
	Status      loosejson.Text    `json:"status"`
	Expired     *bool             `json:"expired"`
	Expiration  loosejson.Instant `json:"expirationTimestamp"`
	TradeType   loosejson.Text    `json:"tradeType"`
	MarketType  loosejson.Text    `json:"marketType"`
	Prices      loosejson.List    `json:"prices"`
	TradePrices struct {
		Buy struct {
			Market loosejson.List `json:"market"` // prices at which a market order buys YES and NO
		} `json:"buy"`
	} `json:"tradePrices"`
	Tokens struct {
		Yes loosejson.Text `json:"yes"`
	} `json:"tokens"`
	ConditionID loosejson.Text    `json:"conditionId"`
	Volume      loosejson.Decimal `json:"volumeFormatted"`
	Liquidity   loosejson.Decimal `json:"liquidityFormatted"`
	Winner      loosejson.Decimal `json:"winningOutcomeIndex"` // 0 is YES; empty without a winner
	Payouts     loosejson.List    `json:"payoutNumerators"`
	Tx          loosejson.Text    `json:"resolutionTxHash"`
	Image       loosejson.Text    `json:"imageUrl"`
	Categories  []loosejson.Text  `json:"categories"`
	Tags        []loosejson.Text  `json:"tags"`
	Properties  []struct {
		Value loosejson.Text `json:"value"`
	} `json:"properties"`
	Markets []json.RawMessage `json:"markets"`
}

var errRecord = errors.New("the record has no valid slug, no title or no status")

// decode parses the record of a market or a group. It returns errRecord if slug, title or status is missing or invalid.
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

// isSlug reports whether s has the form of a slug and is safe in a URL path. It rejects words that name lists in the API. It
// also rejects addresses: the venue also finds a market by its address, which would give the market a second id.
func isSlug(s string) bool {
	if _, err := protocol.NewMarketID(protocol.Limitless, s); err != nil {
		return false
	}
	lower := strings.ToLower(s)
	switch lower {
	case "active", "search", "categories":
		return false
	}
	return !isHex(lower, hexAddress)
}

// isHex reports whether s is "0x" followed by length hexadecimal digits.
func isHex(s string, length int) bool {
	digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
	return ok && len(digits) == length && strings.Trim(digits, "0123456789abcdef") == ""
}

// key returns the slug of a market id. ok is false if the id belongs to another venue or the slug has an invalid form.
func key(id protocol.MarketID) (slug string, ok bool) {
	slug, ok = venue.NativeKey(protocol.Limitless, id)
	return slug, ok && isSlug(slug)
}

// unusable returns "group" for a group of several markets, because a group has no outcome. It returns "" for other records.
func (o *object) unusable() string {
	if o.MarketType.Normal() == "group" || o.TradeType.Normal() == "group" || len(o.Markets) > 0 {
		return "group"
	}
	return ""
}

// orderBook reports whether a market trades in an order book. Other markets trade in a pool.
func (o *object) orderBook() bool { return o.TradeType.Normal() == "clob" }

// token returns the YES token of an order-book market, or "" if its form is invalid.
func (o *object) token() string {
	t := string(o.Tokens.Yes)
	if t == "" || len(t) > maxToken || strings.Trim(t, "0123456789") != "" {
		return ""
	}
	return t
}

// words returns the topic words of a record: its categories, the values of its properties, and its tags.
func (o *object) words() []string {
	out := loosejson.AppendWords(nil, o.Categories...)
	for _, p := range o.Properties {
		out = loosejson.AppendWords(out, p.Value)
	}
	return loosejson.AppendWords(out, o.Tags...)
}
