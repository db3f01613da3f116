package venue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// last returns the query parameters of the last request that the test host received.
func last(t *testing.T, b *bundle) url.Values {
	t.Helper()
	paths := b.Paths()
	u, err := url.Parse(paths[len(paths)-1])
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func TestPolymarketForeignIDsAreNotRequested(t *testing.T) {
	t.Parallel()
	b := polymarketKit.setup(t, nil)
	for _, id := range []protocol.MarketID{"7", "", "07x", "٧", "../7", protocol.MarketID(strings.Repeat("7", 21))} {
		if _, err := b.Get(t.Context(), id); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("market id %q: %v", id, err)
		}
	}
	if asked := b.Paths(); len(asked) != 1 {
		t.Errorf("requests: %v; want the first id alone", asked)
	}
}

func TestPolymarketListPages(t *testing.T) {
	t.Parallel()
	first := polymarketKit.sample(t, "markets_keyset_page1.json")
	b := polymarketKit.setup(t, map[string]string{"/gamma/markets/keyset": first})
	page, next, err := b.ListOpen(t.Context(), "")
	if err != nil || len(page) != 3 || next == "" {
		t.Fatalf("%d markets, next %q, %v", len(page), next, err)
	}
	if q := last(t, b); q.Get("closed") != "false" || q.Get("limit") != "100" || q.Get("include_tag") != "true" || q.Has("after_cursor") {
		t.Errorf("first page requested with %v", q)
	}
	b.Set("/gamma/markets/keyset", polymarketKit.sample(t, "markets_keyset_page2_last.json"))
	page, next, err = b.ListOpen(t.Context(), next)
	if err != nil || len(page) != 2 || next != "" {
		t.Fatalf("%d markets, next %q, %v", len(page), next, err)
	}
	if q := last(t, b); q.Get("after_cursor") == "" || q.Get("closed") != "false" {
		t.Errorf("second page requested with %v", q)
	}
}

func TestPolymarketQuoteReadsMetadataAndBooksInTwoRequests(t *testing.T) {
	t.Parallel()
	open, child := polymarketKit.sample(t, "market_open.json"), polymarketKit.sample(t, "market_open_negrisk_child.json")
	proposed := polymarketKit.sample(t, "market_provisional_proposed.json")
	list := fmt.Sprintf(`{"markets":[%s,%s,%s]}`, open, child, proposed)
	const token = "75350934332311324234541427377712275198977982957664824366419065486241244037504"
	b := polymarketKit.setup(t, map[string]string{"/gamma/markets/keyset": list, "/clob/books": fmt.Sprintf(
		`[{"asset_id":%q,"timestamp":"1","bids":[{"price":"0.3","size":"1"},{"price":"0.41","size":"1"}],"asks":[{"price":"0.43","size":"2"}]}]`, token)})
	got, err := b.Quote(t.Context(), []protocol.MarketID{"7100001", "7100005", "7100007", "7100001", "kalshi-X"})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d markets, %v", len(got), err)
	}
	for _, m := range got {
		want := map[protocol.MarketID]protocol.Bps{"7100001": 4200, "7100005": 105, "7100007": 9995}[m.ID]
		if m.Yes == nil || *m.Yes != want {
			t.Errorf("%s: %v, want %d", m.ID, m.Yes, want)
		}
	}
	if q := got[0].Quote; q == nil || q.Yes != 4300 || q.No != 5900 || !q.At.Equal(venuetest.Noon) || q.Rule != "polymarket.book" || len(q.SHA256) != 32 {
		t.Errorf("quote %+v", q)
	}
	if got[1].Quote != nil || got[2].Quote != nil {
		t.Errorf("markets without an order book have the quotes %+v, %+v", got[1].Quote, got[2].Quote)
	}
	first := b.Paths()
	asked := slices.ContainsFunc(first, func(path string) bool { return strings.Count(path, "id=") == 3 })
	if len(first) != 2 || !asked {
		t.Errorf("requests: %v", first)
	}
	b.Unset("/clob/books")
	if got, err = b.Quote(t.Context(), []protocol.MarketID{"7100001"}); err != nil || *got[0].Yes != 6150 || got[0].Quote != nil {
		t.Errorf("without the book: %+v, %v", got, err)
	}
	before := b.Paths()
	if len(before) != len(first)+2 {
		t.Errorf("%d requests for a market whose token is cached", len(before)-len(first))
	}
	many := make([]protocol.MarketID, 250)
	for i := range many {
		many[i] = protocol.MarketID(strconv.Itoa(7_200_000 + i))
	}
	if _, err := b.Quote(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Paths()) - len(before); n < 3 {
		t.Errorf("250 markets in %d requests", n)
	}
}

