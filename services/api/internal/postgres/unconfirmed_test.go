package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// unconfirmed files a call on a market that no venue has confirmed, and returns its draft.
func (b *bundle) unconfirmed(hash []byte, id string) signal.Draft {
	b.t.Helper()
	b.stub(id)
	d := newDraft(id, protocol.Yes, 3000)
	take := "Will the mayor of Vantor be convicted?"
	d.TextTake, d.Venue = &take, signal.VenueRequested
	b.requireVerdict(hash, d, signal.VerdictFiled)
	return d
}

// public returns, as text, the numbers of public traces of a call: rows, counters, the list of open calls and the outbox.
func (b *bundle) public(d signal.Draft) string {
	b.t.Helper()
	return b.text(`SELECT concat_ws(' ',
		(SELECT count(*) FROM api.signals WHERE id = $1), (SELECT count(*) FROM api.open_signals WHERE signal_id = $1),
		(SELECT count(*) FROM api.outbox WHERE signal_id = $1), (SELECT coalesce(sum(yes + no), 0) FROM api.market_totals WHERE market_id = $2),
		(SELECT count(*) FROM api.unconfirmed_signals WHERE signal_id = $1))`, d.ID, string(d.MarketID))
}

// TestUnconfirmedCallIsPublishedByItsVenue checks that only its operator can read a call on an unconfirmed market. After the
// venue confirms the market, the call is public with its original time and the title of the market.
func TestUnconfirmedCallIsPublishedByItsVenue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, hash := b.operator("mara_k")
	d := b.unconfirmed(hash, "7")
	if got := b.public(d); got != "0 0 0 0 1" {
		t.Fatalf("before the answer: %s", got)
	}
	r, err := b.GetSignal(t.Context(), d.ID)
	if err != nil || r.MarketTitle != "7" || r.Status != protocol.Pending || r.PriceVerified || r.TextTake == nil || !r.Unconfirmed {
		t.Errorf("read by id: %+v, %v", r, err)
	}
	if c, err := b.GetCrowd(t.Context(), "7", owner, b.clock.Now()); err != nil || c.Own == nil || c.Own.ID != d.ID || c.Own.Unconfirmed || c.Yes != 0 {
		t.Errorf("own call: %+v, %v", c, err)
	}
	for _, c := range []struct {
		query signal.CallQuery
		want  int
	}{{signal.CallQuery{Limit: 10}, 0}, {signal.CallQuery{Limit: 10, MarketID: "7"}, 0}, {signal.CallQuery{Limit: 10, Handle: "mara_k"}, 0}, {signal.CallQuery{Limit: 10, Handle: "mara_k", Own: true}, 1}} {
		if p, err := b.ListCalls(t.Context(), c.query); err != nil || len(p.Signals) != c.want || c.want > 0 && p.Signals[0].Unconfirmed {
			t.Errorf("%+v lists %+v, %v", c.query, p.Signals, err)
		}
	}
	second := newDraft("7", protocol.No, 5000)
	second.Venue = signal.VenueRequested
	if f := b.requireVerdict(hash, second, signal.VerdictDuplicate); f.FirstID != d.ID {
		t.Errorf("the duplicate returned call %s, want %s", f.FirstID, d.ID)
	}

	filed := b.clock.Now()
	b.clock.Advance(10 * time.Minute)
	b.apply(true, b.answer("7", 4000))
	if got := b.public(d); got != "1 1 1 1 0" {
		t.Errorf("after the answer: %s", got)
	}
	if r, err := b.GetSignal(t.Context(), d.ID); err != nil || r.MarketTitle == "7" || !r.CreatedAt.Equal(filed) || r.PriceVerified || r.Unconfirmed {
		t.Errorf("published: %+v, %v", r, err)
	}
	if n := b.count(`SELECT count(*) FROM api.late_signals`); n != 0 {
		t.Errorf("%d late calls, want 0", n)
	}
	b.compareCounters()
	second.ID = newUUID()
	b.requireVerdict(hash, second, signal.VerdictDuplicate)
}

