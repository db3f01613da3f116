package venue_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

const (
	river      = "KXRIVER-26OCT31-T4.5"
	riverEvent = `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXRIVER","category":"World"}}`
)

func TestKalshiRulesOfState(t *testing.T) {
	t.Parallel()
	kalshiKit.check(t, stateOf, cases{
		"active":                           {m{}, "open"},
		"active in capitals":               {m{"status": " Active "}, "open"},
		"closes this second":               {m{"close_time": "2026-10-10T12:00:00Z"}, "closed"},
		"closes next second":               {m{"close_time": "2026-10-10T12:00:01Z"}, "open"},
		"no close time":                    {m{"close_time": nil}, "unknown"},
		"unreadable close time":            {m{"close_time": "whenever"}, "unknown"},
		"not open yet":                     {m{"status": "initialized"}, "unknown"},
		"paused":                           {m{"status": "inactive"}, "closed"},
		"closed":                           {m{"status": "closed"}, "closed"},
		"determined":                       {m{"status": "determined", "result": "yes"}, "closed provisional"},
		"amended":                          {m{"status": "amended", "result": "no"}, "closed provisional"},
		"disputed":                         {m{"status": "disputed", "result": "yes"}, "closed provisional disputed"},
		"a value of the list filter":       {m{"status": "settled", "result": "yes"}, "unknown"},
		"an open value of the list filter": {m{"status": "open"}, "unknown"},
		"an unknown status":                {m{"status": "reviewing"}, "unknown"},
		"may be withdrawn":                 {m{"is_provisional": true}, "open"},
		"result without the final status":  {m{"result": "yes", "settlement_value_dollars": "1.0000"}, "open"},
	})
}

func TestKalshiRulesOfOutcome(t *testing.T) {
	t.Parallel()
	outcome := func(result, value any) m {
		return m{"status": "finalized", "result": result, "settlement_value_dollars": value, "close_time": "2026-09-30T18:19:39Z"}
	}
	state := func(m *market.Record) string { return stateOf(m) + " " + closedAt(m) }
	kalshiKit.check(t, state, cases{
		"yes":                   {outcome("yes", "1.0000"), "resolved YES 1 2026-09-30T18:19:39Z"},
		"no":                    {outcome("no", "0.0000"), "resolved NO 0 2026-09-30T18:19:39Z"},
		"yes in capitals":       {outcome("Yes", nil), "resolved YES 1 2026-09-30T18:19:39Z"},
		"blank, one":            {outcome("", "1.0000"), "resolved YES 1 2026-09-30T18:19:39Z"},
		"blank, zero":           {outcome("", "0.000000"), "resolved NO 0 2026-09-30T18:19:39Z"},
		"no member, zero":       {outcome(nil, "0"), "resolved NO 0 2026-09-30T18:19:39Z"},
		"blank, a number":       {outcome("", 0.5), "resolved INVALID 0.5 2026-09-30T18:19:39Z"},
		"blank, nothing":        {outcome("", nil), "resolved INVALID 2026-09-30T18:19:39Z"},
		"a tie":                 {outcome("scalar", "0.5000"), "resolved INVALID 0.5 2026-09-30T18:19:39Z"},
		"a fraction":            {outcome("scalar", "0.2400"), "resolved INVALID 0.24 2026-09-30T18:19:39Z"},
		"six decimals":          {outcome("scalar", "0.123456"), "resolved INVALID 0.123456 2026-09-30T18:19:39Z"},
		"scalar, in full":       {outcome("scalar", "1.0000"), "resolved YES 1 2026-09-30T18:19:39Z"},
		"void":                  {outcome("void", nil), "resolved INVALID 2026-09-30T18:19:39Z"},
		"void without a payout": {outcome("void", "0.0000"), "resolved INVALID 0 2026-09-30T18:19:39Z"},
		"near one is not one":   {outcome("scalar", "0.9999"), "resolved INVALID 0.9999 2026-09-30T18:19:39Z"},
		"above one":             {outcome("scalar", "1.0001"), "closed provisional 2026-09-30T18:19:39Z"},
		"below zero":            {outcome("", "-0.5"), "closed provisional 2026-09-30T18:19:39Z"},
		"no number":             {outcome("scalar", "NaN"), "closed provisional 2026-09-30T18:19:39Z"},
		"an unknown result":     {outcome("split", "0.5000"), "unknown 2026-09-30T18:19:39Z"},
	})
}

