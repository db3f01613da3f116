package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/digest"
)

// TestDayOfDigest checks that a digest counts the events of its day only, including those at the first and the last moment.
func TestDayOfDigest(t *testing.T) {
	t.Parallel()
	b := setup(t) // Saturday, 10 October 2026, 12:00 UTC
	from := time.Date(2026, 10, 9, 0, 0, 0, 0, time.UTC)
	w, err := digest.NewWindow(from, from.AddDate(0, 0, 1))
	if err != nil || !w.Week.Equal(time.Date(2026, 9, 28, 0, 0, 0, 0, time.UTC)) {
		t.Fatal(w, err)
	}
	for i := range 9 {
		at := from.AddDate(0, 0, -20)
		switch i {
		case 5:
			at = from // first moment of the day
		case 6:
			at = w.To.Add(-time.Microsecond)
		case 7:
			at = w.To // the next day
		}
		b.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at, operator_type, is_house)
			VALUES (('018f0000-0000-7000-8000-' || lpad($1, 12, '0'))::uuid, 'i', $1, 'op_' || lpad($1, 16, '0'), 'u' || $1, 'U', $2, $3, $4)`,
			fmt.Sprint(i), at, map[bool]string{true: "system_bot", false: "human"}[i == 3], i == 2)
	}
	counted := true
	call := func(user int, market string, yes bool, basis int, at time.Time, status string, score int) {
		final := basis + 7 // the scoring price after the second quote
		id := fmt.Sprintf("018f1111-0000-7000-8000-%s%011d", market, user)
		b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
			VALUES ($1::text::uuid, $2, ('018f0000-0000-7000-8000-' || lpad($3, 12, '0'))::uuid, $4, $5::integer, $5::integer, true, $6, 'Will ' || $2 || ' hold?', 'web')`,
			id, market, fmt.Sprint(user), yes, basis, at)
		if status != "" {
			b.exec(`INSERT INTO api.signal_results (signal_id, event_id, user_id, status, score, outcome, beat_crowd, scoring_version, scoring_vertical, resolved_at, basis_bps, counted)
				SELECT id, gen_random_uuid(), user_id, $2, $3, CASE WHEN $2 <> 'void' THEN 'YES' END, false, '1.1', 'SCIENCE', now(), $5, $2 <> 'void' AND $4 FROM api.signals WHERE id = $1::text::uuid`, id, status, score, counted, final)
		}
	}
	claim := func(market string, at time.Time) {
		b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, lane, resolved_at)
			VALUES ($1, 'YES', 'oracle', 's', $2, 'SCIENCE', $2)`, market, at)
	}
	// Two calls are filed on the day, at its first and its last moment. The other calls are filed before or after it.
	call(0, "1", true, 3000, from, "won", 70)
	call(1, "1", false, 7000, w.To.Add(-time.Microsecond), "lost", -70)
	call(2, "1", true, 1000, from.Add(-time.Microsecond), "won", 90) // by a house operator
	call(3, "1", true, 100, from.AddDate(0, 0, -3), "won", 99)       // by an automated operator, whose calls are in no list
	call(4, "1", true, 5000, w.To, "void", 0)
	call(0, "2", true, 5000, from.AddDate(0, 0, -10), "won", 50) // filed two weeks before, claimed on the next day
	call(1, "2", true, 5000, from.AddDate(0, 0, -6), "won", 50)
	call(0, "3", true, 5000, time.Date(2026, 9, 28, 0, 0, 0, 0, time.UTC), "", 0)   // first moment of the week
	call(1, "3", true, 5000, time.Date(2026, 10, 4, 23, 59, 0, 0, time.UTC), "", 0) // last minute of the week
	counted = false
	call(0, "4", true, 400, from.AddDate(0, 0, -30), "won", 96) // not counted, so it is not among the top calls
	claim("1", from)
	claim("4", from)
	claim("2", w.To)
	b.exec(`INSERT INTO api.market_disputes (market_id, disputed, disputed_at) VALUES ('8', true, $1), ('9', true, $2), ('7', false, $2)`, from, w.To)

	d := must(b.Day(t.Context(), w))(t)
	if d.Signals != 2 || d.Won != 4 || d.Lost != 1 || d.Void != 1 || d.NewOperators != 2 {
		t.Errorf("counts of the day: %+v", d)
	}
	if fmt.Sprint(d.Disputed) != "[9 8]" {
		t.Errorf("disputed %v", d.Disputed)
	}
	got := ""
	for _, c := range d.TopCalls {
		got += fmt.Sprint(c.Handle, c.MarketTitle, c.Side, c.Odds, c.Score, ";")
	}
	if got != "u2Will 1 hold?YES1007 90;u0Will 1 hold?YES3007 70;" {
		t.Errorf("top calls %s", got)
	}
	// u0, u1 and u4 are independent operators. They filed two calls on the day and two in the week before it.
	if d.Pulse != (digest.Pulse{Last7: 4, Prev7: 2, WeekSignals: 4, WeekOperators: 2}) {
		t.Errorf("pulse %+v", d.Pulse)
	}
	empty, err := digest.NewWindow(from.AddDate(1, 0, 0), from.AddDate(1, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if d, err = b.Day(t.Context(), empty); err != nil || d.Signals+d.Won+d.NewOperators+d.Pulse.Last7 != 0 || len(d.TopCalls) != 0 || len(d.Disputed) != 2 {
		t.Errorf("digest of an empty day: %+v %v", d, err)
	}
}

func TestInvalidDigestWindows(t *testing.T) {
	t.Parallel()
	for span, ok := range map[time.Duration]bool{0: false, -time.Hour: false, time.Hour: true, 48 * time.Hour: true, 48*time.Hour + 1: false} {
		if _, err := digest.NewWindow(noon, noon.Add(span)); (err == nil) != ok {
			t.Errorf("window of %v: %v", span, err)
		}
	}
	// The last complete week, requested on its last day, on the next Monday and on a Sunday.
	for to, want := range map[string]string{"2026-10-05": "2026-09-28", "2026-10-04": "2026-09-21", "2026-10-11": "2026-09-28", "2027-01-01": "2026-12-21"} {
		at, _ := time.Parse(time.DateOnly, to)
		w, err := digest.NewWindow(at.Add(-time.Hour), at)
		if err != nil || w.Week.Format(time.DateOnly) != want {
			t.Errorf("week of the window that ends on %s: %v %v", to, w.Week, err)
		}
	}
}
