package limitless_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

type m = map[string]any

func TestRulesOfState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes                 m
		status                  string
		provisional, challenged bool
	}{
		"funded":                   {m{}, "open", false, false},
		"funded in small letters":  {m{"status": " funded "}, "open", false, false},
		"flagged":                  {m{"status": "FUNDED_FLAGGED"}, "open", false, false},
		"expired":                  {m{"expired": true}, "closed", false, false},
		"flagged and expired":      {m{"status": "FUNDED_FLAGGED", "expired": true}, "closed", false, false},
		"deadline this second":     {m{"expirationTimestamp": 1791633600000}, "closed", false, false},
		"deadline next second":     {m{"expirationTimestamp": 1791633601000}, "open", false, false},
		"no deadline":              {m{"expirationTimestamp": nil, "expired": nil}, "open", false, false},
		"deadline beyond all time": {m{"expirationTimestamp": 4102444800000000}, "open", false, false},
		"locked":                   {m{"status": "LOCKED"}, "closed", true, false},
		"disputed":                 {m{"status": "DISPUTED", "winningOutcomeIndex": 0}, "closed", true, true},
		"draft":                    {m{"status": "DRAFT"}, "unknown", false, false},
		"created":                  {m{"status": "CREATED"}, "unknown", false, false},
		"a new word":               {m{"status": "FAILED"}, "unknown", false, false},
		"another kind of market":   {m{"marketType": "scalar"}, "unknown", false, false},
		"another kind of trade":    {m{"tradeType": "rfq"}, "open", false, false},
		"a winner before the end":  {m{"winningOutcomeIndex": 0, "payoutNumerators": []int{1, 0}}, "open", false, false},
	} {
		got, err := one(t, edit(t, c.changes))
		if err != nil || got.Status != c.status || got.Provisional != c.provisional || got.Disputed != c.challenged ||
			got.Outcome != "" || got.Settled || got.Payout != nil {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestRulesOfOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		winner, payouts any
		outcome, payout string
	}{
		"yes":                {0, []string{"1", "0"}, "YES", "1"},
		"yes as text":        {"0", nil, "YES", "1"},
		"no":                 {1, nil, "NO", "0"},
		"even":               {nil, []string{"1", "1"}, "INVALID", "0.5"},
		"even numbers":       {nil, []int{7, 7}, "INVALID", "0.5"},
		"even, on the chain": {nil, []string{"1000000000000000000", "1000000000000000000"}, "INVALID", "0.5"},
		"nothing paid":       {nil, []string{"0", "0"}, "", ""},
		"nothing told":       {nil, nil, "", ""},
		"payouts alone":      {nil, []string{"1", "0"}, "", ""},
		"three payouts":      {nil, []string{"1", "1", "1"}, "", ""},
		"no numbers":         {nil, []string{"x", "x"}, "", ""},
		"a third side":       {2, nil, "", ""},
		"below the first":    {-1, nil, "", ""},
	} {
		got, err := one(t, edit(t, m{"status": "RESOLVED", "winningOutcomeIndex": c.winner, "payoutNumerators": c.payouts}))
		payout, status := "", venue.Resolved
		if got.Payout != nil {
			payout = *got.Payout
		}
		if c.outcome == "" {
			status = venue.Closed
		}
		if err != nil || got.Status != status || got.Outcome != c.outcome || payout != c.payout ||
			got.Settled != (c.outcome != "") || got.Provisional != (c.outcome == "") {
			t.Errorf("%s: %s %q payout %q settled %v provisional %v %v", name, got.Status, got.Outcome, payout, got.Settled, got.Provisional, err)
		}
	}
}

func TestPriceOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		prices any
		want   int // -1: none
	}{
		"order book":                {"clob", []any{0.255, 0.745}, 2550},
		"half rounds up":            {"clob", []any{0.25505, 0.74495}, 2551},
		"texts":                     {"clob", []any{"0.25504999", "0.74495001"}, 2550},
		"pool":                      {"amm", []any{42.8, 57.2}, 4280},
		"pool, half rounds up":      {"amm", []any{42.855, 57.145}, 4286},
		"pool, under one percent":   {"amm", []any{0.4, 99.6}, 40},
		"pool on the other scale":   {"amm", []any{0.4, 0.6}, 4000},
		"order book, other scale":   {"clob", []any{40, 60}, 4000},
		"all or nothing":            {"clob", []any{0, 1}, 0},
		"all or nothing in percent": {"amm", []any{100, 0}, 10000},
		"both zero":                 {"clob", []any{0, 0}, -1},
		"one price":                 {"clob", []any{0.5}, -1},
		"three prices":              {"clob", []any{0.2, 0.3, 0.5}, -1},
		"negative":                  {"clob", []any{-0.2, 1.2}, -1},
		"negative yes":              {"clob", []any{-0.2, 0.7}, -1},
		"negative no":               {"clob", []any{0.7, -0.2}, -1},
		"above one":                 {"clob", []any{1.2, 0.1}, -1},
		"above a hundred":           {"amm", []any{130, 0}, -1},
		"no number":                 {"clob", []any{"NaN", 1}, -1},
		"nothing":                   {"clob", nil, -1},
	} {
		got, err := one(t, edit(t, m{"tradeType": c.kind, "prices": c.prices}))
		price := -1
		if got.YesBps != nil {
			price = *got.YesBps
		}
		if err != nil || price != c.want {
			t.Errorf("%s: %d %v, want %d", name, price, err, c.want)
		}
	}
}

func TestBookPricesWhatHasNoPrice(t *testing.T) {
	t.Parallel()
	const slug = "zed-above-10-on-oct-31-1788264000000"
	book := venuetest.Sample(t, "orderbook.json")
	level := func(bid, ask string) string {
		return `{"bids":[{"price":` + bid + `,"size":1}],"asks":[{"price":` + ask + `,"size":1}],"tokenId":"30761434287848437595941445481689166113189856445749751235124586287345084092951"}`
	}
	for name, c := range map[string]struct {
		book string
		want int // -1: none
	}{
		"sample":           {book, 2550},
		"another token":    {strings.Replace(book, "30761434", "40761434", 1), -1},
		"no token":         {strings.Replace(book, "tokenId", "x", 1), -1},
		"one side":         {strings.Replace(book, "asks", "x", 1), -1},
		"low ask, no bid":  {level("0", "0.05"), -1},
		"high bid, no ask": {level("0.95", "1"), -1},
		"nothing to trade": {strings.ReplaceAll(book, `"size": `, `"size": -`), -1},
		"widest":           {level("0.45", "0.55"), 5000},
		"too wide":         {level("0.45", "0.5501"), -1},
		"crossed":          {level("0.5", "0.49"), -1},
		"ends":             {level("0", "1"), -1},
		"garbage":          {`[]`, -1},
		"a pool's answer":  {venuetest.Sample(t, "orderbook_error_amm_400.json"), -1},
	} {
		b := setup(t, map[string]string{"/markets/" + slug: edit(t, m{"prices": nil}), "/markets/" + slug + "/orderbook": c.book})
		got, err := b.adapter.Get(t.Context(), "lmt-"+slug)
		price := -1
		if got.YesBps != nil {
			price = *got.YesBps
		}
		if err != nil || price != c.want {
			t.Errorf("%s: %d %v, want %d", name, price, err, c.want)
		}
	}
	b := setup(t, map[string]string{"/markets/" + slug: edit(t, m{"prices": nil, "tradeType": "amm"})})
	if _, err := b.adapter.Get(t.Context(), "lmt-"+slug); err != nil || len(b.Paths()) != 1 {
		t.Errorf("a pool has no book: %v %v", b.Paths(), err)
	}
	b = setup(t, map[string]string{"/markets/" + slug: edit(t, nil)})
	if _, err := b.adapter.Get(t.Context(), "lmt-"+slug); err != nil || len(b.Paths()) != 1 {
		t.Errorf("a market with a price needs no book: %v %v", b.Paths(), err)
	}
}

