package polymarket

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	maxID    = 20 // digits
	maxToken = 80 // digits
)

// object is a metadata record. A nil pointer is a missing flag, which is not false.
type object struct {
	ID            string       `json:"id"`
	Question      string       `json:"question"`
	Description   wire.Text    `json:"description"`
	ConditionID   wire.Text    `json:"conditionId"`
	Slug          wire.Text    `json:"slug"`
	Image         wire.Text    `json:"image"`
	Category      wire.Text    `json:"category"`
	EndDate       wire.Instant `json:"endDate"`
	ClosedTime    wire.Instant `json:"closedTime"`
	Outcomes      wire.List    `json:"outcomes"`
	OutcomePrices wire.List    `json:"outcomePrices"`
	ClobTokenIDs  wire.List    `json:"clobTokenIds"`
	UMA           wire.Text    `json:"umaResolutionStatus"`
	Closed        *bool        `json:"closed"`
	Archived      *bool        `json:"archived"`
	Accepting     *bool        `json:"acceptingOrders"`
	BookOn        *bool        `json:"enableOrderBook"`
	BestBid       wire.Decimal `json:"bestBid"`
	BestAsk       wire.Decimal `json:"bestAsk"`
	LastTrade     wire.Decimal `json:"lastTradePrice"`
	Volume        wire.Decimal `json:"volume"`
	VolumeNum     wire.Decimal `json:"volumeNum"`
	Volume24hr    wire.Decimal `json:"volume24hr"`
	Liquidity     wire.Decimal `json:"liquidity"`
	LiquidityNum  wire.Decimal `json:"liquidityNum"`
	Events        []struct {
		Slug  wire.Text `json:"slug"`
		Title wire.Text `json:"title"`
		Tags  []tag     `json:"tags"`
	} `json:"events"`
	Tags []tag `json:"tags"`
}

type tag struct {
	Slug wire.Text `json:"slug"`
}

var errRecord = errors.New("the record has no number, question or state")

func decode(raw json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	if _, err := syntax.NewMarketID(syntax.Polymarket, o.ID); err != nil || strings.TrimSpace(o.Question) == "" || o.Closed == nil {
		return o, errRecord
	}
	return o, nil
}

func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// on returns a flag; one that is missing is false.
func on(flag *bool) bool { return flag != nil && *flag }

// words returns the topic words of a record, those of the market before those of its event.
func (o *object) words() []string {
	var out []string
	add := func(list []tag) {
		for _, t := range list {
			out = wire.AppendWords(out, t.Slug)
		}
	}
	add(o.Tags)
	for _, e := range o.Events[:min(len(o.Events), 1)] {
		add(e.Tags)
	}
	return wire.AppendWords(out, o.Category)
}

// unusable returns "not_two_outcomes" for a market on which no YES or NO call can be made, and "" for others.
func (o *object) unusable() string {
	if len(o.Outcomes) != 2 {
		return "not_two_outcomes"
	}
	return ""
}

// yesIndex returns the index of the label "yes", in upper or lower case; 0 if no outcome has it.
func yesIndex(outcomes []string) int {
	for i, o := range outcomes {
		if strings.EqualFold(strings.TrimSpace(o), "yes") {
			return i
		}
	}
	return 0
}