func TestKalshiPriceOfARecord(t *testing.T) {
	t.Parallel()
	quote := func(bid, ask, last any) m {
		return m{"yes_bid_dollars": bid, "yes_ask_dollars": ask, "last_price_dollars": last}
	}
	kalshiKit.check(t, priceOf, cases{
		"middle":                   {quote("0.4100", "0.4300", "0.9000"), "4200"},
		"half rounds up":           {quote("0.4100", "0.4101", nil), "4101"},
		"sub-cent":                 {quote("0.012500", "0.013500", nil), "130"},
		"widest that counts":       {quote("0.4000", "0.5000", "0.1000"), "4500"},
		"too wide":                 {quote("0.4000", "0.5001", "0.1000"), "1000"},
		"no bid":                   {quote("0.0000", "0.0500", "0.0400"), "400"},
		"no ask":                   {quote("0.9700", "1.0000", "0.9800"), "9800"},
		"crossed":                  {quote("0.5000", "0.4900", "0.4800"), "4800"},
		"empty book, never traded": {quote("0.0000", "1.0000", "0.0000"), ""},
		"wide, never traded":       {quote("0.0500", "0.6000", "0.0000"), ""},
		"nothing":                  {quote(nil, nil, nil), ""},
		"numbers, not texts":       {quote(0.41, 0.43, nil), "4200"},
		"last above one":           {quote(nil, nil, "1.2"), ""},
		"last below zero":          {quote(nil, nil, "-0.2"), ""},
		"not numbers":              {quote("x", "0.43", "NaN"), ""},
		"whole cents are retired":  {m{"yes_bid": 41, "yes_ask": 43, "last_price": 42, "yes_bid_dollars": nil, "yes_ask_dollars": nil, "last_price_dollars": nil}, ""},
	})
}

func TestKalshiTextsOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes m
		want    string
	}{
		"contained in the title":   {m{"title": "Above 4.5 m?", "yes_sub_title": "above 4.5 M"}, "Above 4.5 m?"},
		"distinguishes candidates": {m{"title": "Who wins?", "yes_sub_title": "Ada Quill"}, "Who wins? – Ada Quill"},
		"no sub title":             {m{"title": "Who wins?", "yes_sub_title": nil}, "Who wins?"},
		"no title":                 {m{"title": nil, "yes_sub_title": "Ada Quill"}, "Invented river gauge on Oct 31, 2026 – Ada Quill"},
		"markup":                   {m{"title": "<b>Who</b> wins?", "yes_sub_title": ""}, "Who wins?"},
	} {
		b := kalshiKit.setup(t, map[string]string{
			"/markets/" + river:       kalshiKit.edit(t, c.changes),
			"/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXRIVER-26OCT31","title":"Invented river gauge on Oct 31, 2026"}}`,
		})
		got, err := b.Get(t.Context(), "kalshi-"+river)
		if err != nil || got.Title != c.want || got.Description == "" || got.EventTitle == "" || got.EventKey != "KXRIVER-26OCT31" {
			t.Errorf("texts of case %s: %q %q %v", name, got.Title, got.Description, err)
		}
	}
}

func TestKalshiLaneOfEventAndSeries(t *testing.T) {
	t.Parallel()
	event := func(category string) string {
		return `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXRIVER","title":"Gauge","category":"` + category + `"},"markets":[]}`
	}
	for category, want := range map[string]protocol.Lane{
		"Politics": "POLITICS", "Elections": "POLITICS", "World": "WORLD", "Crypto": "CRYPTO", "Sports": "SPORT", "Social": "CULTURE",
		"Mentions": "CULTURE", "Science and Technology": "TECH", "Climate and Weather": "SCIENCE", "Health": "SCIENCE", "Economics": "ECONOMY",
		"Financials": "ECONOMY", "Companies": "ECONOMY", "Commodities": "ECONOMY", "Transportation": "OTHER", "Exotics": "OTHER", "": "OTHER",
	} {
		b := kalshiKit.setup(t, map[string]string{
			"/markets/" + river: kalshiKit.sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": event(category),
		})
		got, err := b.Get(t.Context(), "kalshi-"+river)
		if err != nil || got.Lane != want {
			t.Errorf("%q: %s %v, want %s", category, got.Lane, err, want)
		}
	}
	for tags, want := range map[string]protocol.Lane{
		`["Music","Awards"]`: "MUSIC", `["Awards"]`: "ENTERTAINMENT", `null`: "ENTERTAINMENT", `[7]`: "ENTERTAINMENT",
	} {
		b := kalshiKit.setup(t, map[string]string{
			"/markets/" + river: kalshiKit.sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": event("Entertainment"),
			"/series/KXRIVER": `{"series":{"tags":` + tags + `}}`,
		})
		for range 2 {
			got, err := b.Get(t.Context(), "kalshi-"+river)
			if err != nil || got.Lane != want || got.URL != "https://kalshi.com/markets/kxriver" {
				t.Errorf("%s: %s %s %v, want %s", tags, got.Lane, got.URL, err, want)
			}
		}
		if got := b.Paths(); len(got) != 4 || !slices.Contains(got, "/series/KXRIVER") {
			t.Errorf("event and series must be requested once: %v", got)
		}
	}
}

