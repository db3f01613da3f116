package postgres

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// everyRow returns, as text, the number of rows of every table that a filing or an event writes.
func (b *bundle) everyRow() string {
	out := ""
	for _, table := range []string{
		"signals", "signal_events", "open_signals", "operator_totals", "market_totals", "market_quotes", "market_prices", "outbox",
		"idempotency_keys", "audit_log",
	} {
		out += fmt.Sprintf("%s %d;", table, b.count(`SELECT count(*) FROM api.`+table))
	}
	return out + fmt.Sprint(b.count(`SELECT count(*) FROM api.operator_keys WHERE last_used_at IS NOT NULL`))
}

// TestRehearsedCallIsTheFiledOne checks that a dry run returns the call that is then stored by the real filing. The dry run
// must change no row, counter or outbox entry, and must leave no lock.
func TestRehearsedCallIsTheFiledOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(nil)
	for n, side := range []protocol.Side{protocol.Yes, protocol.No} {
		for m, market := range []string{fmt.Sprint(800 + n), "native-bbbbbbbbb" + fmt.Sprint(n)} {
			if m == 0 {
				b.venueMarket(market, 3000)
			} else {
				b.nativeMarket(market, 5000)
			}
			_, hash := b.operator(fmt.Sprintf("dry%d%d", n, m))
			draft := newDraft(market, side, 3000) // for NO this is the price of YES, which is converted
			before := b.everyRow()
			_, would, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: hash}, draft)
			if err != nil {
				t.Fatal(err)
			}
			if after := b.everyRow(); after != before {
				t.Errorf("a rehearsal changed rows:\n%s\n%s", before, after)
			}
			if f := b.try(signal.Caller{KeyHash: hash}, draft); f.Verdict != signal.VerdictFiled {
				t.Fatalf("the call after its rehearsal: %+v", f)
			}
			filed, err := b.GetSignal(t.Context(), draft.ID)
			if err != nil || fmt.Sprint(membersOf(filed)) != fmt.Sprint(membersOf(would)) {
				t.Errorf("%s on %s: %v\nrehearsed %v\n%v", side, market, membersOf(filed), membersOf(would), err)
			}
		}
	}
}

// membersOf returns the members of a record, with values instead of pointers.
func membersOf(r signal.Record) []any {
	return []any{
		r.ID, r.PublicID, r.Handle, r.MarketID, r.MarketTitle, r.Side(), r.PriceBps, *r.CrowdYesBps, *r.TTR, r.Source,
		r.CreatedAt.UTC(), r.Status, r.Score == nil, r.ResolvedAt == nil, r.Lane, r.Tier,
	}
}

func TestRehearsalRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(nil)
	for _, m := range []string{"810", "811", "812"} {
		b.venueMarket(m, 5000)
	}
	b.exec(`UPDATE api.markets SET status = 'resolved', resolution_value = 'YES' WHERE market_id = '811'`)
	b.exec(`UPDATE api.markets SET provisional = true WHERE market_id = '812'`)
	_, hash := b.operator("asker")
	first := b.file(hash, "810", protocol.Yes, 5000)
	before := b.everyRow()
	for market, want := range map[string]error{"810": signal.ErrPredicted, "811": signal.ErrSettled, "812": signal.ErrProvisional} {
		_, _, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: hash}, newDraft(market, protocol.No, 5000))
		if !errors.Is(err, want) || market == "810" && apperr.Of(err).Extra["id"] != first {
			t.Errorf("%s: %v, want %v", market, err, want)
		}
	}
	if _, _, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: make([]byte, 32)}, newDraft("810", protocol.No, 5000)); !errors.Is(err, signal.ErrUnauthenticated) {
		t.Errorf("unknown key: %v", err)
	}
	if after := b.everyRow(); after != before {
		t.Errorf("rejected rehearsals changed rows:\n%s\n%s", before, after)
	}
}

// TestRehearsalOnAnUnconfirmedMarket checks that a dry run on an unconfirmed market does not warn that the market is
// unrated, because that is not known yet. A dry run on a stored market does warn.
func TestRehearsalOnAnUnconfirmedMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(market.Venues{protocol.Polymarket: unasked{}})
	b.venueMarket("830", 5000)
	b.exec(`UPDATE api.markets SET rated_ruling = false WHERE market_id = '830'`)
	_, hash := b.operator("asker")
	for market, unknown := range map[string]bool{"830": false, "831": true} {
		filed, would, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: hash}, newDraft(market, protocol.Yes, 5000))
		if err != nil {
			t.Fatal(err)
		}
		if filed.Prices.Unconfirmed != unknown || would.Unconfirmed != unknown || slices.Contains(filed.Warnings, "market_unrated") == unknown {
			t.Errorf("dry run on market %s: %+v, %v", market, filed.Prices, filed.Warnings)
		}
	}
}

// unasked is a venue whose methods panic, because a dry run must not call them.
type unasked struct{ market.Venue }

// TestRehearsalsDoNotDisturb checks that concurrent dry runs neither prevent the real call nor make it fail.
func TestRehearsalsDoNotDisturb(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(nil)
	b.venueMarket("820", 5000)
	_, hash := b.operator("busy")
	real := newDraft("820", protocol.Yes, 5000)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, _, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: hash}, newDraft("820", protocol.No, 5000))
			if err != nil && (!errors.Is(err, signal.ErrPredicted) || apperr.Of(err).Extra["id"] != real.ID) {
				t.Errorf("rehearsal concurrent with a call: %v", err)
			}
		})
	}
	if f := b.try(signal.Caller{KeyHash: hash}, real); f.Verdict != signal.VerdictFiled {
		t.Errorf("call concurrent with rehearsals: %+v", f)
	}
	wg.Wait()
	if n := b.count(`SELECT count(*) FROM api.signals WHERE yes`); n != 1 {
		t.Errorf("%d calls are stored, want 1", n)
	}
}

func TestRehearsedEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(nil)
	b.venueMarket("830", 5000)
	_, hash := b.operator("owner")
	_, stranger := b.operator("stranger")
	id := b.file(hash, "830", protocol.Yes, 5000)
	before := b.everyRow()
	event := func() string { return uuid.Must(uuid.NewV7()).String() }
	e, err := s.DryRunEvent(t.Context(), signal.Caller{KeyHash: hash}, id, event(), "note", `{"text":"steady"}`)
	if err != nil || e.Type != "note" || *e.Actor != "owner" || e.Payload != `{"text":"steady"}` || !e.CreatedAt.Equal(b.clock.Now()) {
		t.Errorf("rehearsed event: %+v, %v", e, err)
	}
	for _, c := range []struct {
		hash []byte
		id   string
		want error
	}{{stranger, id, signal.ErrForbidden}, {hash, event(), signal.ErrNotFound}, {make([]byte, 32), id, signal.ErrUnauthenticated}} {
		if _, err := s.DryRunEvent(t.Context(), signal.Caller{KeyHash: c.hash}, c.id, event(), "note", `{}`); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	if after := b.everyRow(); after != before {
		t.Errorf("a rehearsal changed rows:\n%s\n%s", before, after)
	}
}
