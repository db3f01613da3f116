package venue_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// record is one market as recorded from its venue.
type record struct {
	kit
	of     string // key of the market
	raw    json.RawMessage
	fields map[string]any
	event  map[string]any // event of a market of Kalshi, if the record is part of one
}

// collected contains the recorded data of one or more files, sorted by the form of the values.
type collected struct {
	records   []record
	books     map[string]json.RawMessage // order-book records of Polymarket by condition id
	histories []json.RawMessage
	odd       int // number of values of an unknown form
}

func collect(raw []byte) *collected {
	c := &collected{books: map[string]json.RawMessage{}}
	c.take(raw, nil)
	return c
}

func (c *collected) take(raw json.RawMessage, event map[string]any) {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			c.odd++
			return
		}
		for _, one := range list {
			c.take(one, event)
		}
		return
	}
	o, err := object(raw)
	if err != nil || len(o) == 0 {
		c.odd++
		return
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := o[name]; return !ok })
	}
	switch {
	case has("id", "conditionId", "outcomes"):
		c.add(polymarketKit, raw, o, nil)
	case has("condition_id", "tokens"):
		c.books[fmt.Sprint(o["condition_id"])] = raw
	case has("ticker", "event_ticker", "status"):
		c.add(kalshiKit, raw, o, event)
	case has("ticker_name", "status"):
		c.add(kalshiKit, nil, website(o, event), event)
	case has("slug", "tradeType"):
		c.add(limitlessKit, raw, o, nil)
		c.inside(raw, nil, "markets")
	case has("id", "outcomeType"):
		c.add(manifoldKit, raw, o, nil)
	case has("history"):
		c.histories = append(c.histories, raw)
	default:
		if has("series_ticker") {
			event = o
		}
		if !c.inside(raw, event, "data", "markets", "market", "events", "event") {
			c.odd++
		}
	}
}

// inside collects the records in the members of the JSON object raw with the given names, and reports whether it has such a
// member.
func (c *collected) inside(raw json.RawMessage, event map[string]any, names ...string) (found bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	for _, name := range names {
		if inner, ok := members[name]; ok && len(inner) > 0 && (inner[0] == '[' || inner[0] == '{') {
			found = true
			c.take(inner, event)
		}
	}
	return found
}

func (c *collected) add(k kit, raw json.RawMessage, o, event map[string]any) {
	if raw == nil {
		raw, _ = json.Marshal(o) // the object was decoded from JSON
	}
	c.records = append(c.records, record{k, fmt.Sprint(o[k.key]), raw, o, event})
}

// object decodes a JSON object. Numbers remain text, so that they are exact.
func object(raw []byte) (o map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return o, d.Decode(&o)
}

// website converts a market in the form of Kalshi's website to the member names of the trade API.
func website(o, event map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range o {
		if ours, ok := map[string]string{"ticker_name": "ticker", "close_date": "close_time", "open_date": "open_time"}[name]; ok {
			name = ours
		}
		out[name] = value
	}
	out["event_ticker"] = event["ticker"]
	if cents, ok := number(o["settlement_value_centicents"]); ok {
		out["settlement_value_dollars"] = cents.Quo(cents, big.NewRat(10_000, 1)).FloatString(4)
	}
	return out
}

// id returns the market id of the record.
func (r record) id() protocol.MarketID { return protocol.MarketID(r.prefix + r.of) }

// number parses a JSON number, or text that contains a number, exactly.
func number(v any) (*big.Rat, bool) {
	var text string
	switch n := v.(type) {
	case json.Number:
		text = n.String()
	case string:
		text = n
	default:
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// price returns the YES price of a record without a final result, in bps. It is computed independently of the adapters and
// without floats. ok is false if this computation has no rule for the record.
func (r record) price() (bps int64, ok bool) {
	one, tenth := big.NewRat(1, 1), big.NewRat(1, 10)
	switch r.provider {
	case "polymarket":
		prices, labels := texts(r.fields["outcomePrices"]), texts(r.fields["outcomes"])
		if len(prices) != 2 || len(labels) != 2 {
			return 0, false
		}
		yes := max(slices.IndexFunc(labels, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "yes") }), 0)
		a, ok1 := number(prices[yes])
		b, ok2 := number(prices[1-yes])
		if !ok1 || !ok2 || new(big.Rat).Add(a, b).Sign() == 0 {
			return 0, false
		}
		return points(a), true
	case "kalshi":
		bid, ok1 := number(r.fields["yes_bid_dollars"])
		ask, ok2 := number(r.fields["yes_ask_dollars"])
		if ok1 && ok2 && bid.Sign() > 0 && ask.Cmp(one) < 0 && bid.Cmp(ask) <= 0 && new(big.Rat).Sub(ask, bid).Cmp(tenth) <= 0 {
			return points(bid.Add(bid, ask).Quo(bid, big.NewRat(2, 1))), true
		}
		last, ok := number(r.fields["last_price_dollars"])
		return points(last), ok && last.Sign() > 0
	case "limitless":
		list, _ := r.fields["prices"].([]any)
		if len(list) != 2 {
			return 0, false
		}
		yes, ok1 := number(list[0])
		no, ok2 := number(list[1])
		if !ok1 || !ok2 || new(big.Rat).Add(yes, no).Sign() == 0 {
			return 0, false
		}
		if new(big.Rat).Add(yes, no).Cmp(big.NewRat(3, 2)) > 0 {
			yes.Quo(yes, big.NewRat(100, 1))
		}
		return points(yes), true
	}
	p, ok := number(r.fields["probability"])
	return points(p), ok
}

// points converts a price to basis points, rounded half up.
func points(p *big.Rat) int64 {
	if p == nil {
		return 0
	}
	scaled := new(big.Rat).Add(new(big.Rat).Mul(p, big.NewRat(10_000, 1)), big.NewRat(1, 2))
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom())
	return min(max(whole.Int64(), 0), 10_000)
}

// texts parses a JSON list that is contained in a string.
func texts(v any) (out []string) {
	text, _ := v.(string)
	if json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}
