package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// TestClosingTime checks the time at which a market closes. Times are in minutes after noon, and the claim is made at minute
// 60. Every call filed before the closing time must be scored; later calls must be void.
func TestClosingTime(t *testing.T) {
	t.Parallel()
	b := setupCounting(t)
	minute := func(m int) time.Time { return noon.Add(time.Duration(m) * time.Minute) }
	callAt := []int{0, 9, 10, 19, 20, 29, 30, 59}
	operators := make([]string, len(callAt))
	for i := range operators {
		operators[i], _ = b.operator(fmt.Sprint("caller", i))
	}
	n := 0
	for name, c := range map[string]struct {
		native  bool
		set     string // changes of table markets; $10 and $20 are minutes
		open    int    // minute of the newest answer with an open market; 0 for none
		decided int    // minute; 0 if not stated
		want    int
	}{
		"the claim":                             {set: `status = 'open'`, open: 10, want: 60},
		"the venue's time":                      {set: `status = 'closed', closed_at = $20, venue_closed_at = $10`, open: 9, want: 10},
		"the venue's time, not the last answer": {set: `status = 'closed', closed_at = $30, venue_closed_at = $20`, open: 10, want: 20},
		"a last answer after the venue's time":  {set: `status = 'closed', closed_at = $30, venue_closed_at = $10`, open: 20, want: 10},
		"the first answer that shows it closed": {set: `status = 'closed', closed_at = $10, venue_closed_at = $20`, open: 9, want: 10},
		"proposed before it closes":             {set: `status = 'closed', provisional = true, provisional_at = $10, closed_at = $20, venue_closed_at = $20`, want: 10},
		"a time after the claim":                {set: `status = 'closed', closed_at = $20, venue_closed_at = $90`, open: 10, want: 10},
		"no time of the venue":                  {set: `status = 'closed', closed_at = $20`, open: 10, want: 10},
		"no time and no answer":                 {set: `status = 'closed', closed_at = $20`, want: 20},
		"an end date of a venue":                {set: `status = 'closed', closed_at = $20, end_date = $10`, want: 20},
		"times of a period that ended":          {set: `status = 'open', closed_at = $10, provisional_at = $10, venue_closed_at = $10`, open: 20, want: 60},
		"stated, earlier":                       {set: `status = 'closed', closed_at = $20, venue_closed_at = $20`, decided: 10, want: 10},
		"stated, later":                         {set: `status = 'closed', closed_at = $20, venue_closed_at = $10`, decided: 20, want: 10},
		"stated, on an open market":             {set: `status = 'open'`, decided: 10, want: 10},
		"cutoff":                                {native: true, set: `end_date = $10`, want: 10},
		"cutoff that has not passed":            {native: true, set: `end_date = $90`, want: 60},
		"proposal":                              {native: true, set: `provisional = true, provisional_at = $10, end_date = $20`, want: 10},
		"stated for a native market":            {native: true, set: `end_date = $20`, decided: 10, want: 10},
	} {
		n++
		id := fmt.Sprint(n)
		b.clock.Set(noon)
		if c.native {
			id = fmt.Sprintf("native-%010d", n)
			b.nativeMarket(id, 5000)
		} else {
			b.venueMarket(id, 5000)
		}
		for _, m := range []int{9, 10, 19, 20, 29, 30, 59} {
			b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, id, minute(m), 5000+m)
		}
		set := c.set
		for _, m := range []string{"10", "20", "30", "90"} {
			set = strings.ReplaceAll(set, "$"+m, "timestamptz '2026-10-10 12:00Z' + interval '"+m+" minutes'")
		}
		b.exec(`UPDATE api.markets SET `+set+` WHERE market_id = $1`, id)
		if c.open > 0 {
			b.exec(`UPDATE api.market_quotes SET open_at = $2 WHERE market_id = $1`, id, minute(c.open))
		}
		late := 0
		for i, m := range callAt {
			b.call(id, operators[i], scoredCall{Side: protocol.Yes, Basis: 4000, Verified: true, Rated: true, CreatedAt: minute(m)})
			if m >= c.want {
				late++
			}
		}
		b.clock.Set(minute(60))
		var decided *time.Time
		if c.decided > 0 {
			at := minute(c.decided)
			decided = &at
		}
		verdict := []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}[n%3]
		r, err := resolution.NewService(b.Store, b.clock.Now).Force(t.Context(), id, verdict, decided)
		if err != nil {
			t.Fatalf("resolve market of case %s: %v", name, err)
		}
		if verdict != protocol.VerdictInvalid && r.Tally.Void != int64(late) {
			t.Errorf("%s: %d calls are void, want %d", name, r.Tally.Void, late)
		}
		price := 5000
		for _, m := range []int{9, 10, 19, 20, 29, 30, 59} {
			if m <= c.want {
				price = 5000 + m
			}
		}
		if got := b.count(`SELECT count(*) FROM api.market_resolutions WHERE market_id = $1 AND close_at = $2 AND close_price = $3 AND decided_at IS NOT DISTINCT FROM $4`,
			id, minute(c.want), price, decided); got != 1 {
			t.Errorf("%s: the market did not close at minute %d with price %d", name, c.want, price)
		}
		if got := b.count(`SELECT count(*) FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id
			WHERE s.market_id = $1 AND r.reason = 'late' AND r.status = 'void' AND r.score = 0 AND r.clv_bps IS NULL AND NOT r.counted AND s.created_at >= $2`, id, minute(c.want)); got != late {
			t.Errorf("%s under %s: %d late results, want %d", name, verdict, got, late)
		}
		if got := b.count(`SELECT count(*) FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1 AND r.reason IS NULL`, id); got != len(callAt)-late {
			t.Errorf("%s under %s: %d results without a reason, want %d", name, verdict, got, len(callAt)-late)
		}
	}
	b.compareCounters()
}

// TestDecidedAtInTheFuture checks that a claim is rejected if its DecidedAt is in the future.
func TestDecidedAtInTheFuture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.nativeMarket("native-0000000001", 5000)
	s := resolution.NewService(b.Store, b.clock.Now)
	future, now := noon.Add(time.Millisecond), noon
	if _, err := s.Force(t.Context(), "1", protocol.VerdictYes, &future); !errors.Is(err, resolution.ErrDecided) {
		t.Errorf("Force: %v", err)
	}
	if _, err := s.Finalize(t.Context(), resolution.Claim{MarketID: "native-0000000001", Verdict: protocol.VerdictYes, DecidedAt: &future}); !errors.Is(err, resolution.ErrDecided) {
		t.Errorf("Finalize: %v", err)
	}
	if n := b.count(`SELECT count(*) FROM api.market_resolutions`); n != 0 {
		t.Errorf("%d outcomes are stored", n)
	}
	if _, err := s.Force(t.Context(), "1", protocol.VerdictYes, &now); err != nil {
		t.Errorf("a time that is not in the future: %v", err)
	}
}
