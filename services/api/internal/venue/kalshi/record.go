package kalshi

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// object is the JSON record of a market. The venue no longer uses the members in whole cents: it sends 0 or omits them. A
// price in cents is used only if the same price in dollars is missing.
type object struct {
	Ticker     loosejson.Text    `json:"ticker"`
	Event      loosejson.Text    `json:"event_ticker"`
	Title      loosejson.Text    `json:"title"`
	YesTitle   loosejson.Text    `json:"yes_sub_title"`
	NoTitle    loosejson.Text    `json:"no_sub_title"`
	Rules      loosejson.Text    `json:"rules_primary"`
	MoreRules  loosejson.Text    `json:"rules_secondary"`
	Status     loosejson.Text    `json:"status"`
	Result     loosejson.Text    `json:"result"`
	Settlement loosejson.Decimal `json:"settlement_value_dollars"`
	Bid        loosejson.Decimal `json:"yes_bid_dollars"`
	Ask        loosejson.Decimal `json:"yes_ask_dollars"`
	NoBid      loosejson.Decimal `json:"no_bid_dollars"`
	NoAsk      loosejson.Decimal `json:"no_ask_dollars"`
	BidCents   loosejson.Decimal `json:"yes_bid"`
	AskCents   loosejson.Decimal `json:"yes_ask"`
	NoBidCents loosejson.Decimal `json:"no_bid"`
	NoAskCents loosejson.Decimal `json:"no_ask"`
	Last       loosejson.Decimal `json:"last_price_dollars"`
	Volume     loosejson.Decimal `json:"volume_fp"`
	Volume24h  loosejson.Decimal `json:"volume_24h_fp"`
	CloseTime  loosejson.Instant `json:"close_time"`
	SettledAt  loosejson.Instant `json:"settlement_ts"`
	Collection loosejson.Text    `json:"mve_collection_ticker"`
}

var errRecord = errors.New("the record has no valid ticker or no status")

// decode parses a market record. It returns errRecord if the ticker is invalid or the status is missing.
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

// isTicker reports whether s has the form of a ticker and is safe in a URL path. A ticker must be in upper case, so that a
// market has one spelling only and no ticker equals a path of the API.
func isTicker(s string) bool {
	_, err := protocol.NewMarketID(protocol.Kalshi, s)
	return err == nil && strings.ToUpper(s) == s
}

// key returns the ticker of a market id. ok is false if the id belongs to another venue or the ticker has an invalid form.
func key(id protocol.MarketID) (ticker string, ok bool) {
	ticker, ok = venue.NativeKey(protocol.Kalshi, id)
	return ticker, ok && isTicker(ticker)
}

// unusable returns "combination" for a record that combines several markets, because no call is possible on it. It returns
// "" for other records.
func (o *object) unusable() string {
	if o.Collection != "" || strings.HasPrefix(string(o.Ticker), "KXMVE") {
		return "combination"
	}
	return ""
}

// question returns the title of a market, or else of its event. If the title does not contain the name of the outcome
// (yes_sub_title), the name is appended, because the markets of an event can have the same title.
func (o *object) question(eventTitle string) string {
	title, sub := loosejson.Plain(string(o.Title), loosejson.MaxTitle), loosejson.Plain(string(o.YesTitle), loosejson.MaxWord)
	if title == "" {
		title = eventTitle
	}
	switch {
	case title == "":
		return sub
	case sub == "" || strings.Contains(strings.ToLower(title), strings.ToLower(sub)):
		return title
	}
	return loosejson.Plain(title+" – "+sub, loosejson.MaxTitle)
}

// sides returns the names of the two sides: yes_sub_title and no_sub_title. They are Yes and No if one is missing or if both are
// equal, because the name then belongs to the market and not to a side.
func (o *object) sides() []string {
	yes, no := loosejson.Plain(string(o.YesTitle), loosejson.MaxWord), loosejson.Plain(string(o.NoTitle), loosejson.MaxWord)
	if yes == "" || no == "" || strings.EqualFold(yes, no) {
		return []string{"Yes", "No"}
	}
	return []string{yes, no}
}

// description returns the rules of the market as plain text.
func (o *object) description() string {
	return loosejson.Plain(strings.TrimSpace(string(o.Rules)+"\n\n"+string(o.MoreRules)), loosejson.MaxDescription)
}
