package polymarket_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOrderBookRecordSettlesWhatTheOracleLeftOpen(t *testing.T) {
	t.Parallel()
	pinned := sample(t, "market_closed_pinned_no_oracle_status.json")
	var head struct{ ConditionID string }
	if err := json.Unmarshal([]byte(pinned), &head); err != nil {
		t.Fatal(err)
	}
	path := "/clob/markets/" + head.ConditionID
	winner := sample(t, "clob_market_winner_for_closed_pinned.json")
	no := strings.NewReplacer(`"winner": true`, `"winner": false`).Replace(winner)
	second := strings.Replace(no, `"price": 0,
      "winner": false`, `"price": 0, "winner": true`, 1)
	half := strings.Replace(no, `"is_50_50_outcome": false`, `"is_50_50_outcome": true`, 1)
	evenPrices := strings.Replace(pinned, `"[\"1\", \"0\"]"`, `"[\"0.5\", \"0.5\"]"`, 1)
	old := strings.Replace(pinned, "2026-10-09 16:10:44+00", "2026-10-03 11:59:59+00", 1)
	oldEven := strings.Replace(evenPrices, "2026-10-09 16:10:44+00", "2021-01-03 11:59:59+00", 1)
	for name, c := range map[string]struct{ market, book, status, outcome string }{
		"winner flag":                         {pinned, winner, "resolved", "YES"},
		"winner on the second":                {pinned, second, "resolved", "NO"},
		"no winner":                           {pinned, no, "closed", ""},
		"book not closed":                     {pinned, strings.Replace(winner, `"closed": true`, `"closed": false`, 1), "closed", ""},
		"half and half, prices disagree":      {pinned, half, "closed", ""},
		"half and half":                       {evenPrices, half, "resolved", "INVALID"},
		"book of another market":              {pinned, strings.Replace(winner, "0x4baae", "0x4baaf", 1), "closed", ""},
		"no book, closed a day":               {pinned, "", "closed", ""},
		"no book, closed eight days":          {old, "", "resolved", "YES"},
		"no book, closed for years, even":     {oldEven, "", "closed", ""},
		"closed for days, but book undecided": {old, no, "closed", ""},
	} {
		more := map[string]string{}
		if c.book != "" {
			more[path] = c.book
		}
		m, err := one(t, c.market, more)
		if err != nil || m.Status != c.status || m.Outcome != c.outcome || m.Provisional != (c.status == "closed") || m.Settled != (c.status == "resolved") {
			t.Errorf("%s: %s %q provisional %v settled %v %v", name, m.Status, m.Outcome, m.Provisional, m.Settled, err)
		}
		if (m.Payout != nil) != (c.outcome != "") {
			t.Errorf("%s: payout %v", name, m.Payout)
		}
	}
}

// edit sets members of the ordinary open sample.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(sample(t, "market_open.json")), &v); err != nil {
		t.Fatal(err)
	}
	for key, value := range changes {
		if value == nil {
			delete(v, key)
			continue
		}
		v[key] = value
	}
	return show(t, v)
}