func TestPolymarketOrderBookRecordSettlesMarketWithoutOracleState(t *testing.T) {
	t.Parallel()
	pinned := polymarketKit.sample(t, "market_closed_pinned_no_oracle_status.json")
	var head struct{ ConditionID string }
	if err := json.Unmarshal([]byte(pinned), &head); err != nil {
		t.Fatal(err)
	}
	path := "/clob/markets/" + head.ConditionID
	winner := polymarketKit.sample(t, "clob_market_winner_for_closed_pinned.json")
	no := strings.NewReplacer(`"winner": true`, `"winner": false`).Replace(winner)
	second := strings.Replace(no, `"price": 0,
      "winner": false`, `"price": 0, "winner": true`, 1)
	half := strings.Replace(no, `"is_50_50_outcome": false`, `"is_50_50_outcome": true`, 1)
	evenPrices := strings.Replace(pinned, `"[\"1\", \"0\"]"`, `"[\"0.5\", \"0.5\"]"`, 1)
	old := strings.Replace(pinned, "2026-10-09 16:10:44+00", "2026-10-03 11:59:59+00", 1)
	oldEven := strings.Replace(evenPrices, "2026-10-09 16:10:44+00", "2021-01-03 11:59:59+00", 1)
	for name, c := range map[string]struct{ market, book, want string }{
		"winner flag":                         {pinned, winner, "resolved YES 1"},
		"winner on the second":                {pinned, second, "resolved NO 0"},
		"no winner":                           {pinned, no, "closed provisional"},
		"book not closed":                     {pinned, strings.Replace(winner, `"closed": true`, `"closed": false`, 1), "closed provisional"},
		"half and half, prices disagree":      {pinned, half, "closed provisional"},
		"half and half":                       {evenPrices, half, "resolved INVALID 0.5"},
		"book of another market":              {pinned, strings.Replace(winner, "0x4baae", "0x4baaf", 1), "closed provisional"},
		"no book, closed a day":               {pinned, "", "closed provisional"},
		"no book, closed eight days":          {old, "", "resolved YES 1"},
		"no book, closed for years, even":     {oldEven, "", "closed provisional"},
		"closed for days, but book undecided": {old, no, "closed provisional"},
	} {
		more := map[string]string{}
		if c.book != "" {
			more[path] = c.book
		}
		m, err := polymarketKit.one(t, c.market, more)
		if state := stateOf(&m); err != nil || state != c.want {
			t.Errorf("%s: %s, want %s, %v", name, state, c.want, err)
		}
	}
}

