package venue_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

const zed = "zed-above-10-on-oct-31-1788264000000"

func TestLimitlessRulesOfState(t *testing.T) {
	t.Parallel()
	limitlessKit.check(t, stateOf, cases{
		"funded":                  {m{}, "open"},
		"funded in small letters": {m{"status": " funded "}, "open"},
		"flagged":                 {m{"status": "FUNDED_FLAGGED"}, "open"},
		"expired":                 {m{"expired": true}, "closed"},
		"flagged and expired":     {m{"status": "FUNDED_FLAGGED", "expired": true}, "closed"},
		"deadline this second":    {m{"expirationTimestamp": 1791633600000}, "closed"},
		"deadline next second":    {m{"expirationTimestamp": 1791633601000}, "open"},
		"no deadline":             {m{"expirationTimestamp": nil, "expired": nil}, "open"},
		"deadline out of range":   {m{"expirationTimestamp": 4102444800000000}, "open"},
		"locked":                  {m{"status": "LOCKED"}, "closed provisional"},
		"disputed":                {m{"status": "DISPUTED", "winningOutcomeIndex": 0}, "closed provisional disputed"},
		"draft":                   {m{"status": "DRAFT"}, "unknown"},
		"created":                 {m{"status": "CREATED"}, "unknown"},
		"an unknown status":       {m{"status": "FAILED"}, "unknown"},
		"another kind of market":  {m{"marketType": "scalar"}, "unknown"},
		"another kind of trade":   {m{"tradeType": "rfq"}, "open"},
		"a winner before the end": {m{"winningOutcomeIndex": 0, "payoutNumerators": []int{1, 0}}, "open"},
	})
}

func TestLimitlessRulesOfOutcome(t *testing.T) {
	t.Parallel()
	outcome := func(winner, payouts any) m {
		return m{"status": "RESOLVED", "winningOutcomeIndex": winner, "payoutNumerators": payouts}
	}
	limitlessKit.check(t, stateOf, cases{
		"yes":                      {outcome(0, []string{"1", "0"}), "resolved YES 1"},
		"yes as text":              {outcome("0", nil), "resolved YES 1"},
		"no":                       {outcome(1, nil), "resolved NO 0"},
		"even":                     {outcome(nil, []string{"1", "1"}), "resolved INVALID 0.5"},
		"even numbers":             {outcome(nil, []int{7, 7}), "resolved INVALID 0.5"},
		"even, on the chain":       {outcome(nil, []string{"1000000000000000000", "1000000000000000000"}), "resolved INVALID 0.5"},
		"nothing paid":             {outcome(nil, []string{"0", "0"}), "closed provisional"},
		"no payouts":               {outcome(nil, nil), "closed provisional"},
		"payouts without a winner": {outcome(nil, []string{"1", "0"}), "closed provisional"},
		"three payouts":            {outcome(nil, []string{"1", "1", "1"}), "closed provisional"},
		"no numbers":               {outcome(nil, []string{"x", "x"}), "closed provisional"},
		"a third side":             {outcome(2, nil), "closed provisional"},
		"below the first":          {outcome(-1, nil), "closed provisional"},
	})
}

func TestLimitlessPriceOfARecord(t *testing.T) {
	t.Parallel()
	limitlessKit.check(t, priceOf, cases{
		"order book":                {m{"tradeType": "clob", "prices": []any{0.255, 0.745}}, "2550"},
		"half rounds up":            {m{"tradeType": "clob", "prices": []any{0.25505, 0.74495}}, "2551"},
		"texts":                     {m{"tradeType": "clob", "prices": []any{"0.25504999", "0.74495001"}}, "2550"},
		"pool":                      {m{"tradeType": "amm", "prices": []any{42.8, 57.2}}, "4280"},
		"pool, half rounds up":      {m{"tradeType": "amm", "prices": []any{42.855, 57.145}}, "4286"},
		"pool, under one percent":   {m{"tradeType": "amm", "prices": []any{0.4, 99.6}}, "40"},
		"pool on the other scale":   {m{"tradeType": "amm", "prices": []any{0.4, 0.6}}, "4000"},
		"order book, other scale":   {m{"tradeType": "clob", "prices": []any{40, 60}}, "4000"},
		"all or nothing":            {m{"tradeType": "clob", "prices": []any{0, 1}}, "0"},
		"all or nothing in percent": {m{"tradeType": "amm", "prices": []any{100, 0}}, "10000"},
		"both zero":                 {m{"tradeType": "clob", "prices": []any{0, 0}}, ""},
		"one price":                 {m{"tradeType": "clob", "prices": []any{0.5}}, ""},
		"three prices":              {m{"tradeType": "clob", "prices": []any{0.2, 0.3, 0.5}}, ""},
		"negative":                  {m{"tradeType": "clob", "prices": []any{-0.2, 1.2}}, ""},
		"negative yes":              {m{"tradeType": "clob", "prices": []any{-0.2, 0.7}}, ""},
		"negative no":               {m{"tradeType": "clob", "prices": []any{0.7, -0.2}}, ""},
		"above one":                 {m{"tradeType": "clob", "prices": []any{1.2, 0.1}}, ""},
		"above a hundred":           {m{"tradeType": "amm", "prices": []any{130, 0}}, ""},
		"no number":                 {m{"tradeType": "clob", "prices": []any{"NaN", 1}}, ""},
		"nothing":                   {m{"tradeType": "clob", "prices": nil}, ""},
	})
}

