package kalshi

import (
	"encoding/json"
	"errors"
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
)

// object is a market record. The members in whole cents are retired: the venue sends 0 or
// leaves them out. They count only where the twin in dollars is missing.
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

var (
	errRecord = errors.New("the record has no ticker of the venue's form, or no state")
	errNone   = errors.New("no record in it")
)

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

// isTicker accepts what can be a key of the venue and stand in a path. Tickers
// are upper case: with that no ticker is one of the words that the API has in
// its place, and no market has a second spelling.
func isTicker(s string) bool {
	_, err := syntax.NewMarketID(syntax.Kalshi, s)
	return err == nil && strings.ToUpper(s) == s
}

// key is the ticker of one of our ids; ok is false for an id that cannot be a
// market here.
func key(id string) (ticker string, ok bool) {
	parsed, err := syntax.ParseMarketID(id)
	if err != nil || parsed.Provider() != syntax.Kalshi {
		return "", false
	}
	return parsed.NativeKey(), isTicker(parsed.NativeKey())
}

// combination tells a bundle of several markets, on which no call is made.
func (o *object) combination() bool {
	return o.Collection != "" || strings.HasPrefix(string(o.Ticker), "KXMVE")
}

// question is the title, with the candidate's name where only that tells the
// markets of an event apart.
func (o *object) question(eventTitle string) string {
	title, sub := wire.Plain(string(o.Title), maxQuestion), wire.Plain(string(o.YesTitle), maxWord)
	if title == "" {
		title = eventTitle
	}
	switch {
	case title == "":
		return sub
	case sub == "" || strings.Contains(strings.ToLower(title), strings.ToLower(sub)):
		return title
	}
	return wire.Plain(title+" – "+sub, maxQuestion)
}

// description is the rules.
func (o *object) description() string {
	return wire.Plain(strings.TrimSpace(string(o.Rules)+"\n\n"+string(o.MoreRules)), maxDescription)
}
