package polymarket

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// Bounds on what one record may carry into the catalogue.
const (
	maxID          = 20 // digits
	maxQuestion    = 500
	maxDescription = 20_000
	maxWord        = 200
	maxTags        = 24
	maxToken       = 80 // digits
)

// object is a metadata record. Pointers tell false from missing.
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
	if !digits(o.ID, maxID) || strings.TrimSpace(o.Question) == "" || o.Closed == nil {
		return o, errRecord
	}
	return o, nil
}

func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// on reads a flag whose absence means no.
func on(flag *bool) bool { return flag != nil && *flag }

// words are the topic words of a record, the market's own before its event's.
func (o *object) words() []string {
	var out []string
	add := func(list []tag) {
		for _, t := range list {
			if word := wire.Plain(string(t.Slug), maxWord); word != "" && len(out) < maxTags {
				out = append(out, word)
			}
		}
	}
	add(o.Tags)
	for _, e := range o.Events[:min(len(o.Events), 1)] {
		add(e.Tags)
	}
	if word := wire.Plain(string(o.Category), maxWord); word != "" && len(out) < maxTags {
		out = append(out, word)
	}
	return out
}

// yesIndex is the place of the label yes in any case, else 0.
func yesIndex(outcomes []string) int {
	for i, o := range outcomes {
		if strings.EqualFold(strings.TrimSpace(o), "yes") {
			return i
		}
	}
	return 0
}
