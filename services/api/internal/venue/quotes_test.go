package venue_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func TestNewQuote(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 123_456_789, time.UTC)
	for name, c := range map[string]struct {
		bid, ask string
		yes, no  protocol.Bps // 0: no quote
	}{
		"integrity vector, filing":       {"0.29", "0.31", 3100, 7100},
		"integrity vector, second quote": {"0.33", "0.35", 3500, 6700},
		"a tenth of a bps more":          {"0.29", "0.31001", 3101, 7100},
		"a tenth of a bps less":          {"0.28999", "0.31", 3100, 7101},
		"binary float noise up and down": {"0.29000000000000004", "0.30999999999999994", 3100, 7100},
		"binary float noise down and up": {"0.28999999999999998", "0.31000000000000005", 3100, 7100},
		"a locked book":                  {"0.4034871", "0.4034871", 4035, 5966},
		"the lowest prices":              {"0.0001", "0.0001", 1, 9999},
		"the highest prices":             {"0.9999", "0.9999", 9999, 1},
		"a spread of 1000 bps":           {"0.25", "0.35", 3500, 7500},
		"a wider spread":                 {"0.25", "0.350001", 0, 0},
		"a crossed book":                 {"0.31", "0.29", 0, 0},
		"no bids":                        {"0", "0.05", 0, 0},
		"no asks":                        {"0.95", "1", 0, 0},
		"YES rounds up to 10000":         {"0.9999", "0.99995", 0, 0},
		"NO rounds up to 10000":          {"0.00005", "0.0001", 0, 0},
		"below zero":                     {"-0.1", "0.01", 0, 0},
		"above one":                      {"0.99", "1.1", 0, 0},
	} {
		bid, ok1 := loosejson.ParsePrice(c.bid)
		ask, ok2 := loosejson.ParsePrice(c.ask)
		q := venue.NewQuote("rule", bid, ask, at)
		if !ok1 || !ok2 || (q == nil) != (c.yes == 0) || q != nil && (q.Yes != c.yes || q.No != c.no || !q.At.Equal(at.Truncate(time.Millisecond)) || q.Rule != "rule") {
			t.Errorf("%s: %+v, want %d and %d", name, q, c.yes, c.no)
		}
	}
	if q := venue.NewQuote("rule", loosejson.One/2, loosejson.One/2, time.Time{}); q != nil {
		t.Errorf("a quote without a time: %+v", q)
	}
}