func TestLimitlessBookGivesMissingPrice(t *testing.T) {
	t.Parallel()
	book := limitlessKit.sample(t, "orderbook.json")
	level := func(bid, ask string) string {
		return `{"bids":[{"price":` + bid + `,"size":1}],"asks":[{"price":` + ask + `,"size":1}],"tokenId":"30761434287848437595941445481689166113189856445749751235124586287345084092951"}`
	}
	for name, c := range map[string]struct {
		book string
		want string // empty: no price
	}{
		"sample":           {book, "2550"},
		"another token":    {strings.Replace(book, "30761434", "40761434", 1), ""},
		"no token":         {strings.Replace(book, "tokenId", "x", 1), ""},
		"one side":         {strings.Replace(book, "asks", "x", 1), ""},
		"low ask, no bid":  {level("0", "0.05"), ""},
		"high bid, no ask": {level("0.95", "1"), ""},
		"nothing to trade": {strings.ReplaceAll(book, `"size": `, `"size": -`), ""},
		"widest":           {level("0.45", "0.55"), "5000"},
		"too wide":         {level("0.45", "0.5501"), ""},
		"crossed":          {level("0.5", "0.49"), ""},
		"ends":             {level("0", "1"), ""},
		"garbage":          {`[]`, ""},
		"a pool's answer":  {limitlessKit.sample(t, "orderbook_error_amm_400.json"), ""},
	} {
		b := limitlessKit.setup(t, map[string]string{"/markets/" + zed: limitlessKit.edit(t, m{"prices": nil}), "/markets/" + zed + "/orderbook": c.book})
		got, err := b.Get(t.Context(), "lmt-"+zed)
		if price := priceOf(&got); err != nil || price != c.want {
			t.Errorf("%s: %q %v, want %q", name, price, err, c.want)
		}
	}
	b := limitlessKit.setup(t, map[string]string{"/markets/" + zed: limitlessKit.edit(t, m{"prices": nil, "tradeType": "amm"})})
	if _, err := b.Get(t.Context(), "lmt-"+zed); err != nil || len(b.Paths()) != 1 {
		t.Errorf("a pool has no order book: %v %v", b.Paths(), err)
	}
	b = limitlessKit.setup(t, map[string]string{"/markets/" + zed: limitlessKit.edit(t, nil)})
	if _, err := b.Get(t.Context(), "lmt-"+zed); err != nil || len(b.Paths()) != 1 {
		t.Errorf("a market with a price needs no order book: %v %v", b.Paths(), err)
	}
}

