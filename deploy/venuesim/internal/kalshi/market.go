package kalshi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const fineTime = "2006-01-02T15:04:05.999999Z"

// series is a family of events. A market belongs to the first series with one of its topics. A market without such a topic
// belongs to the last series.
type series struct {
	Ticker, Title, Category string
	Tags                    []string
	Topics                  []string // tags of markets that belong to the series
}

//go:embed series.json
var seriesJSON []byte

var allSeries = readSeries()

func readSeries() (list []series) {
	if err := json.Unmarshal(seriesJSON, &list); err != nil {
		panic(err) // the file is embedded in the program
	}
	return list
}

func seriesOf(m *world.Market) series {
	for _, f := range allSeries {
		if slices.ContainsFunc(m.Tags, func(t world.Tag) bool { return slices.Contains(f.Topics, t.Slug) }) {
			return f
		}
	}
	return allSeries[len(allSeries)-1]
}

// status returns the value of the member status for a market: VenueState if it is set, otherwise a value for the state. The value
// for an open market whose end has passed is closed.
func status(m *world.Market, now time.Time) string {
	if m.VenueState != "" {
		return m.VenueState
	}
	switch m.State {
	case world.Proposed:
		return determined
	case world.Disputed:
		return disputed
	case world.Resolved:
		return finalized
	case world.Open:
		if m.End.After(now) {
			return active
		}
	}
	return closed
}

// market returns the JSON object of a market. Prices are strings in dollars, volumes are strings in contracts.
func (s *Service) market(m *world.Market) venue.Object {
	now, word := s.world.Now(), status(m, s.world.Now())
	answer, label := m.Question, m.Labels[m.YesIndex()]
	if !strings.EqualFold(label, "yes") {
		answer = label
	} else if m.Candidate != "" {
		answer = m.Candidate
	}
	settled := stamp(m.End.Add(7 * 24 * time.Hour))
	o := constants.With("market", venue.Object{
		"ticker": s.Key(m), "event_ticker": eventTicker(m), "title": m.YesQuestion(), "yes_sub_title": answer, "no_sub_title": answer,
		"created_time": stamp(m.Start.Add(-24 * time.Hour)), "updated_time": now.Format(fineTime), "open_time": stamp(m.Start),
		"close_time": stamp(m.EndOfTrading()), "expected_expiration_time": stamp(m.End.Add(time.Hour)),
		"expiration_time": settled, "latest_expiration_time": settled, "status": word, "rules_primary": m.Description,
		"volume_fp": count(m.Volume), "volume_24h_fp": count(m.Volume24h), "open_interest_fp": count(m.Volume / 3),
		"strike_type": "greater", "floor_strike": 4.5 + float64(m.EventIndex),
		"result": "", "expiration_value": "", "occurrence_datetime": nil,
	})
	if m.Event.Exclusive {
		o["strike_type"], o["custom_strike"] = "structured", venue.Object{"person": world.Slug(m.Candidate, 24)}
		o["expected_expiration_time"] = nil
		delete(o, "floor_strike")
	}
	addPrices(o, m, word, now)
	if States[word] != world.Open && word != closed {
		addResult(o, m, word)
	}
	return o
}

// addPrices adds to o the best bid and ask and the last price, now and one day earlier. A side without orders has a bid of 0 or
// an ask of 1.
func addPrices(o venue.Object, m *world.Market, word string, now time.Time) {
	top, last := m.Top(), m.Price
	before := m.Path(max(m.Start.Unix(), m.LastPriceAt(now).Unix()-86_400))
	topBefore := world.TopAround(before)
	switch States[word] {
	case world.Proposed, world.Disputed, world.Resolved:
		top = world.Top{Ask: world.One}
	}
	if word == initialized {
		top, last, before, topBefore = world.Top{Ask: world.One}, 0, 0, world.Top{Ask: world.One}
		o["volume_fp"], o["volume_24h_fp"], o["open_interest_fp"] = count(0), count(0), count(0)
	}
	o["yes_bid_dollars"], o["yes_ask_dollars"], o["last_price_dollars"] = dollars(top.Bid), dollars(top.Ask), dollars(last)
	o["no_bid_dollars"], o["no_ask_dollars"] = dollars(world.One-top.Ask), dollars(world.One-top.Bid)
	o["previous_yes_bid_dollars"], o["previous_yes_ask_dollars"] = dollars(topBefore.Bid), dollars(topBefore.Ask)
	o["previous_price_dollars"], o["yes_bid_size_fp"], o["yes_ask_size_fp"] = dollars(before), count(250), count(118.5)
	if top.Bid == 0 {
		o["yes_bid_size_fp"] = count(0)
	}
	if top.Ask == world.One {
		o["yes_ask_size_fp"] = count(0)
	}
}

// addResult adds the result and the payout of YES to o. It adds nothing if the market has no outcome.
func addResult(o venue.Object, m *world.Market, word string) {
	result, value := "scalar", world.One/2
	switch m.Outcome {
	case world.Yes:
		result, value = "yes", world.One
	case world.No:
		result, value = "no", 0
	case "":
		return
	}
	if m.Payout != nil {
		value = *m.Payout
	}
	o["settlement_value_dollars"], o["expiration_value"] = dollars(value), "4.81"
	switch m.Resolution {
	case "void":
		result = "void"
	case "blank":
		result = ""
		if m.Outcome == world.Invalid && m.Payout == nil {
			o["settlement_value_dollars"], o["expiration_value"] = nil, ""
		}
	}
	o["result"] = result
	if word == finalized {
		o["settlement_ts"] = m.ChangedAt.Format(fineTime)
		if m.Outcome == world.Yes {
			o["occurrence_datetime"] = stamp(m.ChangedAt)
		}
	}
}

func (s *Service) event(list []world.Market) venue.Object {
	first := &list[0]
	category := first.Category
	if category == "" {
		category = seriesOf(first).Category
	}
	o := constants.With("event", venue.Object{
		"event_ticker": eventTicker(first), "series_ticker": seriesTicker(first), "sub_title": first.End.Format("2006"),
		"title": first.Event.Title, "category": category, "last_updated_ts": stamp(s.world.Now()),
		"mutually_exclusive": first.Event.Exclusive, "collateral_return_type": "",
	})
	if first.Event.Exclusive {
		o["collateral_return_type"] = "MECNET"
	} else {
		o["strike_date"] = stamp(first.End)
	}
	return o
}

func (s *Service) markets(list []world.Market) []venue.Object {
	out := make([]venue.Object, len(list))
	for i := range list {
		out[i] = s.market(&list[i])
	}
	return out
}

func dollars(p world.Price) string { return p.Decimals(4) }

func count(v float64) string { return fmt.Sprintf("%.2f", v) }
