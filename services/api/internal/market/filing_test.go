package market_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// caller creates an operator and returns its credentials for filing calls.
func (l *ledger) caller(name string) signal.Caller {
	l.t.Helper()
	o, _, err := operator.NewService(l.store, "0123456789abcdef0123456789abcdef", l.clock.Now).
		SignIn(l.t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: name, Primary: true})
	if err != nil {
		l.t.Fatal(err)
	}
	return signal.Caller{OperatorID: o.ID}
}

func draft(id string, price int) signal.Draft {
	return signal.Draft{
		ID: uuid.Must(uuid.NewV7()).String(), MarketID: protocol.MarketID(id), Side: protocol.Yes, Price: protocol.Bps(price), Source: "web",
	}
}

// quoted returns a change of a venue's answer that sets a quote of 3100 for YES and 7100 for NO.
func quoted(now func() time.Time) func(*market.Record) {
	return func(r *market.Record) {
		r.Quote = &market.Quote{Yes: 3100, No: 7100, At: now(), Rule: "test.book", SHA256: []byte{1}}
	}
}

// setupFiling returns a ledger whose venue answers with quotes, and a signal.Service. The given markets are stored without
// quotes.
func setupFiling(t *testing.T, ids ...string) (*ledger, *signal.Service) {
	t.Helper()
	l := setup(t)
	l.venue.yes = 3000
	l.venue.list(ids...)
	for _, id := range ids {
		l.get(id)
	}
	l.clock.Advance(time.Second)
	l.venue.takeAsked()
	l.venue.respond = quoted(l.clock.Now)
	return l, signal.NewService(l.store, l.Service, l.clock.Now)
}

// TestCallsWaitForOneQuote checks that concurrent calls on a market without a fresh quote share one read of its venue and
// are verified with the quote of the answer. Later calls need no read.
func TestCallsWaitForOneQuote(t *testing.T) {
	t.Parallel()
	l, s := setupFiling(t, "7")
	gate := make(chan struct{})
	l.venue.set(func() { l.venue.gate = gate })
	var wait sync.WaitGroup
	for i := range 12 {
		caller := l.caller(fmt.Sprint("op", i))
		wait.Go(func() {
			f, err := s.File(t.Context(), caller, draft("7", 3000))
			if err != nil || !f.Prices.Verified || f.Prices.Basis != 3100 || *f.Prices.Yes != 3100 || *f.Prices.No != 7100 {
				t.Errorf("call: %+v, %v; want verified", f, err)
			}
		})
	}
	close(gate)
	wait.Wait()
	if asked := l.venue.takeAsked(); len(asked) > 2 { // a call may start after the first read has ended
		t.Errorf("the venue received %d requests; want at most 2", len(asked))
	}
	if n := l.count(`SELECT count(*) FROM api.quotes WHERE market_id = '7' AND at = $1 AND rule = 'test.book' AND answer_sha256 = '\x01'`, l.clock.Now()); n != 1 {
		t.Errorf("%d quotes are stored; want 1", n)
	}
	l.clock.Advance(15 * time.Second)
	if f, err := s.File(t.Context(), l.caller("later"), draft("7", 3000)); err != nil || !f.Prices.Verified || len(l.venue.takeAsked()) != 0 {
		t.Errorf("call with a fresh quote: %+v, %v; want verified without a request", f, err)
	}
	// FileMany does not wait for quotes. For a call without a fresh quote it returns a verdict after which the caller files
	// the call alone.
	l.clock.Advance(time.Second)
	a := s.FileMany(t.Context(), []signal.Call{{Caller: l.caller("many"), Draft: draft("7", 3000)}})
	if !a[0].Alone || len(l.venue.takeAsked()) != 0 {
		t.Errorf("call without a fresh quote in FileMany: %+v; want Alone without a request", a)
	}
}