func TestLimitlessTextsOfARecord(t *testing.T) {
	t.Parallel()
	got, err := limitlessKit.one(t, limitlessKit.sample(t, "market_unicode_html.json"))
	if err != nil || got.Title != "¿Gana «Ñandú»? – 東京 🎌" || got.Description != "Descripción inventada & con enlace." || got.VolumeUnit != "usd" ||
		got.URL != "https://limitless.exchange/markets/will-nandu-win-1790000000000" || len(got.ConditionID) != 66 {
		t.Errorf("market with Unicode texts: %+v %v", got, err)
	}
	got, err = limitlessKit.one(t, limitlessKit.sample(t, "market_resolved_yes.json"))
	if err != nil || got.URL != "https://basescan.org/tx/0x3f723c5841611dbf47ce65b2b2866a462155b74d3ee97547a4c1a58b398d411f" || got.ClosedAt == nil {
		t.Errorf("resolved market: %+v %v", got, err)
	}
	for tx, resolved := range map[string]string{"0x12": "RESOLVED", "javascript:x": "RESOLVED", "0x3f723c5841611dbf47ce65b2b2866a462155b74d3ee97547a4c1a58b398d411f": "FUNDED"} {
		got, err = limitlessKit.one(t, limitlessKit.edit(t, m{"status": resolved, "winningOutcomeIndex": 0, "resolutionTxHash": tx, "imageUrl": "javascript:x"}))
		if err != nil || !strings.HasPrefix(got.URL, "https://limitless.exchange/markets/") || got.ImageURL != "" {
			t.Errorf("resolution transaction %s: %s %s %v", tx, got.URL, got.ImageURL, err)
		}
	}
	limitlessKit.check(t, func(m *market.Record) string { return string(m.Lane) }, cases{
		"category":      {m{"categories": []string{"Politics"}, "properties": nil}, "POLITICS"},
		"property":      {m{"categories": nil}, "CRYPTO"},
		"tag":           {m{"categories": nil, "properties": nil, "tags": []string{"Music"}}, "MUSIC"},
		"a series":      {m{"categories": []string{"Hourly"}, "properties": nil}, "CRYPTO"},
		"a series' tag": {m{"categories": nil, "properties": nil, "tags": []string{"Hourly"}}, "OTHER"},
		"no words":      {m{"categories": nil, "properties": nil, "tags": nil}, "OTHER"},
		"numbers":       {m{"categories": []int{5}, "properties": nil}, "OTHER"},
	})
	for image, want := range map[string]string{"https://assets.example.test/a.png": "https://assets.example.test/a.png", "http://assets.example.test/a.png": "", "/a.png": ""} {
		if got, err := limitlessKit.one(t, limitlessKit.edit(t, m{"imageUrl": image})); err != nil || got.ImageURL != want {
			t.Errorf("image %s: %q %v", image, got.ImageURL, err)
		}
	}
	if got, err = limitlessKit.one(t, limitlessKit.edit(t, m{"liquidityFormatted": "5.5"})); err != nil || got.Liquidity != nil {
		t.Errorf("an order book's liquidity: %v %v", got.Liquidity, err)
	}
}

// trade returns a change of a record that sets the prices at which a market order buys YES and NO.
func trade(yes, no any) m {
	return m{"tradePrices": m{"buy": m{"market": []any{yes, no}, "limit": []any{0.01, 0.01}}}}
}

func TestLimitlessQuoteOfARecord(t *testing.T) {
	t.Parallel()
	limitlessKit.check(t, quoteOf, cases{
		"prices to buy at":     {trade(0.31, 0.71), "3100 7100"},
		"as texts":             {trade("0.31", "0.71"), "3100 7100"},
		"in percent":           {trade(31, 71), "3100 7100"},
		"one side empty":       {trade(0.31, 1), ""},
		"the other empty":      {trade(1, 0.31), ""},
		"both empty":           {trade(0, 0), ""},
		"crossed":              {trade(0.29, 0.69), ""},
		"too wide":             {trade(0.4, 0.7001), ""},
		"one price":            {m{"tradePrices": m{"buy": m{"market": []any{0.31}}}}, ""},
		"not numbers":          {trade("NaN", 0.71), ""},
		"locked":               {m{"status": "LOCKED"}, ""},
		"expired":              {m{"expired": true}, ""},
		"prices alone, a pool": {m{"tradePrices": nil, "tradeType": "amm"}, ""},
	})
}

func TestLimitlessBookGivesMissingQuote(t *testing.T) {
	t.Parallel()
	const path = "/markets/" + zed
	raw := limitlessKit.sample(t, "orderbook.json")
	b := limitlessKit.setup(t, map[string]string{path: limitlessKit.edit(t, m{"tradePrices": nil}), path + "/orderbook": raw})
	got, err := b.Get(t.Context(), "lmt-"+zed)
	if err != nil || quoteOf(&got) != "2600 7500" || !hasSource(got.Quote, "limitless.book", raw) || *got.Yes != 2550 {
		t.Errorf("quote from the order book: %+v %v", got.Quote, err)
	}
}

func TestLimitlessClosingTime(t *testing.T) {
	t.Parallel()
	past, ahead := venuetest.Noon.Add(-time.Hour), venuetest.Noon.Add(time.Hour)
	limitlessKit.check(t, closedAt, cases{
		"open":                       {m{"expirationTimestamp": ahead.UnixMilli()}, ""},
		"expired":                    {m{"expirationTimestamp": past.UnixMilli() + 7}, "2026-10-10T11:00:00.007Z"},
		"resolved":                   {m{"status": "RESOLVED", "winningOutcomeIndex": 0, "expirationTimestamp": past.UnixMilli()}, "2026-10-10T11:00:00Z"},
		"resolved before it expires": {m{"status": "RESOLVED", "winningOutcomeIndex": 0, "expirationTimestamp": ahead.UnixMilli()}, ""},
		"locked without a time":      {m{"status": "LOCKED", "expirationTimestamp": nil}, ""},
		"a date without a time":      {m{"status": "LOCKED", "expirationTimestamp": "2026-10-09"}, ""},
	})
}