func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for name, c := range map[string]struct {
		changes                 m
		status, outcome         string
		provisional, challenged bool
	}{
		"plain":                      {m{}, "open", "", false, false},
		"archived beats all":         {m{"archived": true, "closed": true, "umaResolutionStatus": "disputed"}, "unknown", "", false, false},
		"disputed beats closed":      {m{"closed": true, "umaResolutionStatus": "disputed", "outcomePrices": `["1","0"]`}, "closed", "", true, true},
		"proposed while trading":     {m{"umaResolutionStatus": "proposed"}, "closed", "", true, false},
		"a new word":                 {m{"umaResolutionStatus": "reconsidered"}, "closed", "", true, false},
		"resolved in capitals":       {m{"closed": true, "umaResolutionStatus": "Resolved", "outcomePrices": `["0.0009","0.9991"]`}, "resolved", "NO", false, false},
		"resolved beyond tolerance":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0.0011","0.9989"]`}, "closed", "", true, false},
		"resolved without prices":    {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": nil}, "closed", "", true, false},
		"resolved, prices both one":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["1","1"]`}, "closed", "", true, false},
		"resolved but not closed":    {m{"umaResolutionStatus": "resolved", "outcomePrices": `["1","0"]`}, "closed", "", true, false},
		"book off":                   {m{"enableOrderBook": false}, "unknown", "", false, false},
		"book flag missing":          {m{"enableOrderBook": nil}, "unknown", "", false, false},
		"placeholder without tokens": {m{"clobTokenIds": nil, "outcomePrices": nil, "acceptingOrders": false}, "unknown", "", false, false},
		"paused":                     {m{"acceptingOrders": false}, "closed", "", false, false},
		"accepting flag missing":     {m{"acceptingOrders": nil}, "open", "", false, false},
		"inactive is no state":       {m{"active": false}, "open", "", false, false},
		"ends this second":           {m{"endDate": "2026-10-10T12:00:00Z"}, "open", "", true, false},
		"ends next second":           {m{"endDate": "2026-10-10T12:00:01Z"}, "open", "", false, false},
		"no end":                     {m{"endDate": nil}, "open", "", false, false},
		"unreadable end":             {m{"endDate": "whenever"}, "open", "", false, false},
		"second outcome is yes":      {m{"outcomes": `["No","Yes"]`, "closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0","1"]`}, "resolved", "YES", false, false},
	} {
		got, err := one(t, edit(t, c.changes), nil)
		if err != nil || got.Status != c.status || got.Outcome != c.outcome || got.Provisional != c.provisional || got.Disputed != c.challenged {
			t.Errorf("%s: %s %q provisional %v disputed %v %v", name, got.Status, got.Outcome, got.Provisional, got.Disputed, err)
		}
	}
}

func TestPriceOfARecord(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for name, c := range map[string]struct {
		changes m
		want    int // -1: none
	}{
		"outcome price":          {m{}, 6150},
		"half rounds up":         {m{"outcomePrices": `["0.61505","0.38495"]`}, 6151},
		"below half":             {m{"outcomePrices": `["0.61504999","0.38495001"]`}, 6150},
		"numbers, not texts":     {m{"outcomePrices": `[0.25,0.75]`}, 2500},
		"yes is second":          {m{"outcomes": `["No","YES"]`}, 3850},
		"both zero: the book":    {m{"outcomePrices": `["0","0"]`}, 6150},
		"missing: the book":      {m{"outcomePrices": nil, "bestBid": 0.05, "bestAsk": 0.0501}, 501},
		"book, yes second":       {m{"outcomePrices": nil, "outcomes": `["No","Yes"]`, "bestBid": 0.2, "bestAsk": 0.3}, 7500},
		"empty book: last trade": {m{"outcomePrices": nil, "bestBid": 0, "bestAsk": 1, "lastTradePrice": 0.4}, 4000},
		"crossed book":           {m{"outcomePrices": nil, "bestBid": 0.7, "bestAsk": 0.6, "lastTradePrice": 0.4}, 4000},
		"nothing at all":         {m{"outcomePrices": nil, "bestBid": nil, "bestAsk": nil, "lastTradePrice": 0}, -1},
		"negative price":         {m{"outcomePrices": `["-0.5","1.5"]`, "bestBid": nil, "lastTradePrice": 0}, -1},
		"not a number":           {m{"outcomePrices": `["NaN","1"]`, "bestBid": nil, "lastTradePrice": nil}, -1},
		"one price":              {m{"outcomePrices": `["0.5"]`, "bestBid": nil, "lastTradePrice": nil}, -1},
	} {
		got, err := one(t, edit(t, c.changes), nil)
		price := -1
		if got.YesBps != nil {
			price = *got.YesBps
		}
		if err != nil || price != c.want {
			t.Errorf("%s: %d %v, want %d", name, price, err, c.want)
		}
	}
}

func TestUnknownWordsAreCounted(t *testing.T) {
	t.Parallel()
	raw := edit(t, map[string]any{"umaResolutionStatus": "reconsidered"})
	b := setup(t, map[string]string{"/gamma/markets/7100001": raw})
	for range 3 {
		if _, err := b.adapter.Get(t.Context(), "7100001"); err != nil {
			t.Fatal(err)
		}
	}
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "venue_unknown_words_total" {
			continue
		}
		if m := f.GetMetric(); len(m) != 1 || m[0].GetCounter().GetValue() != 3 || !strings.Contains(m[0].String(), "reconsidered") {
			t.Errorf("%v", m)
		}
		return
	}
	t.Error("the word was not counted")
}
