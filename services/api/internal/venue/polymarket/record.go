package polymarket

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

const (
	maxID    = 20 // digits
	maxToken = 80 // digits
)

// object is the JSON record of a market at the metadata service. A nil flag is missing, which differs from false.
type object struct {
	ID            string            `json:"id"`
	Question      string            `json:"question"`
	Description   loosejson.Text    `json:"description"`
	ConditionID   loosejson.Text    `json:"conditionId"`
	Slug          loosejson.Text    `json:"slug"`
	Image         loosejson.Text    `json:"image"`
	Category      loosejson.Text    `json:"category"`
	EndDate       loosejson.Instant `json:"endDate"`
	ClosedTime    loosejson.Instant `json:"closedTime"`
	Outcomes      loosejson.List    `json:"outcomes"`
	OutcomePrices loosejson.List    `json:"outcomePrices"`
	ClobTokenIDs  loosejson.List    `json:"clobTokenIds"`
	UMA           loosejson.Text    `json:"umaResolutionStatus"`
	Closed        *bool             `json:"closed"`
	Archived      *bool             `json:"archived"`
	Accepting     *bool             `json:"acceptingOrders"`
	BookOn        *bool             `json:"enableOrderBook"`
	BestBid       loosejson.Decimal `json:"bestBid"`
	BestAsk       loosejson.Decimal `json:"bestAsk"`
	LastTrade     loosejson.Decimal `json:"lastTradePrice"`
	Volume        loosejson.Decimal `json:"volume"`
	VolumeNum     loosejson.Decimal `json:"volumeNum"`
	Volume24hr    loosejson.Decimal `json:"volume24hr"`
	Liquidity     loosejson.Decimal `json:"liquidity"`
	LiquidityNum  loosejson.Decimal `json:"liquidityNum"`
	Events        []struct {
		Slug  loosejson.Text `json:"slug"`
		Title loosejson.Text `json:"title"`
		Tags  []tag          `json:"tags"`
	} `json:"events"`
	Tags []tag `json:"tags"`
}

type tag struct {
	Slug loosejson.Text `json:"slug"`
}

var errRecord = errors.New("the record has no numeric id, no question or no member closed")

func decode(raw json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	if _, err := protocol.NewMarketID(protocol.Polymarket, o.ID); err != nil || strings.TrimSpace(o.Question) == "" || o.Closed == nil {
		return o, errRecord
	}
	return o, nil
}

func digits(s string, limit int) bool {
	return s != "" && len(s) <= limit && strings.Trim(s, "0123456789") == ""
}

// on returns the value of a flag, and false if it is missing.
func on(flag *bool) bool { return flag != nil && *flag }

// words returns the topic words of a record: the tags of the market, the tags of its event, and its category.
func (o *object) words() []string {
	var out []string
	add := func(list []tag) {
		for _, t := range list {
			out = loosejson.AppendWords(out, t.Slug)
		}
	}
	add(o.Tags)
	for _, e := range o.Events[:min(len(o.Events), 1)] {
		add(e.Tags)
	}
	return loosejson.AppendWords(out, o.Category)
}

// unusable returns "not_two_outcomes" for a market that does not have exactly two outcomes, because no YES or NO call is
// possible on it. It returns "" for other markets.
func (o *object) unusable() string {
	if len(o.Outcomes) != 2 {
		return "not_two_outcomes"
	}
	return ""
}

// yesIndex returns the index of the outcome with the label "yes" in any case, or 0 if there is none.
func yesIndex(outcomes []string) int {
	for i, o := range outcomes {
		if strings.EqualFold(strings.TrimSpace(o), "yes") {
			return i
		}
	}
	return 0
}
