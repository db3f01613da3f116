package market_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const anOperator = "0199f0a4-0000-7000-8000-000000000001"

// TestUnconfirmedMarketsAreRequested checks one call of ReadUnconfirmed. It must publish calls on markets that the venue
// confirms and void calls on markets that the venue does not have. Other unconfirmed calls must not change.
func TestUnconfirmedMarketsAreRequested(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for _, id := range []string{"7", "8"} {
		l.venue.set(func() { l.venue.down = true })
		if err := l.Ensure(t.Context(), protocol.MarketID(id), anOperator, time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := l.admin.Exec(t.Context(), `WITH caller AS (
				INSERT INTO api.users (id, public_id, issuer, provider_id, handle, display_name, created_at)
				VALUES (gen_random_uuid(), 'op_' || lpad($1, 16, '0'), 'i', $1, 'user_' || $1, 'u', $2) RETURNING id)
			INSERT INTO api.unconfirmed_signals (signal_id, market_id, user_id, yes, price_bps, source, text_take, created_at)
			SELECT gen_random_uuid(), $1, id, true, 3000, 'web', 'x', $2 FROM caller`, id, l.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	state := func(want string) {
		t.Helper()
		var got string
		err := l.admin.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT count(*) FROM api.signals),
			(SELECT count(*) FROM api.unconfirmed_signals WHERE denied_at IS NULL), (SELECT count(*) FROM api.unconfirmed_signals WHERE denied_at IS NOT NULL))`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("published, waiting, denied: %s, want %s, %v", got, want, err)
		}
	}
	round := func() {
		t.Helper()
		l.clock.Advance(time.Minute)
		if err := l.catalogue.ReadUnconfirmed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	state("0 2 0")
	l.venue.set(func() { l.venue.down = false })
	l.venue.list("7")
	round()
	state("1 0 1")
}

// TestUnconfirmedCallsEndAfter48Hours checks that a call waits at most 48 hours for its venue.
func TestUnconfirmedCallsEndAfter48Hours(t *testing.T) {
	t.Parallel()
	l := setup(t)
	if _, err := l.admin.Exec(t.Context(), `INSERT INTO api.unconfirmed_signals (signal_id, market_id, user_id, yes, price_bps, source, created_at)
		VALUES (gen_random_uuid(), '7', gen_random_uuid(), true, 3000, 'web', $1)`, l.clock.Now()); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true })
	for want, after := range []time.Duration{48 * time.Hour, 49 * time.Hour} {
		l.clock.Set(noon.Add(after))
		if err := l.catalogue.ReadUnconfirmed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := l.count(`SELECT count(*) FROM api.unconfirmed_signals WHERE denied_at IS NOT NULL`); n != want {
			t.Errorf("%d denied calls after %v", after, n)
		}
	}
}
