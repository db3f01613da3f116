package limitless_test

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// trade writes the prices at which a market order buys.
func trade(yes, no any) m {
	return m{"tradePrices": m{"buy": m{"market": []any{yes, no}, "limit": []any{0.01, 0.01}}}}
}

func TestQuotesOfTheSamples(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]syntax.Bps{ // none: no quote
		"market_clob_open.json": {2600, 7500}, "market_amm_open_percent_prices.json": {}, "market_open_missing_fields.json": {}, "market_draft.json": {},
		"market_closed_not_resolved_expired.json": {}, "market_provisional_locked.json": {}, "market_resolved_yes.json": {}, "market_resolved_winner_missing.json": {},
	} {
		raw := venuetest.Sample(t, name)
		got, err := one(t, raw)
		q := got.Quote
		if err != nil || (q == nil) != (want[0] == 0) || q != nil && (q.Yes != want[0] || q.No != want[1]) {
			t.Errorf("%s: quote %+v, want %v, %v", name, q, want, err)
			continue
		}
		if sum := sha256.Sum256([]byte(raw)); q != nil && (q.Rule != "limitless.prices" || !q.At.Equal(venuetest.Noon) || !bytes.Equal(q.SHA256, sum[:])) {
			t.Errorf("%s: quote %+v", name, q)
		}
	}
}

func TestQuoteOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes m
		yes, no syntax.Bps // 0: no quote
	}{
		"prices to buy at":     {trade(0.31, 0.71), 3100, 7100},
		"as texts":             {trade("0.31", "0.71"), 3100, 7100},
		"in percent":           {trade(31, 71), 3100, 7100},
		"one side empty":       {trade(0.31, 1), 0, 0},
		"the other empty":      {trade(1, 0.31), 0, 0},
		"both empty":           {trade(0, 0), 0, 0},
		"crossed":              {trade(0.29, 0.69), 0, 0},
		"too wide":             {trade(0.4, 0.7001), 0, 0},
		"one price":            {m{"tradePrices": m{"buy": m{"market": []any{0.31}}}}, 0, 0},
		"not numbers":          {trade("NaN", 0.71), 0, 0},
		"locked":               {m{"status": "LOCKED"}, 0, 0},
		"expired":              {m{"expired": true}, 0, 0},
		"prices alone, a pool": {m{"tradePrices": nil, "tradeType": "amm"}, 0, 0},
	} {
		got, err := one(t, edit(t, c.changes))
		if q := got.Quote; err != nil || (q == nil) != (c.yes == 0) || q != nil && (q.Yes != c.yes || q.No != c.no) {
			t.Errorf("%s: %+v, want %d and %d, %v", name, q, c.yes, c.no, err)
		}
	}
}

func TestABookGivesTheQuoteThatTheRecordLacks(t *testing.T) {
	t.Parallel()
	const path = "/markets/zed-above-10-on-oct-31-1788264000000"
	raw := venuetest.Sample(t, "orderbook.json")
	b := setup(t, map[string]string{path: edit(t, m{"tradePrices": nil}), path + "/orderbook": raw})
	got, err := b.adapter.Get(t.Context(), "lmt-zed-above-10-on-oct-31-1788264000000")
	sum := sha256.Sum256([]byte(raw))
	if q := got.Quote; err != nil || q == nil || q.Yes != 2600 || q.No != 7500 || q.Rule != "limitless.book" || !bytes.Equal(q.SHA256, sum[:]) || *got.YesBps != 2550 {
		t.Errorf("%+v %v", got.Quote, err)
	}
	b = setup(t, map[string]string{path: edit(t, m{}), path + "/orderbook": raw})
	if _, err := b.adapter.Get(t.Context(), "lmt-zed-above-10-on-oct-31-1788264000000"); err != nil || len(b.Paths()) != 1 {
		t.Errorf("a record with prices took the requests %v, %v", b.Paths(), err)
	}
}

func TestClosingTime(t *testing.T) {
	t.Parallel()
	past, ahead := venuetest.Noon.Add(-time.Hour), venuetest.Noon.Add(time.Hour)
	for name, c := range map[string]struct {
		changes m
		want    time.Time // zero: not closed
	}{
		"open":                       {m{"expirationTimestamp": ahead.UnixMilli()}, time.Time{}},
		"expired":                    {m{"expirationTimestamp": past.UnixMilli() + 7}, past.Add(7 * time.Millisecond)},
		"resolved":                   {m{"status": "RESOLVED", "winningOutcomeIndex": 0, "expirationTimestamp": past.UnixMilli()}, past},
		"resolved before it expires": {m{"status": "RESOLVED", "winningOutcomeIndex": 0, "expirationTimestamp": ahead.UnixMilli()}, time.Time{}},
		"locked without a time":      {m{"status": "LOCKED", "expirationTimestamp": nil}, time.Time{}},
		"a date without a time":      {m{"status": "LOCKED", "expirationTimestamp": "2026-10-09"}, time.Time{}},
	} {
		got, err := one(t, edit(t, c.changes))
		if err != nil || (got.ClosedAt == nil) != c.want.IsZero() || got.ClosedAt != nil && !got.ClosedAt.Equal(c.want) {
			t.Errorf("%s: closed at %v, want %v, %v", name, got.ClosedAt, c.want, err)
		}
	}
}
