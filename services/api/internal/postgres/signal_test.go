package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testkit.PrepareStatements(t, b.rw, "db")
}

// TestFirstCallIsLockedUnderRaces files 500 concurrent calls of one operator on one market. One call must be stored and
// counted, and the other answers must contain its id.
func TestFirstCallIsLockedUnderRaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("8", 5000)
	operatorID, hash := b.operator("racer")
	var wg sync.WaitGroup
	results := make([]signal.Filing, 500)
	drafts := make([]signal.Draft, len(results))
	for i := range results {
		drafts[i] = newDraft("8", []protocol.Side{protocol.Yes, protocol.No}[i%2], 5000)
		wg.Go(func() {
			caller := signal.Caller{KeyHash: hash}
			if i%3 == 0 {
				caller = signal.Caller{OperatorID: operatorID}
			}
			results[i] = b.try(caller, drafts[i])
		})
	}
	wg.Wait()
	won, yes := "", false
	for i, r := range results {
		if r.Verdict == signal.VerdictFiled {
			if won != "" {
				t.Error("two calls were accepted")
			}
			won, yes = drafts[i].ID, drafts[i].Side == protocol.Yes
		}
	}
	for i, r := range results {
		if r.Verdict != signal.VerdictFiled && (r.Verdict != signal.VerdictDuplicate || r.FirstID != won) {
			t.Errorf("call %d: %+v, want duplicate of %s", i, r, won)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.signals`); n != 1 {
		t.Errorf("%d calls are stored, want 1", n)
	}
	if n := b.count(`SELECT count(*) FROM api.signals WHERE id::text = $1 AND yes = $2`, won, yes); n != 1 {
		t.Error("the stored call is not the accepted one")
	}
	if n := b.count(`SELECT yes + no FROM api.market_totals WHERE market_id = '8'`); n != 1 {
		t.Errorf("the market counts %d calls, want 1", n)
	}
	if n := b.count(`SELECT total FROM api.operator_totals WHERE user_id = $1`, operatorID); n != 1 {
		t.Errorf("the operator counts %d calls, want 1", n)
	}
}

func TestTheSameDraftIsTheSameCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("9", 5000)
	_, hash := b.operator("doubter")
	d := newDraft("9", protocol.Yes, 5000)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if f := b.try(signal.Caller{KeyHash: hash}, d); f.Verdict != signal.VerdictFiled && (f.Verdict != signal.VerdictReplay || f.FirstID != d.ID) {
				t.Errorf("repeated draft: %+v; want filed or replay", f)
			}
		})
	}
	wg.Wait()
	if n := b.count(`SELECT yes FROM api.market_totals WHERE market_id = '9'`); n != 1 {
		t.Errorf("the market counts %d calls, want 1", n)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, m := range []string{"10", "11"} {
		b.venueMarket(m, 5000)
	}
	_, hash := b.operator("careful")
	key, body, other := "once", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	keyed := func(market string, sum [32]byte) signal.Draft {
		d := newDraft(market, protocol.Yes, 5000)
		d.IdempotencyKey, d.BodyHash = &key, sum[:]
		return d
	}
	first := keyed("10", body)
	if f := b.try(signal.Caller{KeyHash: hash}, first); f.Verdict != signal.VerdictFiled {
		t.Fatalf("first call with the key: %+v; want filed", f)
	}
	if f := b.try(signal.Caller{KeyHash: hash}, keyed("10", body)); f.Verdict != signal.VerdictReplay || f.FirstID != first.ID {
		t.Errorf("same key, same body: %+v", f)
	}
	if f := b.try(signal.Caller{KeyHash: hash}, keyed("11", other)); f.Verdict != signal.VerdictReused {
		t.Errorf("same key, other body: %+v", f)
	}
	b.clock.Advance(25 * time.Hour)
	b.exec(`UPDATE api.markets SET end_date = $1 WHERE market_id = '11'`, b.clock.Now().Add(time.Hour))
	if f := b.try(signal.Caller{KeyHash: hash}, keyed("11", other)); f.Verdict != signal.VerdictFiled {
		t.Errorf("a day later: %+v", f)
	}
}

func TestFilingRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, hash := b.operator("asker")
	states := map[string]string{
		"20": `UPDATE api.markets SET status = 'closed' WHERE market_id = $1`,
		"21": `UPDATE api.markets SET provisional = true WHERE market_id = $1`,
		"22": `UPDATE api.markets SET disputed = true WHERE market_id = $1`,
		"23": `UPDATE api.markets SET end_date = '2020-01-01' WHERE market_id = $1`,
		"24": `UPDATE api.markets SET status = 'unknown' WHERE market_id = $1`,
		"25": `UPDATE api.markets SET status = 'resolved', resolution_value = 'YES' WHERE market_id = $1`,
	}
	for market, change := range states {
		b.venueMarket(market, 5000)
		b.exec(change, market)
		want := signal.VerdictProvisional
		if market == "25" {
			want = signal.VerdictSettled
		}
		if f := b.try(signal.Caller{KeyHash: hash}, newDraft(market, protocol.Yes, 5000)); f.Verdict != want {
			t.Errorf("%s: %+v, want %s", market, f, want)
		}
	}
	if f := b.try(signal.Caller{KeyHash: hash}, newDraft("404", protocol.Yes, 5000)); f.Verdict != signal.VerdictUnknown {
		t.Errorf("call on an unknown market: %+v", f)
	}
	if f := b.try(signal.Caller{KeyHash: make([]byte, 32)}, newDraft("20", protocol.Yes, 5000)); f.Verdict != signal.VerdictUnauthenticated {
		t.Errorf("call with an unknown key: %+v", f)
	}
	b.exec(`UPDATE api.markets SET status = 'unknown', fetched_at = NULL, end_date = NULL WHERE market_id = '24'`)
	for _, c := range []struct {
		venue signal.VenueState
		want  signal.Verdict
	}{
		{signal.VenueNotRequested, signal.VerdictStub},
		{signal.VenueHasNoMarket, signal.VerdictAbsent},
		{signal.VenueRequested, signal.VerdictFiled},
		{signal.VenueNotRequested, signal.VerdictDuplicate},
		{signal.VenueHasNoMarket, signal.VerdictDuplicate},
		{signal.VenueRequested, signal.VerdictDuplicate},
	} {
		d := newDraft("24", protocol.Yes, 5000)
		d.Venue = c.venue
		if f := b.try(signal.Caller{KeyHash: hash}, d); f.Verdict != c.want {
			t.Errorf("market without an answer, state of the request %d: %+v, want %s", c.venue, f, c.want)
		}
	}
}

// TestDuplicateIsReportedBeforeMarketClosed checks that a second call on a closed market is reported as a duplicate.
func TestDuplicateIsReportedBeforeMarketClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("30", 5000)
	_, hash := b.operator("early")
	id := b.file(hash, "30", protocol.Yes, 5000)
	b.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = '30'`)
	if f := b.try(signal.Caller{KeyHash: hash}, newDraft("30", protocol.No, 5000)); f.Verdict != signal.VerdictDuplicate || f.FirstID != id {
		t.Errorf("second call on a closed market: %+v", f)
	}
}

func TestARevokedKeyFilesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("31", 5000)
	_, hash := b.operator("gone")
	b.exec(`UPDATE api.operator_keys SET revoked_at = $1`, b.clock.Now())
	if f := b.try(signal.Caller{KeyHash: hash}, newDraft("31", protocol.Yes, 5000)); f.Verdict != signal.VerdictUnauthenticated {
		t.Errorf("call with a revoked key: %+v", f)
	}
}

func TestNativePriceFollowsTheCrowd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.nativeMarket("native-aaaaaaaaaa", 5000)
	for i, side := range []protocol.Side{protocol.Yes, protocol.Yes, protocol.Yes, protocol.No} {
		_, hash := b.operator(fmt.Sprintf("voter%d", i))
		b.clock.Advance(time.Second)
		b.file(hash, "native-aaaaaaaaaa", side, 5000)
	}
	if got := b.count(`SELECT yes_bps FROM api.market_quotes WHERE market_id = 'native-aaaaaaaaaa'`); got != 5833 {
		t.Errorf("quote %d, want 5833", got)
	}
	if got := b.count(`SELECT yes_bps FROM api.market_prices WHERE market_id = 'native-aaaaaaaaaa' ORDER BY at DESC LIMIT 1`); got != 5833 {
		t.Errorf("snapshot %d, want 5833", got)
	}
}

func TestInvalidCallFailsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("40", 5000)
	hashes := b.operators(6)
	bad := newDraft("40", protocol.Yes, 5000)
	bad.ID = "not a uuid"
	var wg sync.WaitGroup
	for i, h := range hashes {
		d := newDraft("40", protocol.Yes, 5000)
		if i == 3 {
			d = bad
		}
		wg.Go(func() {
			f, err := b.File(context.Background(), signal.Caller{KeyHash: h}, d)
			if (err != nil) != (i == 3) || err == nil && f.Verdict != signal.VerdictFiled {
				t.Errorf("call %d: %+v, %v", i, f, err)
			}
		})
	}
	wg.Wait()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("50", 5000)
	_, hash := b.operator("owner")
	_, stranger := b.operator("stranger")
	id := b.file(hash, "50", protocol.Yes, 5000)
	s := b.signals(nil)
	event := func() string { return uuid.Must(uuid.NewV7()).String() }
	if _, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, event(), "note", `{"text":"steady"}`); err != nil {
		t.Fatal(err)
	}
	again := event()
	first, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, again, "share", `{"channel":"radio"}`)
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	if second, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, again, "share", `{ "channel": "radio" }`); err != nil || !second.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("the same event again: %+v, %v", second, err)
	}
	for kind, payload := range map[string]string{"share": `{"channel":"web"}`, "note": `{"channel":"radio"}`} {
		if _, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, again, kind, payload); !errors.Is(err, signal.ErrKeyReused) {
			t.Errorf("another event with the same id: %v", err)
		}
	}
	if _, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: stranger}, id, event(), "note", `{}`); !errors.Is(err, signal.ErrForbidden) {
		t.Errorf("event of another operator: %v", err)
	}
	if _, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, event(), event(), "note", `{}`); !errors.Is(err, signal.ErrNotFound) {
		t.Errorf("event of an unknown call: %v", err)
	}
	if _, err := s.AppendEvent(t.Context(), signal.Caller{KeyHash: make([]byte, 32)}, id, event(), "note", `{}`); !errors.Is(err, signal.ErrUnauthenticated) {
		t.Errorf("unknown key: %v", err)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 25 {
				_, err := s.AppendEvent(context.Background(), signal.Caller{KeyHash: hash}, id, event(), "reaffirm", `{}`)
				if err != nil && !errors.Is(err, signal.ErrEventLimit) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := b.count(`SELECT count(*) FROM api.signal_events`); n != signal.MaxEvents {
		t.Errorf("%d events, want %d", n, signal.MaxEvents)
	}
	list, err := b.ListEvents(t.Context(), id)
	if err != nil || len(list) != signal.MaxEvents || list[0].Type != "note" {
		t.Errorf("%d events, %v", len(list), err)
	}
	if _, err := b.ListEvents(t.Context(), event()); !errors.Is(err, signal.ErrNotFound) {
		t.Errorf("events of an unknown call: %v", err)
	}
}

// TestReachIsCounted checks that the counted number of viewers replaces the reach that a call states. Without counted
// viewers the stated reach is stored.
func TestReachIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.signals(nil)
	s.SetViewerCounter(func(id protocol.MarketID, token string) int {
		if token == "71" {
			return 5
		}
		return map[protocol.MarketID]int{"7": 42}[id]
	})
	stated := int64(9000)
	for i, hash := range b.operators(2) {
		for market, want := range map[string]int{"7": 42, "8": 9000, "9": 5} {
			if i == 0 {
				b.venueMarket(market, 5000)
			}
			d := newDraft(market, protocol.Yes, 5000)
			if d.Reach = &stated; market == "9" {
				d.ClobToken = "71"
			}
			c := signal.Call{Caller: signal.Caller{KeyHash: hash}, Draft: d}
			var err error
			if i == 0 {
				_, err = s.File(t.Context(), c.Caller, d)
			} else {
				err = s.FileMany(t.Context(), []signal.Call{c})[0].Err
			}
			if got := b.count(`SELECT reach FROM api.signals WHERE id = $1`, d.ID); err != nil || got != want {
				t.Errorf("call %d on market %s has reach %d, want %d (%v)", i, market, got, want, err)
			}
		}
	}
	if stated != 9000 {
		t.Error("the draft of the caller was changed")
	}
}