// TestVenueWithoutAQuote checks several failures of a venue. In each of them a call must be stored unverified within its
// time limit, or rejected by its maxSlippageBps.
func TestVenueWithoutAQuote(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*venue){
		"hangs":                 func(v *venue) { v.gate = make(chan struct{}) },
		"refuses":               func(v *venue) { v.down = true },
		"request limit reached": func(v *venue) { v.busy = true },
		"no quote":              func(v *venue) { v.respond = nil },
		"old quote":             func(v *venue) { v.respond = quoted(func() time.Time { return v.now().Add(-16 * time.Second) }) },
		"invalid quote": func(v *venue) {
			v.respond = func(r *market.Record) { r.Quote = &market.Quote{Yes: 0, No: 10_000, At: v.now()} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := setupFiling(t, "7")
			l.venue.set(func() { spoil(l.venue) })
			caller := l.caller("patient")
			bounded := draft("7", 3000)
			bounded.MaxSlippage = new(protocol.Bps(10_000))
			_, err := s.File(t.Context(), caller, bounded)
			if f := apperr.Of(err); !errors.Is(err, signal.ErrMoved) || f.Extra["reason"] != "unverified" || f.Extra["marketYesBps"] != 3000 ||
				f.Extra["yesPriceBps"] != nil || f.Extra["noPriceBps"] != nil || f.Extra["marketId"] != "7" {
				t.Errorf("with a price bound: %v, %v", err, apperr.Of(err).Extra)
			}
			bounded.AllowUnverified = true
			if f, err := s.File(t.Context(), l.caller("lenient"), bounded); err != nil || f.Prices.Verified || f.Prices.Basis != 3000 {
				t.Errorf("with a price bound and allowUnverified: %+v, %v", f, err)
			}
			began := time.Now()
			f, err := s.File(t.Context(), caller, draft("7", 2000))
			if err != nil || f.Prices.Verified || f.Prices.Basis != 2000 || fmt.Sprint(f.Warnings) != "[price_unverified]" {
				t.Errorf("call without a price bound: %+v, %v", f, err)
			}
			if took := time.Since(began); took > 3*time.Second { // about 1.75 s on an idle machine
				t.Errorf("the call took %v; want at most 3 s", took)
			}
		})
	}
}