func TestPolymarketRulesInOrder(t *testing.T) {
	t.Parallel()
	polymarketKit.check(t, stateOf, cases{
		"plain":                      {m{}, "open"},
		"archived has precedence":    {m{"archived": true, "closed": true, "umaResolutionStatus": "disputed"}, "unknown"},
		"disputed before closed":     {m{"closed": true, "umaResolutionStatus": "disputed", "outcomePrices": `["1","0"]`}, "closed provisional disputed"},
		"proposed while trading":     {m{"umaResolutionStatus": "proposed"}, "closed provisional"},
		"an unknown state":           {m{"umaResolutionStatus": "reconsidered"}, "closed provisional"},
		"resolved in capitals":       {m{"closed": true, "umaResolutionStatus": "Resolved", "outcomePrices": `["0.0009","0.9991"]`}, "resolved NO 0"},
		"resolved beyond tolerance":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0.0011","0.9989"]`}, "closed provisional"},
		"resolved without prices":    {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": nil}, "closed provisional"},
		"resolved, prices both one":  {m{"closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["1","1"]`}, "closed provisional"},
		"resolved but not closed":    {m{"umaResolutionStatus": "resolved", "outcomePrices": `["1","0"]`}, "closed provisional"},
		"book off":                   {m{"enableOrderBook": false}, "unknown"},
		"book flag missing":          {m{"enableOrderBook": nil}, "unknown"},
		"placeholder without tokens": {m{"clobTokenIds": nil, "outcomePrices": nil, "acceptingOrders": false}, "unknown"},
		"paused":                     {m{"acceptingOrders": false}, "closed"},
		"accepting flag missing":     {m{"acceptingOrders": nil}, "open"},
		"inactive has no effect":     {m{"active": false}, "open"},
		"ends this second":           {m{"endDate": "2026-10-10T12:00:00Z"}, "open provisional"},
		"ends next second":           {m{"endDate": "2026-10-10T12:00:01Z"}, "open"},
		"no end":                     {m{"endDate": nil}, "open"},
		"unreadable end":             {m{"endDate": "whenever"}, "open"},
		"second outcome is yes":      {m{"outcomes": `["No","Yes"]`, "closed": true, "umaResolutionStatus": "resolved", "outcomePrices": `["0","1"]`}, "resolved YES 1"},
	})
}

func TestPolymarketPriceOfARecord(t *testing.T) {
	t.Parallel()
	polymarketKit.check(t, priceOf, cases{
		"outcome price":          {m{}, "6150"},
		"half rounds up":         {m{"outcomePrices": `["0.61505","0.38495"]`}, "6151"},
		"below half":             {m{"outcomePrices": `["0.61504999","0.38495001"]`}, "6150"},
		"numbers, not texts":     {m{"outcomePrices": `[0.25,0.75]`}, "2500"},
		"yes is second":          {m{"outcomes": `["No","YES"]`}, "3850"},
		"both zero: the book":    {m{"outcomePrices": `["0","0"]`}, "6150"},
		"missing: the book":      {m{"outcomePrices": nil, "bestBid": 0.05, "bestAsk": 0.0501}, "501"},
		"book, yes second":       {m{"outcomePrices": nil, "outcomes": `["No","Yes"]`, "bestBid": 0.2, "bestAsk": 0.3}, "7500"},
		"empty book: last trade": {m{"outcomePrices": nil, "bestBid": 0, "bestAsk": 1, "lastTradePrice": 0.4}, "4000"},
		"crossed book":           {m{"outcomePrices": nil, "bestBid": 0.7, "bestAsk": 0.6, "lastTradePrice": 0.4}, "4000"},
		"nothing":                {m{"outcomePrices": nil, "bestBid": nil, "bestAsk": nil, "lastTradePrice": 0}, ""},
		"negative price":         {m{"outcomePrices": `["-0.5","1.5"]`, "bestBid": nil, "lastTradePrice": 0}, ""},
		"not a number":           {m{"outcomePrices": `["NaN","1"]`, "bestBid": nil, "lastTradePrice": nil}, ""},
		"one price":              {m{"outcomePrices": `["0.5"]`, "bestBid": nil, "lastTradePrice": nil}, ""},
	})
}

// level returns one side of an order book in JSON, with a single price.
func level(price string) string {
	if price == "" {
		return "[]"
	}
	return fmt.Sprintf(`[{"price":%q,"size":"5"}]`, price)
}

func TestPolymarketGetReadsTheBookOfAnOpenMarket(t *testing.T) {
	t.Parallel()
	open := polymarketKit.sample(t, "market_open.json")
	swapped := venuetest.Edit(t, protocol.Polymarket, open, map[string]any{"outcomes": `["No", "Yes"]`})
	for name, c := range map[string]struct {
		record, bid, ask string
		quote, middle    string // empty: no quote
	}{
		"a cent apart":          {open, "0.29", "0.31", "3100 7100", "3000"},
		"equal":                 {open, "0.3", "0.3", "3000 7000", "3000"},
		"tenths of a bps":       {open, "0.30001", "0.30009", "3001 7000", "3001"},
		"YES is second":         {swapped, "0.29", "0.31", "7100 3100", "7000"},
		"widest spread":         {open, "0.25", "0.35", "3500 7500", "3000"},
		"too wide":              {open, "0.25", "0.351", "", "6150"},
		"no bids":               {open, "", "0.31", "", "6150"},
		"no asks":               {open, "0.29", "", "", "6150"},
		"crossed":               {open, "0.32", "0.31", "", "6150"},
		"an invalid price":      {open, "NaN", "0.31", "", "6150"},
		"an ask of 1":           {open, "0.995", "1", "", "6150"},
		"rounded to 1":          {open, "0.9999", "0.99991", "", "6150"},
		"the last bps":          {open, "0.9998", "0.9999", "9999 2", "9999"},
		"a bid of 0":            {open, "0", "0.01", "", "6150"},
		"the size of the level": {open, `0.29","size":"0"},{"price":"0.28`, "0.31", "3100 7200", "2950"},
	} {
		m, err := polymarketKit.one(t, c.record, map[string]string{"/clob/book": bookOf(c.bid, c.ask)})
		if err != nil || m.Yes == nil {
			t.Errorf("market of case %s: %+v %v", name, m, err)
			continue
		}
		if q := quoteOf(&m); q != c.quote || priceOf(&m) != c.middle {
			t.Errorf("%s: quote %q, middle %s, want %q and %s", name, q, priceOf(&m), c.quote, c.middle)
		}
	}
}

// bookOf returns an order book in JSON for the token of market_open.json.
func bookOf(bid, ask string) string {
	bids := level(bid)
	if strings.Contains(bid, "size") { // bid contains a price and a size
		bids = `[{"price":"` + bid + `","size":"5"}]`
	}
	return fmt.Sprintf(`{"market":"0x1","asset_id":"75350934332311324234541427377712275198977982957664824366419065486241244037504","timestamp":"1","bids":%s,"asks":%s}`,
		bids, level(ask))
}

func TestPolymarketQuoteSource(t *testing.T) {
	t.Parallel()
	raw := polymarketKit.sample(t, "clob_book.json")
	m, err := polymarketKit.one(t, polymarketKit.sample(t, "market_open.json"), map[string]string{"/clob/book": raw})
	if err != nil || quoteOf(&m) != "6200 3900" || !hasSource(m.Quote, "polymarket.book", raw) {
		t.Errorf("quote and its source: %+v %v", m.Quote, err)
	}
}

func TestPolymarketOnlyAnOpenMarketHasAQuote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"market_closed_not_resolved.json", "market_provisional_proposed.json", "market_provisional_disputed_still_trading.json", "market_resolved_yes.json",
	} {
		m, err := polymarketKit.one(t, polymarketKit.sample(t, name), map[string]string{"/clob/book": bookOf("0.29", "0.31"), "/clob/books": "[]"})
		if err != nil || m.Quote != nil {
			t.Errorf("quote of %s: %+v %v", name, m.Quote, err)
		}
	}
	open := polymarketKit.sample(t, "market_open.json")
	other := strings.Replace(bookOf("0.29", "0.31"), "7535", "7536", 1)
	for name, book := range map[string]string{"another token": other, "garbage": "[", "a list": "[]", "null": "null"} {
		if m, err := polymarketKit.one(t, open, map[string]string{"/clob/book": book}); err != nil || m.Quote != nil || *m.Yes != 6150 {
			t.Errorf("quote with an order book of %s: %+v %v", name, m.Quote, err)
		}
	}
}

// TestPolymarketClosingTime checks that ClosedAt of a market is the time given by the venue, and nil until trading has
// ended.
func TestPolymarketClosingTime(t *testing.T) {
	t.Parallel()
	closed := polymarketKit.sample(t, "market_resolved_yes.json")
	at := func(text string) string {
		return venuetest.Edit(t, protocol.Polymarket, closed, map[string]any{"closedTime": text})
	}
	for text, want := range map[string]string{
		"2026-10-01 10:11:12.345678+00": "2026-10-01T10:11:12.345Z", "2026-10-01": "", "": "", "soon": "",
		"2026-10-10 12:00:00+00": "2026-10-10T12:00:00Z", "2026-10-10 12:00:01+00": "",
	} {
		m, err := polymarketKit.one(t, at(text))
		if got := closedAt(&m); err != nil || got != want {
			t.Errorf("%q: closed at %q, want %q, %v", text, got, want, err)
		}
	}
	open := polymarketKit.edit(t, m{"closedTime": "2026-10-01 10:11:12+00"})
	if m, err := polymarketKit.one(t, open); err != nil || m.ClosedAt != nil {
		t.Errorf("an open market is closed at %v, %v", m.ClosedAt, err)
	}
}

const historyPath = "/clob/prices-history"

func TestPolymarketHistorySamples(t *testing.T) {
	t.Parallel()
	closed := time.Date(2026, 9, 20, 6, 12, 29, 0, time.UTC)
	for _, c := range []struct {
		file   string
		market history.Book
		n      int
		first  history.Point
		last   history.Point
	}{
		{"clob_prices_history_1d.json", history.Book{}, 24, history.Point{T: 1791547200, P: 0.6}, history.Point{T: 1791554103, P: 0.6075}},
		{"clob_prices_history_1d.json", history.Book{YesIndex: 1}, 24, history.Point{T: 1791547200, P: 0.4}, history.Point{T: 1791554103, P: 0.3925}},
		{"clob_prices_history_duplicate_times.json", history.Book{}, 3, history.Point{T: 1791547200, P: 0.612}, history.Point{T: 1791547321, P: 0.6125}},
		{"clob_prices_history_resolved_window.json", history.Book{ClosedAt: &closed}, 6, history.Point{T: 1789862400, P: 0.88}, history.Point{T: 1789880400, P: 0.9995}},
		{"clob_prices_history_empty.json", history.Book{}, 0, history.Point{}, history.Point{}},
	} {
		b := polymarketKit.setup(t, map[string]string{historyPath: polymarketKit.sample(t, c.file)})
		c.market.TokenID = "77"
		got, err := b.Venue.(history.Venue).History(t.Context(), c.market, protocol.IntervalDay)
		if err != nil || len(got) != c.n {
			t.Errorf("%s: %d points, %v", c.file, len(got), err)
			continue
		}
		for i := range got[:max(len(got)-1, 0)] {
			if got[i].T >= got[i+1].T {
				t.Errorf("%s: time of point %d is not after the previous one", c.file, i)
			}
		}
		if c.n > 0 && (got[0] != c.first || got[c.n-1] != c.last) {
			t.Errorf("%s: from %v to %v", c.file, got[0], got[c.n-1])
		}
	}
}

func TestPolymarketHistoryRequests(t *testing.T) {
	t.Parallel()
	closed := venuetest.Noon.Add(-40 * 24 * time.Hour)
	b := polymarketKit.setup(t, map[string]string{historyPath: `{"history":[]}`})
	for _, c := range []struct {
		m    history.Book
		i    protocol.Interval
		want string
	}{
		{history.Book{}, protocol.IntervalHour, "fidelity=1&interval=1h&market=77"},
		{history.Book{}, protocol.IntervalDay, "fidelity=5&interval=1d&market=77"},
		{history.Book{}, protocol.IntervalWeek, "fidelity=30&interval=1w&market=77"},
		{history.Book{}, protocol.IntervalAll, "fidelity=720&interval=max&market=77"},
		{history.Book{ClosedAt: &closed}, protocol.IntervalAll, "fidelity=720&interval=max&market=77"},
		{history.Book{ClosedAt: &closed}, protocol.IntervalWeek, "endTs=1788177600&fidelity=30&market=77&startTs=1787572800"},
	} {
		c.m.TokenID = "77"
		if _, err := b.Venue.(history.Venue).History(t.Context(), c.m, c.i); err != nil {
			t.Fatal(err)
		}
		if got := last(t, b).Encode(); got != c.want {
			t.Errorf("%s: %s, want %s", c.i, got, c.want)
		}
	}
	asked := len(b.Paths())
	for _, token := range []string{"", "abc", "../x", strings.Repeat("1", 81)} {
		if got, err := b.Venue.(history.Venue).History(t.Context(), history.Book{TokenID: token}, protocol.IntervalDay); err != nil || len(got) != 0 {
			t.Errorf("token %q: %v %v", token, got, err)
		}
	}
	if len(b.Paths()) != asked {
		t.Error("a request with an invalid token was sent")
	}
}

func TestPolymarketHistoryRejectsGarbage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"history":{"t":"x"}}`, `{"history":[{"t":1.5,"p":"x"}]}`, `[`, `null`} {
		b := polymarketKit.setup(t, map[string]string{historyPath: body})
		if got, err := b.Venue.(history.Venue).History(t.Context(), history.Book{TokenID: "77"}, protocol.IntervalDay); !errors.Is(err, market.ErrUnavailable) {
			t.Errorf("history from %s: %v %v", body, got, err)
		}
	}
	b := polymarketKit.setup(t, map[string]string{historyPath: `{"history":[{"t":1791547200,"p":-0.2},{"t":1791547201,"p":"NaN"},{"t":1791547202,"p":1.2},{"t":1791547203,"p":5e-05},{"t":99999999999,"p":0.5}]}`})
	got, err := b.Venue.(history.Venue).History(t.Context(), history.Book{TokenID: "77"}, protocol.IntervalDay)
	if err != nil || len(got) != 1 || got[0] != (history.Point{T: 1791547203, P: 0.0001}) {
		t.Errorf("history with invalid points: %v %v", got, err)
	}
}

// readSimulator returns an adapter for the simulator with a separate rate limit and circuit breaker.
func readSimulator(t *testing.T, sim *venuetest.Simulator) *polymarket.Adapter {
	t.Helper()
	return venuetest.Adapters(t, sim.URL, venue.NewMeter(prometheus.NewRegistry()), time.Now)[protocol.Polymarket].(*polymarket.Adapter)
}

func TestPolymarketLifeOfASimulatedMarket(t *testing.T) {
	t.Parallel()
	sim := venuetest.StartSimulator(t, "")
	a := readSimulator(t, sim)
	id := sim.Create(protocol.Polymarket, "Will the invented canal be full?", `,"yesPrice":0.25,"tags":["Weather"]`)
	change := func(body string) { sim.Post("polymarket/markets/"+string(id), body) }
	read := func(step, state, price string) market.Record {
		t.Helper()
		m, err := a.Get(t.Context(), id)
		if err != nil || stateOf(&m) != state || priceOf(&m) != price {
			t.Fatalf("market in state %s: %+v %v", step, m, err)
		}
		return m
	}
	m := read("new", "open", "2500")
	if m.Lane != "SCIENCE" || m.EventKey == "" || m.URL == "" {
		t.Errorf("new market: %+v", m)
	}
	change(`{"yesPrice":0.61505}`)
	quoted, err := a.Quote(t.Context(), []protocol.MarketID{id})
	if err != nil || len(quoted) != 1 || *quoted[0].Yes != 6151 {
		t.Errorf("quote: %+v %v", quoted, err)
	}
	points, err := a.History(t.Context(), history.Book{TokenID: m.ClobTokenID}, protocol.IntervalAll)
	if err != nil || len(points) > 1 {
		t.Errorf("history: %v %v", points, err)
	}
	change(`{"state":"proposed","outcome":"NO"}`)
	read("proposed", "closed provisional", "6151")
	change(`{"state":"disputed"}`)
	read("disputed", "closed provisional disputed", "6151")
	change(`{"state":"closed"}`)
	read("closed", "closed provisional", "6151")
	if quoted, err = a.Quote(t.Context(), []protocol.MarketID{id}); err != nil || len(quoted) != 0 {
		t.Errorf("quote of a closed market: %+v %v", quoted, err)
	}
	change(`{"state":"resolved","outcome":"INVALID"}`)
	m = read("resolved", "resolved INVALID 0.5", "5000")
	if *m.Payout != "0.5" || m.Liquidity != nil || m.ClosedAt == nil {
		t.Errorf("resolved market: %+v", m)
	}
	if _, err := a.Get(t.Context(), "1999999999"); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
}

func TestPolymarketFaultsOfTheVenue(t *testing.T) {
	t.Parallel()
	sim := venuetest.StartSimulator(t, "")
	id := sim.Create(protocol.Polymarket, "Will the invented canal be full?", `,"yesPrice":0.25`)
	m, err := readSimulator(t, sim).Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"refuse", "hang", "slow", "garbage", "429"} {
		sim.Post("polymarket/fault", `{"mode":"`+mode+`","seconds":60}`)
		a := readSimulator(t, sim)
		for range 4 { // the simulator sends three forms of garbage
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			start := time.Now()
			if _, err := a.Get(ctx, id); !errors.Is(err, market.ErrUnavailable) {
				t.Errorf("%s: get: %v", mode, err)
			}
			if _, _, err := a.ListOpen(ctx, ""); !errors.Is(err, market.ErrUnavailable) {
				t.Errorf("%s: list: %v", mode, err)
			}
			if _, err := a.History(ctx, history.Book{TokenID: m.ClobTokenID}, protocol.IntervalDay); !errors.Is(err, market.ErrUnavailable) {
				t.Errorf("%s: history: %v", mode, err)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%s: three reads within 500 ms took %v", mode, took)
			}
			cancel()
		}
		sim.Post("polymarket/fault", `{"mode":"none"}`)
		if _, err := readSimulator(t, sim).Get(t.Context(), id); err != nil {
			t.Errorf("after %s: %v", mode, err)
		}
	}
}