// TestUnconfirmedCallOnAClosedMarketIsLate checks that a call is void with the reason late if the first answer of the venue
// shows that the market was already closed.
func TestUnconfirmedCallOnAClosedMarketIsLate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, hash := b.operator("mara_k")
	d := b.unconfirmed(hash, "7")
	b.clock.Advance(time.Minute)
	b.apply(true, b.answer("7", 9900, func(r *market.Record) { r.Status = protocol.MarketClosed }))
	b.clock.Advance(time.Hour)
	b.claim("7", protocol.VerdictYes)
	r, err := b.GetSignal(t.Context(), d.ID)
	if err != nil || r.Status != protocol.Void || pg.Value(r.Reason) != "late" || r.Score == nil || *r.Score != 0 {
		t.Errorf("late call: %+v, %v", r, err)
	}
}

// TestDeniedCallIsVoid checks that an unconfirmed call is void if its venue does not have the market, or does not answer for
// 48 hours. Its text is deleted and it is never published.
func TestDeniedCallIsVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, hash := b.operator("mara_k")
	denied, old := b.unconfirmed(hash, "7"), b.unconfirmed(hash, "8")
	now := b.clock.Now()
	if ids, err := b.ClaimUnconfirmed(t.Context(), now, now.Add(-time.Minute), 10); err != nil || len(ids) != 2 {
		t.Errorf("unconfirmed markets: %v, %v; want 2", ids, err)
	}
	if ids, err := b.ClaimUnconfirmed(t.Context(), now, now.Add(-time.Minute), 10); err != nil || len(ids) != 0 {
		t.Errorf("requested again immediately: %v, %v", ids, err)
	}
	if n, err := b.DenyUnconfirmed(t.Context(), []protocol.MarketID{"7"}, now.Add(-48*time.Hour), now); err != nil || n != 1 {
		t.Errorf("%d calls were denied, %v", n, err)
	}
	if n, err := b.DenyUnconfirmed(t.Context(), nil, now.Add(time.Hour), now.Add(49*time.Hour)); err != nil || n != 1 {
		t.Errorf("%d old calls were denied, %v", n, err)
	}
	for _, d := range []signal.Draft{denied, old} {
		r, err := b.GetSignal(t.Context(), d.ID)
		if err != nil || r.Status != protocol.Void || pg.Value(r.Reason) != "unknown_market" || r.TextTake != nil || r.ResolvedAt == nil {
			t.Errorf("denied call: %+v, %v", r, err)
		}
		events, err := b.ListEvents(t.Context(), d.ID)
		if err != nil || len(events) != 1 || events[0].Actor == nil || *events[0].Actor != "ledger" || !strings.Contains(events[0].Payload, "unknown_market") {
			t.Errorf("events %+v, %v", events, err)
		}
	}
	b.apply(true, b.answer("7", 4000)) // the venue lists the market later
	if got := b.public(denied); got != "0 0 0 0 1" {
		t.Errorf("public traces of a denied call: %s", got)
	}
	if n := b.count(`SELECT count(*) FROM api.unconfirmed_signals WHERE text_take IS NOT NULL`); n != 0 {
		t.Errorf("%d texts are left", n)
	}
}

// TestStubsOfAnOperatorAreBounded checks that one operator cannot store more than the allowed number of unconfirmed markets
// with calls on invented ids. Other operators are not affected.
func TestStubsOfAnOperatorAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	who, hash := b.operator("flood")
	for i := range market.MaxUnconfirmed {
		id := fmt.Sprint(500 + i)
		b.stub(id)
		d := newDraft(id, protocol.Yes, 3000)
		d.Venue = signal.VenueRequested
		b.requireVerdict(hash, d, signal.VerdictFiled)
	}
	for operator, want := range map[string]bool{who: false, uuid.NewString(): true} {
		if stored, err := b.InsertStub(t.Context(), "600", operator, b.clock.Now()); err != nil || stored != want {
			t.Errorf("operator %s: stored %v, %v", operator, stored, err)
		}
	}
	b.exec(`UPDATE api.unconfirmed_signals SET denied_at = now(), text_take = NULL`)
	if stored, err := b.InsertStub(t.Context(), "601", who, b.clock.Now()); err != nil || !stored {
		t.Errorf("after the denials: stored %v, %v", stored, err)
	}
}