func TestKalshiProofOfAResult(t *testing.T) {
	t.Parallel()
	const ticker = "KXRIVER-26SEP30-T4.5"
	answers := map[string]string{
		"/historical/markets/" + ticker: kalshiKit.sample(t, "market_resolved_yes.json"),
		"/events/KXRIVER-26SEP30":       `{"event":{"event_ticker":"KXRIVER-26SEP30","series_ticker":"KXRIVER","category":"World"}}`,
	}
	got, err := kalshiKit.setup(t, answers).Get(t.Context(), "kalshi-"+ticker)
	if err != nil || stateOf(&got) != "resolved YES 1" || got.URL != "https://kalshi.com/markets/kxriver" {
		t.Errorf("without the series: %+v %v", got, err)
	}
	answers["/series/KXRIVER"] = kalshiKit.sample(t, "series_single.json")
	b := kalshiKit.setup(t, answers)
	if got, err = b.Get(t.Context(), "kalshi-"+ticker); err != nil || got.URL != "https://gauge.example.test/readings" {
		t.Errorf("URL with a settlement source: %q %v", got.URL, err)
	}
	want := []string{"/markets/" + ticker, "/historical/markets/" + ticker, "/events/KXRIVER-26SEP30", "/series/KXRIVER"}
	if asked := b.Paths(); !slices.Equal(asked, want) {
		t.Errorf("requests: %v", asked)
	}
	for _, bad := range []string{"javascript:alert(1)", "http://gauge.example.test/", "https:///readings", "https://" + strings.Repeat("x", 500)} {
		answers["/series/KXRIVER"] = `{"series":{"settlement_sources":[{"url":"` + bad + `"}]}}`
		if got, err = kalshiKit.setup(t, answers).Get(t.Context(), "kalshi-"+ticker); err != nil || got.URL != "https://kalshi.com/markets/kxriver" {
			t.Errorf("URL with an invalid settlement source: %q %v", got.URL, err)
		}
	}
	if _, err := b.Get(t.Context(), "kalshi-"+ticker); err != nil {
		t.Error(err)
	}
}

func TestKalshiMarketDoesNotWaitForItsEvent(t *testing.T) {
	t.Parallel()
	b := kalshiKit.setup(t, map[string]string{"/markets/" + river: kalshiKit.sample(t, "market_open.json")})
	b.Hang("/events/")
	start := time.Now()
	got, err := b.Get(t.Context(), "kalshi-"+river)
	if took := time.Since(start); err != nil || got.Status != protocol.MarketOpen || took > 2*time.Second {
		t.Errorf("%s after %v, %v", got.Status, took, err)
	}
}

