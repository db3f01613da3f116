package recorded

import (
	"encoding/json"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

type kalshiMarket struct {
	Ticker      string  `json:"ticker"`
	Event       string  `json:"event_ticker"`
	Title       string  `json:"title"`
	YesSubTitle string  `json:"yes_sub_title"`
	Rules       string  `json:"rules_primary"`
	Status      string  `json:"status"`
	Result      string  `json:"result"`
	Value       *string `json:"settlement_value_dollars"`
	SettledAt   string  `json:"settlement_ts"`
	OpenTime    string  `json:"open_time"`
	CloseTime   string  `json:"close_time"`
	Bid         string  `json:"yes_bid_dollars"`
	Ask         string  `json:"yes_ask_dollars"`
	Last        string  `json:"last_price_dollars"`
	Volume      string  `json:"volume_fp"`
	Volume24h   string  `json:"volume_24h_fp"`
	// The website's own names.
	TickerName string `json:"ticker_name"`
	OpenDate   string `json:"open_date"`
	CloseDate  string `json:"close_date"`
	Recent     string `json:"recent_volume_fp"`
}

type kalshiEvent struct {
	Ticker    string            `json:"event_ticker"`
	WebTicker string            `json:"ticker"`
	Series    string            `json:"series_ticker"`
	Title     string            `json:"title"`
	Category  string            `json:"category"`
	Exclusive bool              `json:"mutually_exclusive"`
	Markets   []json.RawMessage `json:"markets"`
}

func takeKalshi(w *Wire, raw []byte) bool {
	var box struct {
		Events  []kalshiEvent     `json:"events"`
		Event   *kalshiEvent      `json:"event"`
		Markets []json.RawMessage `json:"markets"`
		Market  json.RawMessage   `json:"market"`
	}
	if json.Unmarshal(raw, &box) != nil {
		return false
	}
	taken := false
	if box.Event != nil {
		box.Events = append(box.Events, *box.Event)
	}
	for _, e := range box.Events {
		told := world.Event{
			ID: e.Series, Slug: e.Ticker + e.WebTicker, Title: e.Title, NegRisk: e.Exclusive, Group: len(e.Markets) > 1,
		}
		for _, m := range e.Markets {
			taken = addKalshi(w, m, told, e.Category) || taken
		}
	}
	if box.Market != nil {
		box.Markets = append(box.Markets, box.Market)
	}
	for _, m := range box.Markets {
		taken = addKalshi(w, m, world.Event{}, "") || taken
	}
	return taken
}

// addKalshi takes one market, with the event that it came in, if it came in one.
func addKalshi(w *Wire, raw json.RawMessage, e world.Event, category string) bool {
	var o kalshiMarket
	if json.Unmarshal(raw, &o) != nil || kalshi.Rules.Words[o.Status] == "" || o.Ticker+o.TickerName == "" {
		return false
	}
	m := world.Market{
		Key: o.Ticker, Question: o.Title, Description: o.Rules, GroupTitle: o.YesSubTitle, Category: category, State: kalshi.Rules.Words[o.Status],
		Word: o.Status, Start: instant(o.OpenTime), End: instant(o.CloseTime), Volume: amount(o.Volume), Volume24h: amount(o.Volume24h),
		Price: kalshiPrice(o), NegRisk: e.NegRisk, Raw: raw,
	}
	if o.TickerName != "" { // of the website: written anew
		m.Key, m.Raw, m.Start, m.End, m.Volume24h = o.TickerName, nil, instant(o.OpenDate), instant(o.CloseDate), amount(o.Recent)
	}
	if m.State == world.Resolved || m.State == world.Closed {
		if m.ChangedAt = instant(o.SettledAt); m.ChangedAt.IsZero() {
			m.ChangedAt = m.End
		}
	}
	if e.Slug == "" {
		if e = (world.Event{Slug: o.Event, Title: o.Title}); e.Slug == "" {
			return false
		}
		e.ID, _, _ = strings.Cut(e.Slug, "-")
	}
	if m.State != world.Open && m.State != world.Closed {
		kalshiVerdict(&m, o)
	}
	w.add(m, e)
	return true
}

func kalshiPrice(o kalshiMarket) world.Micros {
	bid, ask := micros(o.Bid), micros(o.Ask)
	if bid > 0 && ask < world.One && bid <= ask && ask-bid <= world.One/10 {
		return (bid + ask) / 2
	}
	return micros(o.Last)
}

func kalshiVerdict(m *world.Market, o kalshiMarket) {
	value := world.Micros(-1)
	if o.Value != nil {
		value = micros(*o.Value)
		m.Payout = &value
	}
	switch {
	case o.Result == "yes", o.Result == "" && value == world.One:
		m.Verdict = world.Yes
	case o.Result == "no", o.Result == "" && value == 0:
		m.Verdict = world.No
	default:
		m.Verdict, m.Form = world.Invalid, o.Result
		if o.Result == "" {
			m.Form = kalshi.FormBlank
		}
	}
}
