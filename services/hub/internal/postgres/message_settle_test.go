package postgres_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

var errClosed = apperr.New(apperr.Conflict, "market_closed", "closed")

// TestRefusedEffect (S45) checks that a refused message is not stored and that its nonce can be used again.
func TestRefusedEffect(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	d.ledger.set(errClosed, nil, false)
	raw := p.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-that-is-freed" })
	for range 2 {
		refuses(t, "market_closed")(d.Submit(t.Context(), raw, nil))
	}
	if d.count(t, "messages") != 0 {
		t.Error("a refused message is stored")
	}
	d.ledger.set(nil, nil, false)
	other := p.call(t, midday, func(m map[string]any) { m["nonce"], m["type"] = "nonce-that-is-freed", "prediction.create" })
	if _, err := d.Submit(t.Context(), other, nil); err != nil {
		t.Error(err)
	}
}

// TestLeftPending checks that a message that is pending after an outage is settled once, by a repeated request or by the sweep.
// Before that, it must not be readable.
func TestLeftPending(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		reach  bool // the effect was applied and its answer was lost
		refuse error
		by     string // request or sweep that settles the message
		rows   int
	}{
		{"resent", false, nil, "resend", 1},
		{"resent, effect applied", true, nil, "resend", 1},
		{"resent, refused", false, errClosed, "resend", 0},
		{"swept", false, nil, "sweep", 1},
		{"swept, effect applied", true, nil, "sweep", 1},
		{"swept, effect applied, closed since", true, errClosed, "sweep", 1},
		{"swept, refused", false, errClosed, "sweep", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, p := newSignedDesk(t)
			raw := p.call(t, midday, nil)
			d.ledger.set(nil, errUnavailable, c.reach)
			refuses(t, "signal_service_unavailable")(d.Submit(t.Context(), raw, nil))
			m, err := message.Read(issuer, raw)
			if err != nil {
				t.Fatal(err)
			}
			refuses(t, "not_found")(d.Get(t.Context(), string(m.ID)))
			if page, err := d.List(t.Context(), message.Query{}); err != nil || len(page.Messages) != 0 || d.count(t, "messages") != 1 {
				t.Errorf("%+v, %v", page, err)
			}
			if n, err := d.Sweep(t.Context()); n != 0 || err != nil {
				t.Errorf("the sweep settled %d messages that are too new, %v", n, err)
			}
			d.clock.Advance(time.Minute)
			if n, err := d.Sweep(t.Context()); n != 0 || !errors.Is(err, errUnavailable) {
				t.Errorf("the sweep settled %d messages while the ledger is unavailable, %v", n, err)
			}
			d.ledger.set(c.refuse, nil, false)
			d.clock.Advance(10 * time.Minute)
			settle(t, d, c.by, raw)
			if n := d.count(t, "messages WHERE status = 'accepted'"); n != c.rows || d.count(t, "messages") != c.rows || d.ledger.acts() != c.rows {
				t.Errorf("%d accepted, %d rows, %d effects", n, d.count(t, "messages"), d.ledger.acts())
			}
			if n, err := d.Sweep(t.Context()); n != 0 || err != nil {
				t.Errorf("the sweep settled %d messages twice, %v", n, err)
			}
		})
	}
}

func settle(t *testing.T, d *desk, by string, raw []byte) {
	t.Helper()
	if by == "sweep" {
		if n, err := d.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		return
	}
	got, err := d.Submit(t.Context(), raw, nil)
	if w := why(err); w == "" && got.Replayed || w != "" && w != "market_closed" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSweepShares checks that concurrent sweeps do not settle the same message.
func TestSweepShares(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	d.ledger.set(nil, errUnavailable, false)
	for range 20 {
		refuses(t, "signal_service_unavailable")(d.Submit(t.Context(), p.call(t, midday, nil), nil))
	}
	d.ledger.set(nil, nil, false)
	d.clock.Advance(time.Minute)
	asked := d.ledger.asked
	counts, doubt := make([]int, 4), atomic.Bool{}
	var wg sync.WaitGroup
	for i := range counts {
		wg.Go(func() {
			var err error
			if counts[i], err = d.Sweep(t.Context()); errors.Is(err, pg.ErrUnavailable) {
				doubt.Store(true)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := counts[0] + counts[1] + counts[2] + counts[3]; !doubt.Load() && (n != 20 || d.ledger.asked-asked != 20) {
		t.Errorf("%v messages swept with %d applications", counts, d.ledger.asked-asked)
	}
	for d.clock.Advance(time.Minute); doubt.Load(); d.clock.Advance(time.Minute) { // a slow test machine left some pending
		_, err := d.Sweep(t.Context())
		doubt.Store(err != nil && t.Context().Err() == nil)
	}
	if d.ledger.acts() != 20 || d.count(t, "messages WHERE status = 'accepted'") != 20 {
		t.Errorf("%d effects, %d accepted messages", d.ledger.acts(), d.count(t, "messages"))
	}
}

// TestDropAndAccept checks that a request deletes a pending message only if it has stored the message itself. A message that was
// applied must be stored even if its row was deleted.
func TestDropAndAccept(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	store := d.store
	m, err := message.Read(issuer, p.call(t, midday, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := message.Record{
		ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, Key: m.Key, Nonce: m.Nonce, Body: m.Body, ReceivedAt: midday, Pending: true, Attempt: uuid.NewString(),
	}
	if _, taken, err := store.ReserveMessage(t.Context(), r); !taken || err != nil {
		t.Fatal(taken, err)
	}
	second := r
	second.Attempt = uuid.NewString()
	if kept, taken, err := store.ReserveMessage(t.Context(), second); taken || err != nil || kept.Attempt != r.Attempt {
		t.Errorf("%+v, %v, %v", kept, taken, err)
	}
	must(t, store.DropMessage(t.Context(), r.ID, second.Attempt), "")
	if d.count(t, "messages") != 1 {
		t.Error("another request deleted the message")
	}
	must(t, store.DropMessage(t.Context(), r.ID, r.Attempt), "")
	if d.count(t, "messages") != 0 {
		t.Error("the request did not delete its message")
	}
	r.Result = []byte(`{"a":1}`)
	for i, want := range []bool{true, false} {
		if first, err := store.AcceptMessage(t.Context(), r, midday); first != want || err != nil {
			t.Errorf("accept %d: %v, %v", i, first, err)
		}
	}
	must(t, store.DropMessage(t.Context(), r.ID, r.Attempt), "")
	if kept, found, err := store.FindMessage(t.Context(), r.ID, "", ""); !found || err != nil || kept.Pending || string(kept.Result) != `{"a":1}` {
		t.Errorf("%+v, %v, %v", kept, found, err)
	}
}

// TestAcceptRace checks concurrent settlements of a message whose row was deleted. Exactly one must be the first, and none may
// fail on the unique keys of the table.
func TestAcceptRace(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	for round := range 20 {
		m, err := message.Read(issuer, p.call(t, midday, nil))
		if err != nil {
			t.Fatal(err)
		}
		r := message.Record{ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, Key: m.Key, Nonce: m.Nonce, Body: m.Body, ReceivedAt: midday, Attempt: uuid.NewString()}
		var firsts atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				first, err := d.store.AcceptMessage(t.Context(), r, midday)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				if first {
					firsts.Add(1)
				}
			})
		}
		all.Wait()
		if firsts.Load() != 1 {
			t.Errorf("round %d: %d settlements were the first, want 1", round, firsts.Load())
		}
	}
}