func TestKalshiMissingEventIsRequestedOnce(t *testing.T) {
	t.Parallel()
	b := kalshiKit.setup(t, map[string]string{"/markets/" + river: kalshiKit.sample(t, "market_open.json")})
	for range 3 {
		if got, err := b.Get(t.Context(), "kalshi-"+river); err != nil || got.Lane != "OTHER" || got.URL != "" {
			t.Errorf("market without its event: %+v %v", got, err)
		}
	}
	if asked := b.Paths(); len(asked) != 4 {
		t.Errorf("requests: %v", asked)
	}
	b = kalshiKit.setup(t, map[string]string{
		"/markets/" + river:       kalshiKit.sample(t, "market_open.json"),
		"/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXOTHER","category":"World"}}`,
	})
	if got, err := b.Get(t.Context(), "kalshi-"+river); err != nil || got.Lane != "OTHER" {
		t.Errorf("the event of another market: %+v %v", got, err)
	}
	b.Set("/events/KXRIVER-26OCT31", riverEvent)
	if got, err := b.Get(t.Context(), "kalshi-"+river); err != nil || got.Lane != "WORLD" {
		t.Errorf("an unusable answer must not be cached: %+v %v", got, err)
	}
}

func TestKalshiQuoteOfARecord(t *testing.T) {
	t.Parallel()
	none := m{"yes_bid_dollars": nil, "yes_ask_dollars": nil, "no_bid_dollars": nil, "no_ask_dollars": nil}
	with := func(changes m) m {
		out := maps.Clone(none)
		maps.Copy(out, changes)
		return out
	}
	kalshiKit.check(t, quoteOf, cases{
		"dollars of YES":               {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100"}), "3100 7100"},
		"dollars of NO":                {with(m{"no_bid_dollars": "0.6900", "no_ask_dollars": "0.7100"}), "3100 7100"},
		"one of each":                  {with(m{"yes_bid_dollars": "0.2900", "no_bid_dollars": "0.6900"}), "3100 7100"},
		"tenths of a cent":             {with(m{"yes_bid_dollars": "0.012500", "yes_ask_dollars": "0.013510"}), "136 9875"},
		"cents":                        {with(m{"yes_bid": 29, "yes_ask": 31}), "3100 7100"},
		"cents of NO":                  {with(m{"no_bid": 69, "no_ask": 71}), "3100 7100"},
		"retired cents":                {with(m{"yes_bid": 0, "yes_ask": 0, "no_bid": 0, "no_ask": 0}), ""},
		"dollars before retired cents": {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100", "yes_bid": 0, "yes_ask": 0}), "3100 7100"},
		"no book":                      {none, ""},
		"a last trade alone":           {with(m{"last_price_dollars": "0.3000"}), ""},
		"no bids":                      {with(m{"yes_bid_dollars": "0.0000", "yes_ask_dollars": "0.0500"}), ""},
		"no asks":                      {with(m{"yes_bid_dollars": "0.9500", "yes_ask_dollars": "1.0000"}), ""},
		"crossed":                      {with(m{"yes_bid_dollars": "0.3100", "yes_ask_dollars": "0.2900"}), ""},
		"too wide":                     {with(m{"yes_bid_dollars": "0.2000", "yes_ask_dollars": "0.3001"}), ""},
		"no numbers":                   {with(m{"yes_bid_dollars": "NaN", "yes_ask_dollars": "0.3100"}), ""},
		"closed":                       {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100", "status": "closed"}), ""},
	})
}

func TestKalshiClosingTime(t *testing.T) {
	t.Parallel()
	const early, late = "2026-10-09T18:20:31.441Z", "2026-10-09T20:00:00Z"
	kalshiKit.check(t, closedAt, cases{
		"open":                       {m{}, ""},
		"settled before the close":   {m{"status": "finalized", "result": "yes", "close_time": late, "settlement_ts": early}, early},
		"settled after the close":    {m{"status": "finalized", "result": "yes", "close_time": early, "settlement_ts": late}, early},
		"no settlement":              {m{"status": "determined", "result": "yes", "close_time": late}, late},
		"settled, the close ahead":   {m{"status": "finalized", "result": "yes", "close_time": "2026-12-01T00:00:00Z", "settlement_ts": late}, late},
		"paused, the close ahead":    {m{"status": "inactive", "close_time": "2026-12-01T00:00:00Z"}, ""},
		"a date without a time":      {m{"status": "closed", "close_time": "2026-10-09"}, ""},
		"a settlement in the future": {m{"status": "closed", "close_time": early, "settlement_ts": "2026-12-01T00:00:00Z"}, early},
	})
}

func TestKalshiListReadsTheEvents(t *testing.T) {
	t.Parallel()
	b := kalshiKit.setup(t, map[string]string{"/events": kalshiKit.sample(t, "events_page1.json")})
	page, next, err := b.ListOpen(t.Context(), "")
	if err != nil || kalshiKit.ids(page) != "KXLANTERN-27-AQ KXLANTERN-27-BR KXLANTERN-27-ZN" || next == "" {
		t.Fatalf("%s, next %q, %v", kalshiKit.ids(page), next, err)
	}
	for i := range page {
		if page[i].Lane != "ENTERTAINMENT" || page[i].EventTitle != "Who wins the 2027 Lantern Prize?" || page[i].EventKey != "KXLANTERN-27" {
			t.Errorf("listed market: %+v", page[i])
		}
	}
	if got := b.Paths()[0]; got != "/events?limit=100&status=open&with_nested_markets=true" {
		t.Errorf("first page requested as %s", got)
	}
	_, after, _ := strings.Cut(next, ":")
	b.Set("/events", kalshiKit.sample(t, "events_page2_last.json"))
	page, next, err = b.ListOpen(t.Context(), next)
	if err != nil || kalshiKit.ids(page) != "KXRIVER-26OCT31-T4.5" || next != "" {
		t.Fatalf("%s, next %q, %v", kalshiKit.ids(page), next, err)
	}
	if got := b.Paths(); got[len(got)-1] != "/events?cursor="+url.QueryEscape(after)+"&limit=100&status=open&with_nested_markets=true" {
		t.Errorf("second page requested as %v", got)
	}
}

func TestKalshiQuoteReadsManyAtOnce(t *testing.T) {
	t.Parallel()
	b := kalshiKit.setup(t, map[string]string{"/markets": kalshiKit.sample(t, "markets_page2_last.json")})
	got, err := b.Quote(t.Context(), []protocol.MarketID{
		"kalshi-KXLANTERN-27-ZN", "kalshi-KXGRAIN-26NOV-B2.5", "kalshi-KXRIVER-26OCT31-T5.0", "kalshi-KXLANTERN-27-ZN", "7100001", "lmt-x",
	})
	if err != nil || kalshiKit.ids(got) != "KXGRAIN-26NOV-B2.5 KXLANTERN-27-ZN KXRIVER-26OCT31-T5.0" {
		t.Fatalf("quoted markets: %s, %v", kalshiKit.ids(got), err)
	}
	for _, m := range got {
		if paused := m.ID == "kalshi-KXRIVER-26OCT31-T5.0"; paused != (m.Status == protocol.MarketClosed) || paused && m.Quote != nil {
			t.Errorf("%s is %s with quote %+v", m.ID, m.Status, m.Quote)
		}
	}
	if asked := b.Paths()[0]; asked != "/markets?limit=1000&tickers=KXLANTERN-27-ZN%2CKXGRAIN-26NOV-B2.5%2CKXRIVER-26OCT31-T5.0" {
		t.Errorf("requests: %s", asked)
	}
	if got, err = b.Quote(t.Context(), []protocol.MarketID{"kalshi-KXOTHER"}); err != nil || len(got) != 0 {
		t.Errorf("markets that were not requested: %s %v", kalshiKit.ids(got), err)
	}
	for _, garbage := range []string{
		`{}`, `{"markets":null}`, `{"markets":{"a":1}}`, `{"markets":[5]}`, `[]`, `{"markets":[`,
		`{"markets":[{"event_ticker":"KXA","markets":[{"ticker":5}]}]}`,
	} {
		_, err := kalshiKit.setup(t, map[string]string{"/markets": garbage}).Quote(t.Context(), []protocol.MarketID{"kalshi-KXB"})
		check(t, garbage, err, market.ErrUnavailable)
	}
	var cold []protocol.MarketID
	var records []string
	for i := range 30 { // each belongs to a different event
		cold = append(cold, protocol.MarketID(fmt.Sprintf("kalshi-KX%d", i)))
		records = append(records, fmt.Sprintf(`{"ticker":"KX%d","event_ticker":"KXE%d","status":"active","close_time":"2027-01-01T00:00:00Z"}`, i, i))
	}
	b = kalshiKit.setup(t, map[string]string{"/markets": `{"markets":[` + strings.Join(records, ",") + `]}`})
	if got, err = b.Quote(t.Context(), cold); err != nil || len(got) != 30 || len(b.Paths()) != 21 {
		t.Errorf("%d markets after %d requests, %v", len(got), len(b.Paths()), err)
	}
	b = kalshiKit.setup(t, map[string]string{"/markets": `{"markets":[],"cursor":""}`})
	many := make([]protocol.MarketID, 250)
	for i := range many {
		many[i] = protocol.MarketID(fmt.Sprintf("kalshi-KX%d", i))
	}
	if got, err = b.Quote(t.Context(), many); err != nil || len(got) != 0 || len(b.Paths()) != 3 {
		t.Errorf("250 markets in %d requests, %v", len(b.Paths()), err)
	}
}

// TestKalshiWithoutItsEventAnAnswerIsShort checks that a market whose event cannot be read is still returned, with Short
// set.
func TestKalshiWithoutItsEventAnAnswerIsShort(t *testing.T) {
	t.Parallel()
	event := strings.Replace(kalshiKit.sample(t, "event_single_nested.json"), "KXLANTERN-27", "KXRIVER-26OCT31", 1)
	b := kalshiKit.setup(t, map[string]string{
		"/markets": kalshiKit.sample(t, "markets_page1.json"), "/markets/" + river: kalshiKit.sample(t, "market_open.json"),
		"/events/KXRIVER-26OCT31": "{",
	})
	got, err := b.Get(t.Context(), "kalshi-"+river)
	if err != nil || !got.Short || got.EventTitle != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	quoted, err := b.Quote(t.Context(), []protocol.MarketID{"kalshi-" + river})
	if err != nil || len(quoted) != 1 || !quoted[0].Short {
		t.Errorf("quoted %+v, %v", quoted, err)
	}
	b.Set("/events/KXRIVER-26OCT31", event)
	quoted, err = b.Quote(t.Context(), []protocol.MarketID{"kalshi-" + river})
	if err != nil || len(quoted) != 1 || quoted[0].Short || quoted[0].EventTitle == "" {
		t.Errorf("quoted with its event %+v, %v", quoted, err)
	}
	if got, err = b.Get(t.Context(), "kalshi-"+river); err != nil || got.Short {
		t.Errorf("got with its event %+v, %v", got, err)
	}
}

// TestKalshiWithoutItsSeriesTheLaneIsAGuess checks that Short is set if the tags of the series would decide the lane and
// cannot be read.
func TestKalshiWithoutItsSeriesTheLaneIsAGuess(t *testing.T) {
	t.Parallel()
	b := kalshiKit.setup(t, map[string]string{
		"/markets/" + river:       kalshiKit.sample(t, "market_open.json"),
		"/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXSONG","title":"Song","category":"Entertainment"}}`,
		"/series/KXSONG":          "{",
	})
	got, err := b.Get(t.Context(), "kalshi-"+river)
	if err != nil || !got.Short || got.Lane != "OTHER" {
		t.Errorf("got %+v, %v", got, err)
	}
	b.Set("/series/KXSONG", `{"series":{"tags":["Music"]}}`)
	if got, err = b.Get(t.Context(), "kalshi-"+river); err != nil || got.Short || got.Lane != "MUSIC" {
		t.Errorf("got with its series %+v, %v", got, err)
	}
}
