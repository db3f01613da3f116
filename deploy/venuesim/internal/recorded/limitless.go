package recorded

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/limitless"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

type limitlessMarket struct {
	Slug        string            `json:"slug"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Status      string            `json:"status"`
	Expired     bool              `json:"expired"`
	Expiration  json.Number       `json:"expirationTimestamp"`
	CreatedAt   string            `json:"createdAt"`
	UpdatedAt   string            `json:"updatedAt"`
	TradeType   string            `json:"tradeType"`
	MarketType  string            `json:"marketType"`
	Volume      string            `json:"volumeFormatted"`
	Liquidity   string            `json:"liquidityFormatted"`
	ConditionID string            `json:"conditionId"`
	Winner      *int              `json:"winningOutcomeIndex"`
	Payouts     []string          `json:"payoutNumerators"`
	Prices      []json.Number     `json:"prices"`
	Categories  []string          `json:"categories"`
	Markets     []json.RawMessage `json:"markets"`
	Tokens      struct {
		Yes string `json:"yes"`
		No  string `json:"no"`
	} `json:"tokens"`
}

func takeLimitless(w *Wire, raw []byte) bool {
	var box struct {
		Data []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &box) != nil {
		return false
	}
	if box.Data == nil {
		box.Data = []json.RawMessage{raw}
	}
	taken := false
	for _, r := range box.Data {
		taken = addLimitless(w, r, world.Event{}) || taken
	}
	return taken
}

func addLimitless(w *Wire, raw json.RawMessage, e world.Event) bool {
	var o limitlessMarket
	if json.Unmarshal(raw, &o) != nil || o.Slug == "" || o.TradeType == "" || limitless.Rules.Words[o.Status] == "" {
		return false
	}
	if len(o.Markets) > 0 {
		taken := false
		told := world.Event{ID: o.Slug, Slug: o.Slug, Title: o.Title, Group: true, Raw: raw}
		for _, child := range o.Markets {
			taken = addLimitless(w, child, told) || taken
		}
		return taken
	}
	m := world.Market{
		Key: o.Slug, Slug: o.Slug, Question: o.Title, Description: o.Description, State: limitless.Rules.Words[o.Status], Word: o.Status, Kind: o.TradeType,
		Start: instant(o.CreatedAt), End: millis(o.Expiration), Volume: amount(o.Volume), Liquidity: amount(o.Liquidity),
		ConditionID: o.ConditionID, Price: limitlessPrice(o.Prices), Raw: raw,
	}
	// What a market without a condition of its own lacks is not invented.
	if m.ConditionID == "" {
		m.ConditionID = "0x" + strings.Repeat("0", 64)
	}
	m.QuestionID, m.Tokens = m.ConditionID, []string{}
	if o.Tokens.Yes != "" {
		m.Tokens = []string{o.Tokens.Yes, o.Tokens.No}
	}
	for _, c := range o.Categories {
		m.Tags = append(m.Tags, world.Tag{Label: c, Slug: world.Slug(c, 40)})
	}
	if m.State == world.Open && o.Expired {
		m.State = world.Closed
	}
	if m.State != world.Open {
		m.ChangedAt = m.End
	}
	switch {
	case m.State != world.Resolved:
	case o.Winner == nil && len(o.Payouts) == 2 && o.Payouts[0] == o.Payouts[1]:
		m.Verdict = world.Invalid
	case o.Winner == nil:
		m.Form = limitless.FormNone
	case *o.Winner == 0:
		m.Verdict = world.Yes
	default:
		m.Verdict = world.No
	}
	if e.Slug == "" {
		e = world.Event{ID: o.Slug, Slug: o.Slug, Title: o.Title}
	}
	w.add(m, e)
	return true
}

// limitlessPrice reads either scale.
func limitlessPrice(prices []json.Number) world.Micros {
	if len(prices) != 2 || slices.Contains(prices, "") {
		return 0
	}
	yes, no := amount(string(prices[0])), amount(string(prices[1]))
	if yes+no > 1.5 {
		yes /= 100
	}
	p, err := world.FromFloat(min(yes, 1))
	if err != nil {
		return 0
	}
	return p
}
