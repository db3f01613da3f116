package limitless

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// Bounds on what one record may carry into the catalogue.
const (
	maxQuestion    = 500
	maxDescription = 20_000
	maxWord        = 200
	maxTags        = 24
	maxToken       = 80 // digits
	hexAddress     = 40
	hexHash        = 64
)

// object is a market record. Its number and its twins in millionths are not
// decoded: the slug is the public key, and amounts have a readable form.
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

var (
	errRecord = errors.New("the record has no slug of a form that can be kept, no title, or no state")
	errNone   = errors.New("no record in it")
)

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

// isSlug accepts what can be a key of the venue and stand in a path. An address
// names a market too, which would give it a second spelling; the other words
// are lists of the venue at the place of a slug.
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

// isHex accepts 0x and that many digits.
func isHex(s string, length int) bool {
	digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
	return ok && len(digits) == length && strings.Trim(digits, "0123456789abcdef") == ""
}

// key is the slug of one of our ids; ok is false for an id that cannot be a
// market here.
func key(id string) (slug string, ok bool) {
	parsed, err := syntax.ParseMarketID(id)
	if err != nil || parsed.Provider() != syntax.Limitless {
		return "", false
	}
	return parsed.NativeKey(), isSlug(parsed.NativeKey())
}

// group tells a parent of several markets, which has no outcome of its own.
func (o *object) group() bool {
	return normal(o.MarketType) == "group" || normal(o.TradeType) == "group" || len(o.Markets) > 0
}

// orderBook tells a market with an order book from one with a pool.
func (o *object) orderBook() bool { return normal(o.TradeType) == "clob" }

// token is the YES token of an order-book market.
func (o *object) token() string {
	t := string(o.Tokens.Yes)
	if t == "" || len(t) > maxToken || strings.Trim(t, "0123456789") != "" {
		return ""
	}
	return t
}

// words are the topic words of a record.
func (o *object) words() []string {
	var out []string
	add := func(t wire.Text) {
		if word := wire.Plain(string(t), maxWord); word != "" && len(out) < maxTags {
			out = append(out, word)
		}
	}
	for _, t := range o.Categories {
		add(t)
	}
	for _, p := range o.Properties {
		add(p.Value)
	}
	for _, t := range o.Tags {
		add(t)
	}
	return out
}

// image is the picture's address, if it can be shown.
func (o *object) image() string {
	u, err := url.Parse(string(o.Image))
	if err != nil || u.Scheme != "https" || u.Host == "" || len(o.Image) > maxQuestion {
		return ""
	}
	return u.String()
}

func normal(word wire.Text) string { return strings.ToLower(strings.TrimSpace(string(word))) }
