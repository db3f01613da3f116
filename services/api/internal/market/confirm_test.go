package market_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// confirming is a ledger whose catalogue requests second quotes from five seconds after a call.
type confirming struct {
	*ledger
	calls int
}

func setupConfirming(t *testing.T, ids ...string) *confirming {
	t.Helper()
	c := &confirming{ledger: setup(t)}
	c.catalogue.ConfirmAfter = 5 * time.Second
	c.venue.list(ids...)
	c.venue.set(func() { c.venue.yes = 3000 })
	if err := c.catalogue.Sweep(t.Context(), protocol.Polymarket, c.venue); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *confirming) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.admin.Exec(c.t.Context(), sql, args...); err != nil {
		c.t.Fatal(err)
	}
}

// file stores an open call on a market, dated with the test clock.
func (c *confirming) file(id string) {
	c.t.Helper()
	c.calls++
	c.exec(`INSERT INTO api.open_signals (signal_id, market_id, created_at) VALUES (gen_random_uuid(), $1, $2)`, id, c.clock.Now())
	c.exec(`INSERT INTO api.market_totals (market_id, called_at) VALUES ($1, $2) ON CONFLICT (market_id) DO UPDATE SET called_at = excluded.called_at`, id, c.clock.Now())
}

// round runs one round of requests for second quotes and returns the markets of each request.
func (c *confirming) round() [][]protocol.MarketID {
	c.t.Helper()
	if err := c.catalogue.Confirm(c.t.Context(), protocol.Polymarket, c.venue); err != nil {
		c.t.Fatal(err)
	}
	var requests [][]protocol.MarketID
	c.venue.set(func() { requests, c.venue.confirmed = c.venue.confirmed, nil })
	return requests
}

func (c *confirming) requireRequest(requests [][]protocol.MarketID, ids ...protocol.MarketID) {
	c.t.Helper()
	var got []protocol.MarketID
	if len(requests) > 0 {
		got = requests[0]
	}
	if len(requests) > 1 || !slices.Equal(got, ids) {
		c.t.Errorf("at %v requested %v, want %v in one request", c.clock.Now().Sub(noon), requests, ids)
	}
}

// TestSecondQuotesAreRequestedOnceForAllCallsOnAMarket checks at which times second quotes are requested, and that all calls
// on a market share one quote.
func TestSecondQuotesAreRequestedOnceForAllCallsOnAMarket(t *testing.T) {
	t.Parallel()
	c := setupConfirming(t, "1", "2", "3", "4")
	c.venue.set(func() {
		c.venue.respond = func(r *market.Record) {
			if r.ID == "1" {
				r.Quote = &market.Quote{Yes: 3100, No: 7200, At: r.FetchedAt.Truncate(time.Second), Rule: "test"}
			}
		}
	})
	c.file("1")
	c.file("2")
	c.file("4")
	c.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = '4'`)
	c.clock.Advance(500 * time.Millisecond)
	c.file("1")
	c.clock.Set(noon.Add(5900 * time.Millisecond))
	c.requireRequest(c.round()) // a quote dated in whole seconds could be too early
	c.clock.Set(noon.Add(6500 * time.Millisecond))
	c.requireRequest(c.round(), "1", "2")
	c.requireRequest(c.round()) // market 1 was requested less than confirmPause ago
	// The answer for market 1 had a quote, the answer for market 2 had none.
	if n := c.count(`SELECT count(*) FROM api.quotes WHERE market_id = '1' AND at = $1 AND yes_price_bps = 3100 AND no_price_bps = 7200`, noon.Add(6*time.Second)); n != 1 {
		t.Error("the second quote of market 1 is not stored")
	}
	c.clock.Set(noon.Add(10500 * time.Millisecond))
	c.requireRequest(c.round(), "2")
	c.file("1")
	c.clock.Set(noon.Add(14900 * time.Millisecond))
	c.requireRequest(c.round(), "2")
	c.clock.Set(noon.Add(17 * time.Second))
	c.requireRequest(c.round(), "1") // for its newer call; the period of market 2 is over
	if n := c.count(`SELECT count(*) FROM api.market_prices WHERE market_id = '2' AND at > $1`, noon.Add(6*time.Second)); n != 3 {
		t.Errorf("%d answers are stored; want 3", n)
	}
}

// TestSecondQuotesSurviveARestart checks that a new process requests second quotes for calls that an earlier process has not
// handled.
func TestSecondQuotesSurviveARestart(t *testing.T) {
	t.Parallel()
	c := setupConfirming(t, "1")
	c.file("1")
	c.clock.Advance(8 * time.Second)
	_, _, c.catalogue = c.replica()
	c.catalogue.ConfirmAfter = 5 * time.Second
	c.requireRequest(c.round(), "1")
}

// TestSecondQuotesOfManyMarketsAreBounded checks that a round requests at most confirmBatch markets, those with the oldest
// calls first, and that the next round requests the others.
func TestSecondQuotesOfManyMarketsAreBounded(t *testing.T) {
	t.Parallel()
	ids := make([]string, 150)
	for i := range ids {
		ids[i] = fmt.Sprint(1000 + i)
	}
	c := setupConfirming(t, ids...)
	for _, id := range ids {
		c.clock.Advance(time.Millisecond)
		c.file(id)
	}
	c.clock.Advance(7 * time.Second)
	first := c.round()
	second := c.round()
	if len(first) != 1 || len(first[0]) != 100 || first[0][0] != "1000" || len(second) != 1 || len(second[0]) != 50 || second[0][0] != "1100" {
		t.Errorf("requests: %v, then %v; want 100 markets from 1000 on, then 50 from 1100 on", first, second)
	}
	c.requireRequest(c.round())
}

// TestSecondQuotesOfAVenueThatFails checks that a failed request for second quotes is repeated.
func TestSecondQuotesOfAVenueThatFails(t *testing.T) {
	t.Parallel()
	c := setupConfirming(t, "1")
	c.file("1")
	c.clock.Advance(7 * time.Second)
	c.venue.set(func() { c.venue.down = true })
	if err := c.catalogue.Confirm(t.Context(), protocol.Polymarket, c.venue); err == nil {
		t.Error("a failed request is not reported")
	}
	c.venue.set(func() { c.venue.down, c.venue.confirmed = false, nil })
	c.clock.Advance(4 * time.Second)
	c.requireRequest(c.round(), "1")
}

// TestSecondQuoteOfACallThatCommitsLate commits a call after a round that found no calls. The call is dated before that
// round. The next round must find it.
func TestSecondQuoteOfACallThatCommitsLate(t *testing.T) {
	t.Parallel()
	c := setupConfirming(t, "1")
	c.clock.Set(noon.Add(8 * time.Second))
	c.requireRequest(c.round())
	c.exec(`INSERT INTO api.open_signals (signal_id, market_id, created_at) VALUES (gen_random_uuid(), '1', $1)`, noon.Add(time.Second))
	c.clock.Advance(time.Second)
	c.requireRequest(c.round(), "1")
}