// TestAllowUnverifiedStillWaitsForAQuote checks that a call with allowUnverified is verified if the venue sends a quote
// while the call waits.
func TestAllowUnverifiedStillWaitsForAQuote(t *testing.T) {
	t.Parallel()
	l, s := setupFiling(t, "7", "8")
	for id, c := range map[string]struct {
		price int
		moved bool
	}{"7": {2900, false}, "8": {2899, true}} {
		d := draft(id, c.price)
		d.MaxSlippage, d.AllowUnverified = new(protocol.Bps(200)), true
		f, err := s.File(t.Context(), l.caller("op"+id), d)
		if c.moved && (!errors.Is(err, signal.ErrMoved) || apperr.Of(err).Extra["reason"] != "moved") {
			t.Errorf("%d stated: %+v, %v; want price_moved", c.price, f, err)
		}
		if !c.moved && (err != nil || !f.Prices.Verified || f.Prices.Basis != 3100) {
			t.Errorf("%d stated: %+v, %v; want a verified call", c.price, f, err)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.signals`); n != 1 {
		t.Errorf("%d calls are stored; want 1", n)
	}
}

// TestVenueShowsTheMarketClosed checks that a call is rejected if the answer of the venue shows that the market is not open.
func TestVenueShowsTheMarketClosed(t *testing.T) {
	t.Parallel()
	l, s := setupFiling(t, "7", "8", "9")
	caller := l.caller("late")
	l.venue.set(func() {
		l.venue.open["7"] = false
		delete(l.venue.open, "8")
		l.venue.respond = func(r *market.Record) {
			if r.ID == "9" {
				r.Status, r.Verdict = protocol.MarketResolved, new(protocol.VerdictYes)
			}
		}
	})
	for _, id := range []string{"7", "8", "9"} {
		_, err := s.File(t.Context(), caller, draft(id, 3000))
		if f := apperr.Of(err); !errors.Is(err, signal.ErrProvisional) || f.Extra["reason"] != "provisional" || f.Extra["marketId"] != id {
			t.Errorf("call on market %s: %v", id, err)
		}
	}
	if _, err := s.File(t.Context(), caller, draft("404", 3000)); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("a market that the venue does not have: %v", err)
	}
	if n := l.count(`SELECT count(*) FROM api.signals`); n != 0 {
		t.Errorf("%d calls are stored; want 0", n)
	}
}

// TestRefusalsBeforeTheVenue checks that a second call on a market and a call of an unknown caller are rejected without a
// request to the venue.
func TestRefusalsBeforeTheVenue(t *testing.T) {
	t.Parallel()
	l, s := setupFiling(t, "7", "8")
	caller := l.caller("twice")
	first, err := s.File(t.Context(), caller, draft("7", 3000))
	if err != nil {
		t.Fatal(err)
	}
	l.clock.Advance(time.Minute)
	if _, err := l.admin.Exec(t.Context(), `UPDATE api.markets SET disputed = true WHERE market_id = '8'`); err != nil {
		t.Fatal(err)
	}
	l.venue.takeAsked()
	if _, err := s.File(t.Context(), caller, draft("7", 100)); !errors.Is(err, signal.ErrPredicted) || apperr.Of(err).Extra["id"] != first.ID {
		t.Errorf("second call: %v", err)
	}
	if _, err := s.File(t.Context(), caller, draft("8", 100)); !errors.Is(err, signal.ErrProvisional) {
		t.Errorf("call on a disputed market: %v", err)
	}
	if _, err := s.File(t.Context(), signal.Caller{KeyHash: make([]byte, 32)}, draft("7", 100)); !errors.Is(err, signal.ErrUnauthenticated) {
		t.Errorf("call with an unknown key: %v", err)
	}
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("the venue was requested for %v", asked)
	}
}

// TestOneOperatorUsesUpItsOwnReads checks that calls of an operator beyond its limit of reads are filed unverified without
// waiting. Other operators still get reads.
func TestOneOperatorUsesUpItsOwnReads(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 22 {
		ids = append(ids, fmt.Sprint(100+i))
	}
	l, s := setupFiling(t, ids...)
	greedy := l.caller("greedy")
	for i, id := range ids[:21] {
		f, err := s.File(t.Context(), greedy, draft(id, 3000))
		if err != nil || f.Prices.Verified != (i < 20) {
			t.Errorf("call %d: %+v, %v", i, f, err)
		}
	}
	if n := len(l.venue.takeAsked()); n != 20 {
		t.Errorf("the venue received %d requests", n)
	}
	if f, err := s.File(t.Context(), l.caller("other"), draft(ids[21], 3000)); err != nil || !f.Prices.Verified {
		t.Errorf("another operator: %+v, %v", f, err)
	}
}

// TestDryRunAsksNoVenue checks that a dry run sends no request to a venue and stores nothing. It therefore accepts a market
// id that only the venue could reject.
func TestDryRunAsksNoVenue(t *testing.T) {
	t.Parallel()
	l, s := setupFiling(t, "7")
	caller := l.caller("dry")
	for id, price := range map[string]string{"7": "Market 7", "404": "404"} {
		d := draft(id, 3000)
		d.MaxSlippage = new(protocol.Bps(0))
		f, would, err := s.DryRunFile(t.Context(), caller, d)
		if err != nil || f.Prices.Verified || f.Prices.Basis != 3000 || would.MarketTitle != price || would.MarketID != id {
			t.Errorf("dry run on market %s: %+v, %+v, %v", id, f, would, err)
		}
	}
	if _, _, err := s.DryRunFile(t.Context(), caller, draft("native-aaaaaaaaaa", 1)); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("dry run on an unknown native market: %v", err)
	}
	if _, _, err := s.DryRunFile(t.Context(), signal.Caller{KeyHash: make([]byte, 32)}, draft("404", 1)); !errors.Is(err, signal.ErrUnauthenticated) {
		t.Errorf("dry run with an unknown key: %v", err)
	}
	if asked := l.venue.takeAsked(); len(asked) != 0 {
		t.Errorf("the venue was requested for %v", asked)
	}
	if n := l.count(`SELECT (SELECT count(*) FROM api.signals) + (SELECT count(*) FROM api.markets) - 1`); n != 0 {
		t.Errorf("a dry run stored %d rows", n)
	}
	if _, err := s.File(context.WithoutCancel(t.Context()), caller, draft("7", 3000)); err != nil {
		t.Fatal(err)
	}
	if f, _, err := s.DryRunFile(t.Context(), l.caller("dry2"), draft("7", 1000)); err != nil || !f.Prices.Verified || f.Prices.Basis != 3100 ||
		fmt.Sprint(f.Warnings) != "[price_off_market]" {
		t.Errorf("dry run with a fresh quote: %+v, %v", f, err)
	}
}
