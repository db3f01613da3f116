package kalshi

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// object is a market record. The venue has retired the members in whole cents and sends 0 or leaves them out. A price in cents
// counts only if the same price in dollars is missing.
type object struct {
	Ticker     wire.Text    `json:"ticker"`
	Event      wire.Text    `json:"event_ticker"`
	Title      wire.Text    `json:"title"`
	YesTitle   wire.Text    `json:"yes_sub_title"`
	Rules      wire.Text    `json:"rules_primary"`
	MoreRules  wire.Text    `json:"rules_secondary"`
	Status     wire.Text    `json:"status"`
	Result     wire.Text    `json:"result"`
	Settlement wire.Decimal `json:"settlement_value_dollars"`
	Bid        wire.Decimal `json:"yes_bid_dollars"`
	Ask        wire.Decimal `json:"yes_ask_dollars"`
	NoBid      wire.Decimal `json:"no_bid_dollars"`
	NoAsk      wire.Decimal `json:"no_ask_dollars"`
	BidCents   wire.Decimal `json:"yes_bid"`
	AskCents   wire.Decimal `json:"yes_ask"`
	NoBidCents wire.Decimal `json:"no_bid"`
	NoAskCents wire.Decimal `json:"no_ask"`
	Last       wire.Decimal `json:"last_price_dollars"`
	Volume     wire.Decimal `json:"volume_fp"`
	Volume24h  wire.Decimal `json:"volume_24h_fp"`
	CloseTime  wire.Instant `json:"close_time"`
	SettledAt  wire.Instant `json:"settlement_ts"`
	Collection wire.Text    `json:"mve_collection_ticker"`
}

var errRecord = errors.New("the record has no valid ticker, or no state")

// decode reads a market record.
func decode(raw json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	if !isTicker(string(o.Ticker)) || strings.TrimSpace(string(o.Status)) == "" {
		return o, errRecord
	}
	return o, nil
}

// isTicker reports whether s is a key of the venue that is safe in a path. It must be in upper case: a market then has one
// spelling only, and no ticker equals a word of the venue's paths.
func isTicker(s string) bool {
	_, err := syntax.NewMarketID(syntax.Kalshi, s)
	return err == nil && strings.ToUpper(s) == s
}

// key returns the ticker of a market id; ok is false if the id cannot be a market of Kalshi.
func key(id syntax.MarketID) (ticker string, ok bool) {
	ticker, ok = venue.NativeKey(syntax.Kalshi, id)
	return ticker, ok && isTicker(ticker)
}

// unusable returns "combination" for a record that combines several markets, because such a record takes no calls. It returns ""
// for other records.
func (o *object) unusable() string {
	if o.Collection != "" || strings.HasPrefix(string(o.Ticker), "KXMVE") {
		return "combination"
	}
	return ""
}

// question returns the title. It appends the name of the candidate if the title does not have it, because the markets of an event
// can have the same title.
func (o *object) question(eventTitle string) string {
	title, sub := wire.Plain(string(o.Title), wire.MaxTitle), wire.Plain(string(o.YesTitle), wire.MaxWord)
	if title == "" {
		title = eventTitle
	}
	switch {
	case title == "":
		return sub
	case sub == "" || strings.Contains(strings.ToLower(title), strings.ToLower(sub)):
		return title
	}
	return wire.Plain(title+" – "+sub, wire.MaxTitle)
}

// description returns the rules of the market.
func (o *object) description() string {
	return wire.Plain(strings.TrimSpace(string(o.Rules)+"\n\n"+string(o.MoreRules)), wire.MaxDescription)
}