func TestUnknownWordsAreCounted(t *testing.T) {
	t.Parallel()
	const slug = "zed-above-10-on-oct-31-1788264000000"
	b := setup(t, nil)
	for _, changes := range []m{
		{"status": "FAILED"}, {"status": "FAILED"}, {"status": "CREATED"}, {"status": "DRAFT"}, {"marketType": "scalar"}, {"tradeType": "rfq"}, {"status": "RESOLVED", "winningOutcomeIndex": 3},
	} {
		b.Set("/markets/"+slug, edit(t, changes))
		if _, err := b.adapter.Get(t.Context(), "lmt-"+slug); err != nil {
			t.Fatal(err)
		}
	}
	const name = "venue_unknown_words_total"
	if b.Counted(name, "limitless", "status", "failed") != 2 || b.Counted(name, "marketType", "scalar") != 1 ||
		b.Counted(name, "tradeType", "rfq") != 1 || b.Counted(name, "winningOutcomeIndex", "3") != 1 || b.Counted(name) != 5 {
		t.Errorf("%v words counted", b.Counted(name))
	}
}

func TestWordsOfARecord(t *testing.T) {
	t.Parallel()
	got, err := one(t, venuetest.Sample(t, "market_unicode_html.json"))
	if err != nil || got.Question != "¿Gana «Ñandú»? – 東京 🎌" || got.Description != "Descripción inventada & con enlace." || got.VolumeUnit != "usd" ||
		got.ProofURL != "https://limitless.exchange/markets/will-nandu-win-1790000000000" || len(got.ConditionID) != 66 {
		t.Errorf("%+v %v", got, err)
	}
	got, err = one(t, venuetest.Sample(t, "market_resolved_yes.json"))
	if err != nil || got.ProofURL != "https://basescan.org/tx/0x3f723c5841611dbf47ce65b2b2866a462155b74d3ee97547a4c1a58b398d411f" || got.ClosedAt == nil {
		t.Errorf("%+v %v", got, err)
	}
	for tx, resolved := range map[string]string{"0x12": "RESOLVED", "javascript:x": "RESOLVED", "0x3f723c5841611dbf47ce65b2b2866a462155b74d3ee97547a4c1a58b398d411f": "FUNDED"} {
		got, err = one(t, edit(t, m{"status": resolved, "winningOutcomeIndex": 0, "resolutionTxHash": tx, "imageUrl": "javascript:x"}))
		if err != nil || !strings.HasPrefix(got.ProofURL, "https://limitless.exchange/markets/") || got.ImageURL != "" {
			t.Errorf("%s: %s %s %v", tx, got.ProofURL, got.ImageURL, err)
		}
	}
	for name, c := range map[string]struct {
		changes m
		lane    string
	}{
		"category":        {m{"categories": []string{"Politics"}, "properties": nil}, "POLITICS"},
		"property":        {m{"categories": nil}, "CRYPTO"},
		"tag":             {m{"categories": nil, "properties": nil, "tags": []string{"Music"}}, "MUSIC"},
		"a series":        {m{"categories": []string{"Hourly"}, "properties": nil}, "CRYPTO"},
		"a series' tag":   {m{"categories": nil, "properties": nil, "tags": []string{"Hourly"}}, "OTHER"},
		"nothing to tell": {m{"categories": nil, "properties": nil, "tags": nil}, "OTHER"},
		"numbers":         {m{"categories": []int{5}, "properties": nil}, "OTHER"},
	} {
		if got, err := one(t, edit(t, c.changes)); err != nil || got.VenueLane != c.lane {
			t.Errorf("%s: %s %v, want %s", name, got.VenueLane, err, c.lane)
		}
	}
	for image, want := range map[string]string{"https://assets.example.test/a.png": "https://assets.example.test/a.png", "http://assets.example.test/a.png": "", "/a.png": ""} {
		if got, err := one(t, edit(t, m{"imageUrl": image})); err != nil || got.ImageURL != want {
			t.Errorf("%s: %q %v", image, got.ImageURL, err)
		}
	}
	if got, err = one(t, edit(t, m{"liquidityFormatted": "5.5"})); err != nil || got.Liquidity != nil {
		t.Errorf("an order book's liquidity: %v %v", got.Liquidity, err)
	}
}
