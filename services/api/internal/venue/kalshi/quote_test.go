package kalshi_test

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func TestQuotesOfTheSamples(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]syntax.Bps{ // none: no quote
		"market_open.json": {4300, 5900}, "market_open_subpenny.json": {135, 9875}, "market_unicode.json": {4300, 5900}, "market_open_empty_book.json": {},
		"market_open_wide_spread.json": {}, "market_initialized.json": {}, "market_inactive_paused.json": {}, "market_closed_not_resolved.json": {},
		"market_provisional_determined_yes.json": {}, "market_resolved_yes.json": {}, "market_resolved_invalid_scalar_half.json": {},
	} {
		raw := venuetest.Sample(t, name)
		got, err := one(t, raw)
		q := got.Quote
		if err != nil || (q == nil) != (want[0] == 0) || q != nil && (q.Yes != want[0] || q.No != want[1]) {
			t.Errorf("%s: quote %+v, want %v, %v", name, q, want, err)
			continue
		}
		if sum := sha256.Sum256([]byte(raw)); q != nil && (q.Rule != "kalshi.market" || !q.At.Equal(venuetest.Noon) || !bytes.Equal(q.SHA256, sum[:])) {
			t.Errorf("%s: quote %+v", name, q)
		}
	}
}

func TestQuoteOfARecord(t *testing.T) {
	t.Parallel()
	none := m{"yes_bid_dollars": nil, "yes_ask_dollars": nil, "no_bid_dollars": nil, "no_ask_dollars": nil}
	with := func(changes m) m {
		out := m{}
		for _, part := range []m{none, changes} {
			for key, value := range part {
				out[key] = value
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		changes m
		yes, no syntax.Bps // 0: no quote
	}{
		"dollars of YES":               {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100"}), 3100, 7100},
		"dollars of NO":                {with(m{"no_bid_dollars": "0.6900", "no_ask_dollars": "0.7100"}), 3100, 7100},
		"one of each":                  {with(m{"yes_bid_dollars": "0.2900", "no_bid_dollars": "0.6900"}), 3100, 7100},
		"tenths of a cent":             {with(m{"yes_bid_dollars": "0.012500", "yes_ask_dollars": "0.013510"}), 136, 9875},
		"cents":                        {with(m{"yes_bid": 29, "yes_ask": 31}), 3100, 7100},
		"cents of NO":                  {with(m{"no_bid": 69, "no_ask": 71}), 3100, 7100},
		"retired cents":                {with(m{"yes_bid": 0, "yes_ask": 0, "no_bid": 0, "no_ask": 0}), 0, 0},
		"dollars before retired cents": {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100", "yes_bid": 0, "yes_ask": 0}), 3100, 7100},
		"no book":                      {none, 0, 0},
		"a last trade alone":           {with(m{"last_price_dollars": "0.3000"}), 0, 0},
		"no bids":                      {with(m{"yes_bid_dollars": "0.0000", "yes_ask_dollars": "0.0500"}), 0, 0},
		"no asks":                      {with(m{"yes_bid_dollars": "0.9500", "yes_ask_dollars": "1.0000"}), 0, 0},
		"crossed":                      {with(m{"yes_bid_dollars": "0.3100", "yes_ask_dollars": "0.2900"}), 0, 0},
		"too wide":                     {with(m{"yes_bid_dollars": "0.2000", "yes_ask_dollars": "0.3001"}), 0, 0},
		"no numbers":                   {with(m{"yes_bid_dollars": "NaN", "yes_ask_dollars": "0.3100"}), 0, 0},
		"closed":                       {with(m{"yes_bid_dollars": "0.2900", "yes_ask_dollars": "0.3100", "status": "closed"}), 0, 0},
	} {
		got, err := one(t, edit(t, c.changes))
		if q := got.Quote; err != nil || (q == nil) != (c.yes == 0) || q != nil && (q.Yes != c.yes || q.No != c.no) {
			t.Errorf("%s: %+v, want %d and %d, %v", name, q, c.yes, c.no, err)
		}
	}
}

func TestClosingTime(t *testing.T) {
	t.Parallel()
	const early, late = "2026-10-09T18:20:31.441Z", "2026-10-09T20:00:00Z"
	for name, c := range map[string]struct {
		changes m
		want    string // none: not closed
	}{
		"open":                       {m{}, ""},
		"settled before the close":   {m{"status": "finalized", "result": "yes", "close_time": late, "settlement_ts": early}, early},
		"settled after the close":    {m{"status": "finalized", "result": "yes", "close_time": early, "settlement_ts": late}, early},
		"no settlement":              {m{"status": "determined", "result": "yes", "close_time": late}, late},
		"settled, the close ahead":   {m{"status": "finalized", "result": "yes", "close_time": "2026-12-01T00:00:00Z", "settlement_ts": late}, late},
		"paused, the close ahead":    {m{"status": "inactive", "close_time": "2026-12-01T00:00:00Z"}, ""},
		"a date without a time":      {m{"status": "closed", "close_time": "2026-10-09"}, ""},
		"a settlement in the future": {m{"status": "closed", "close_time": early, "settlement_ts": "2026-12-01T00:00:00Z"}, early},
	} {
		got, err := one(t, edit(t, c.changes))
		at := ""
		if got.ClosedAt != nil {
			at = got.ClosedAt.Format(time.RFC3339Nano)
		}
		if err != nil || at != c.want {
			t.Errorf("%s: closed at %q, want %q, %v", name, at, c.want, err)
		}
	}
}