func TestTimeOfAnAnswer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	date := func(ago time.Duration) string { return now.Add(-ago).Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		date, age string
		want      time.Time // zero: no time
	}{
		"fresh":                      {date(2 * time.Second), "", now.Add(-2 * time.Second)},
		"from a cache":               {date(2 * time.Second), "290", now.Add(-292 * time.Second)},
		"a clock in the future":      {date(-time.Hour), "", now},
		"future, from a cache":       {date(-time.Hour), "3610", now.Add(-10 * time.Second)},
		"no date":                    {"none", "", time.Time{}},
		"an invalid date":            {"yesterday", "", time.Time{}},
		"an invalid age":             {date(0), "soon", time.Time{}},
		"an age below zero":          {date(0), "-5", time.Time{}},
		"an age beyond any duration": {date(0), "99999999999", time.Time{}},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = []string{c.date}
			if c.date == "none" {
				w.Header()["Date"] = nil
			}
			if c.age != "" {
				w.Header().Set("Age", c.age)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{}`))
		}))
		client, err := venue.NewClient("polymarket", srv.URL, 1000, venue.NewMeter(prometheus.NewRegistry()), func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Read(t.Context(), "x", "/", nil)
		if err != nil || !answer.At.Equal(c.want) || len(answer.SHA256) != 32 {
			t.Errorf("%s: %v %v, want %v", name, answer.At, err, c.want)
		}
		srv.Close()
	}
}

func TestEndedReturnsTheEarliestPastTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		times []time.Time
		want  time.Time
	}{
		"one":                      {[]time.Time{now.Add(-time.Hour)}, now.Add(-time.Hour)},
		"now":                      {[]time.Time{now}, now},
		"one in the future":        {[]time.Time{now.Add(time.Second)}, time.Time{}},
		"the earlier":              {[]time.Time{now.Add(-time.Hour), now.Add(-2 * time.Hour)}, now.Add(-2 * time.Hour)},
		"a future time is ignored": {[]time.Time{now.Add(time.Hour), now.Add(-time.Minute)}, now.Add(-time.Minute)},
		"none":                     {[]time.Time{{}}, time.Time{}},
	} {
		if got := venue.Ended(now, c.times...); (got == nil) != c.want.IsZero() || got != nil && !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestQuotesOfTheSimulator reads simulated markets of each venue through its adapter, one by one and together. It covers
// order books around a price, given order books, order books without a quote, and closing times.
func TestQuotesOfTheSimulator(t *testing.T) {
	t.Parallel()
	sim := venuetest.StartSimulator(t, "")
	for name, a := range venuetest.Adapters(t, sim.URL, venue.NewMeter(prometheus.NewRegistry()), time.Now) {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			rule := map[protocol.Provider]string{
				"polymarket": "polymarket.book", "kalshi": "kalshi.market", "limitless": "limitless.prices", "manifold": "manifold.probability",
			}[name]
			kind := ""
			if name == "limitless" {
				kind = `,"kind":"clob"`
			}
			create := func(price float64) protocol.MarketID {
				return sim.Create(name, "Will the invented canal be full?", fmt.Sprintf(`,"yesPrice":%v%s`, price, kind))
			}
			id, other := create(0.3), create(0.6)
			change := func(body string) { sim.Post(string(name)+"/markets/"+string(id), body) }
			check := func(step string, yes, no protocol.Bps) {
				t.Helper()
				began := time.Now()
				m, err := a.Get(t.Context(), id)
				list, err2 := a.Quote(t.Context(), []protocol.MarketID{other, id})
				at := slices.IndexFunc(list, func(m market.Record) bool { return m.ID == id })
				if err != nil || err2 != nil || len(list) != 2 || at < 0 {
					t.Fatalf("%s: %v %v, %d markets", step, err, err2, len(list))
				}
				for _, q := range []*market.Quote{m.Quote, list[at].Quote} {
					if (q == nil) != (yes == 0) || q != nil && (q.Yes != yes || q.No != no || q.Rule != rule || len(q.SHA256) != 32 ||
						q.At.After(time.Now()) || q.At.Before(began.Add(-2*time.Second))) {
						t.Errorf("%s: quote %+v, want %d and %d", step, q, yes, no)
					}
				}
			}
			if name == "manifold" {
				check("new", 3000, 7000)
			} else {
				check("new", 3050, 7050)
				change(`{"yesBid":0.29,"yesAsk":0.31}`)
				check("named", 3100, 7100)
				change(`{"spread":0.04}`)
				check("wider", 3200, 7200)
				change(`{"yesBid":0,"yesAsk":0.05}`)
				check("no bids", 0, 0)
				change(`{"yesBid":0.95,"yesAsk":1}`)
				check("no asks", 0, 0)
				change(`{"spread":0.2}`)
				check("too wide", 0, 0)
				change(`{"spread":0.01}`)
			}
			change(`{"yesPrice":0.62}`)
			if name == "manifold" {
				check("moved", 6200, 3800)
			} else {
				check("moved", 6250, 3850)
			}
			closed := time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Second)
			for _, step := range []string{
				fmt.Sprintf(`{"state":"closed","closeTime":%q}`, closed.Format(time.RFC3339)), `{"state":"resolved","outcome":"YES"}`,
			} {
				change(step)
				m, err := a.Get(t.Context(), id)
				if err != nil || m.Status == protocol.MarketOpen || m.Quote != nil || m.ClosedAt == nil || !m.ClosedAt.Equal(closed) {
					t.Errorf("%s: %s with quote %+v closed at %v, want %v, %v", step, m.Status, m.Quote, m.ClosedAt, closed, err)
				}
			}
			change(`{"state":"open"}`)
			if m, err := a.Get(t.Context(), id); err != nil || m.Status != protocol.MarketOpen || m.Quote == nil || m.ClosedAt != nil {
				t.Errorf("open again: %s with quote %+v closed at %v, %v", m.Status, m.Quote, m.ClosedAt, err)
			}
		})
	}
}

// TestAVenueWithoutItsBooksStillAnswers checks that a market is returned if the request for its order book fails. The token
// of the market is cached, so both requests are concurrent.
func TestAVenueWithoutItsBooksStillAnswers(t *testing.T) {
	t.Parallel()
	b := polymarketKit.setup(t, map[string]string{
		"/gamma/markets/7100001": polymarketKit.sample(t, "market_open.json"), "/clob/book": polymarketKit.sample(t, "clob_book.json"),
	})
	for range 2 {
		if m, err := b.Get(t.Context(), "7100001"); err != nil || m.Quote == nil || m.Quote.Yes != 6200 {
			t.Errorf("quote with the order book: %+v %v", m.Quote, err)
		}
	}
	if n := len(b.Paths()); n != 4 {
		t.Errorf("two reads sent %d requests", n)
	}
	b.Unset("/clob/book")
	if m, err := b.Get(t.Context(), "7100001"); err != nil || m.Status != protocol.MarketOpen || m.Quote != nil {
		t.Errorf("market without its order book: %s %+v %v", m.Status, m.Quote, err)
	}
}

func TestQuotesOfTheSamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kit    kit
		rule   string
		quotes map[string]string // empty: no quote
	}{
		{kalshiKit, "kalshi.market", map[string]string{
			"market_open.json": "4300 5900", "market_open_subpenny.json": "135 9875", "market_unicode.json": "4300 5900", "market_open_empty_book.json": "",
			"market_open_wide_spread.json": "", "market_initialized.json": "", "market_inactive_paused.json": "", "market_closed_not_resolved.json": "",
			"market_provisional_determined_yes.json": "", "market_resolved_yes.json": "", "market_resolved_invalid_scalar_half.json": "",
		}},
		{limitlessKit, "limitless.prices", map[string]string{
			"market_clob_open.json": "2600 7500", "market_amm_open_percent_prices.json": "", "market_open_missing_fields.json": "", "market_draft.json": "",
			"market_closed_not_resolved_expired.json": "", "market_provisional_locked.json": "", "market_resolved_yes.json": "",
			"market_resolved_winner_missing.json": "",
		}},
		{manifoldKit, "manifold.probability", map[string]string{
			"market_open_binary.json": "4035 5966", "market_open_no_close_time.json": "4035 5966", "market_open_far_close_time.json": "4035 5966",
			"market_closed_not_resolved.json": "", "market_provisional_just_resolved.json": "", "market_resolved_yes.json": "",
			"market_resolved_invalid_mkt.json": "",
		}},
	} {
		for name, want := range c.quotes {
			raw := c.kit.sample(t, name)
			m, err := c.kit.one(t, raw)
			if got := quoteOf(&m); err != nil || got != want || m.Quote != nil && !hasSource(m.Quote, c.rule, raw) {
				t.Errorf("%s of %s: quote %q, want %q, %+v, %v", name, c.kit.provider, got, want, m.Quote, err)
			}
		}
	}
}