func TestLimitlessListPages(t *testing.T) {
	t.Parallel()
	b := limitlessKit.setup(t, map[string]string{
		"/markets/active?limit=25&page=1":  limitlessKit.sample(t, "markets_active_page1.json"),
		"/markets/active?limit=25&page=2":  limitlessKit.sample(t, "markets_active_page2_last.json"),
		"/markets/active":                  limitlessKit.sample(t, "markets_active_empty_page.json"),
		"/markets/ada-quill-1787000000001": limitlessKit.sample(t, "market_group_child.json"),
	})
	page, next, err := b.ListOpen(t.Context(), "")
	// The third child of the group is resolved.
	want := "ada-quill-1787000000001 bo-reed-1787000000002 dollarzed-above-dollar0216-on-oct-10-1300-utc-1791633000000 " +
		"zed-above-10-on-oct-31-1788264000000"
	if err != nil || limitlessKit.ids(page) != want {
		t.Fatalf("%s, next %q, %v", limitlessKit.ids(page), next, err)
	}
	page, next, err = b.ListOpen(t.Context(), next)
	if err != nil || limitlessKit.ids(page) != "flagged-question-1790000000001 will-nandu-win-1790000000000" || next != "" {
		t.Fatalf("%s, next %q, %v", limitlessKit.ids(page), next, err)
	}
	if page, next, err = b.ListOpen(t.Context(), "3:5"); err != nil || len(page) != 0 || next != "" {
		t.Errorf("past the end: %s, next %q, %v", limitlessKit.ids(page), next, err)
	}
	child, err := b.Get(t.Context(), "lmt-ada-quill-1787000000001")
	if err != nil || child.Title != "Invented Guild winner: Ada Quill" || child.EventTitle != "Invented Guild winner" ||
		child.EventKey != "invented-guild-winner-1787000000000" {
		t.Errorf("a child must keep the data of its group: %+v %v", child, err)
	}
}

// TestLimitlessQuoteOfManyReadsTheList checks that Quote for many markets reads the list of open markets only until it has
// found them all. If the list fails, Quote fails.
func TestLimitlessQuoteOfManyReadsTheList(t *testing.T) {
	t.Parallel()
	var all []protocol.MarketID
	var children []string
	for i := range 30 {
		all = append(all, protocol.MarketID("lmt-c"+strconv.Itoa(i)))
		children = append(children, open(protocol.Limitless, "c"+strconv.Itoa(i)))
	}
	b := limitlessKit.setup(t, map[string]string{
		"/markets/active": `{"totalMarketsCount":99,"data":[{"slug":"g","title":"t","status":"FUNDED","markets":[` + strings.Join(children, ",") + `]}]}`,
	})
	if got, err := b.Quote(t.Context(), all); err != nil || len(got) != 30 || len(b.Paths()) != 1 {
		t.Errorf("the list was read too far: %d markets after %v, %v", len(got), b.Paths(), err)
	}
	b = limitlessKit.setup(t, map[string]string{
		"/markets/" + zed:                 limitlessKit.sample(t, "market_clob_open.json"),
		"/markets/active?limit=25&page=1": limitlessKit.sample(t, "markets_active_page1.json"),
	})
	many := append(all, "lmt-"+zed)
	_, err := b.Quote(t.Context(), many)
	check(t, "a list that fails", err, market.ErrUnavailable)
	before := len(b.Paths())
	if _, err = b.Quote(market.WithPurpose(t.Context(), market.ForConfirm), many); err != nil || len(b.Paths()) != before+len(many) {
		t.Errorf("second quotes: %d requests for %d markets, %v", len(b.Paths())-before, len(many), err)
	}
}

// TestLimitlessBeforeItIsListedAnAnswerIsShort checks that Short is set for a market until a list was read, because only
// lists contain the group of a market.
func TestLimitlessBeforeItIsListedAnAnswerIsShort(t *testing.T) {
	t.Parallel()
	const id, slug = "lmt-ada-quill-1787000000001", "ada-quill-1787000000001"
	b := limitlessKit.setup(t, map[string]string{
		"/markets/active":  limitlessKit.sample(t, "markets_active_page1.json"),
		"/markets/" + slug: limitlessKit.sample(t, "market_group_child.json"),
	})
	got, err := b.Get(t.Context(), id)
	if err != nil || !got.Short || got.Title != "Ada Quill" || got.EventKey != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	listed, _, err := b.ListOpen(t.Context(), "")
	if err != nil || len(listed) == 0 {
		t.Fatal(err)
	}
	for _, m := range listed {
		if m.Short {
			t.Errorf("listed market is short: %+v", m)
		}
	}
	if got, err = b.Get(t.Context(), id); err != nil || got.Short || got.EventKey == "" {
		t.Errorf("market after the list %+v, %v", got, err)
	}
}
