package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// holder is an open transaction that holds locks until the test ends it.
type holder struct {
	b  *bundle
	tx pgx.Tx
}

func (b *bundle) hold(sql string, args ...any) *holder {
	b.t.Helper()
	tx, err := b.admin.Begin(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	h := &holder{b: b, tx: tx}
	h.exec(sql, args...)
	return h
}

func (h *holder) exec(sql string, args ...any) {
	h.b.t.Helper()
	if _, err := h.tx.Exec(h.b.t.Context(), sql, args...); err != nil {
		h.b.t.Fatalf("%s: %v", sql, err)
	}
}

func (h *holder) commit() {
	h.b.t.Helper()
	if err := h.tx.Commit(h.b.t.Context()); err != nil {
		h.b.t.Fatal(err)
	}
}

// filed is the answer or the error of a call that was filed concurrently.
type filed struct {
	signal.Filing
	err error
}

func (b *bundle) start(hash []byte, d signal.Draft) <-chan filed {
	out := make(chan filed, 1)
	go func() {
		f, err := b.File(context.Background(), signal.Caller{KeyHash: hash}, d)
		out <- filed{f, err}
	}()
	return out
}

// waiters returns when exactly n statements of the store wait for a database lock.
func (b *bundle) waiters(n int) {
	b.t.Helper()
	testkit.Eventually(b.t, 20*time.Second, func() bool {
		return b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'api_rw' AND wait_event_type = 'Lock'`) == n
	})
}

// TestLockedMarketDelaysNoOther checks that a market that is locked for a long time delays only calls on that market.
func TestLockedMarketDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("60", 5000)
	b.venueMarket("61", 5000)
	hashes := b.operators(4 * writers)
	claim := b.hold(`SELECT FROM api.markets WHERE market_id = '60' FOR UPDATE`)
	var held []<-chan filed
	for _, h := range hashes {
		held = append(held, b.start(h, newDraft("60", protocol.Yes, 5000)))
	}
	b.waiters(1)
	for _, h := range hashes[1:] {
		b.file(h, "61", protocol.No, 5000)
	}
	together := []signal.Call{
		{Caller: signal.Caller{KeyHash: hashes[0]}, Draft: newDraft("60", protocol.Yes, 5000)},
		{Caller: signal.Caller{KeyHash: hashes[0]}, Draft: newDraft("61", protocol.No, 5000)},
	}
	answers, errs := b.FileMany(t.Context(), together)
	if answers[0].Verdict != signal.VerdictUnknown || answers[1].Verdict != signal.VerdictFiled || errs[0] != nil || errs[1] != nil {
		t.Errorf("calls filed together: %+v, %v", answers, errs)
	}
	claim.commit()
	for _, h := range held {
		if f := <-h; f.err != nil || f.Verdict != signal.VerdictFiled {
			t.Errorf("waiting call: %+v; want filed", f)
		}
	}
	if n := b.count(`SELECT yes FROM api.market_totals WHERE market_id = '60'`); n != len(hashes) {
		t.Errorf("%d of %d calls are counted", n, len(hashes))
	}
}

// TestAWaitingCallSeesItsFirst checks a call that waits for its locked market. If an earlier call of the operator is
// committed during the wait, the answer must contain that earlier call.
func TestAWaitingCallSeesItsFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("62", 5000)
	id, hash := b.operator("twice")
	other := b.hold(`SELECT FROM api.markets WHERE market_id = '62' FOR UPDATE`)
	again := newDraft("62", protocol.Yes, 5000)
	waiting, replayed := b.start(hash, newDraft("62", protocol.No, 5000)), b.start(hash, again)
	b.waiters(1)
	other.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
		VALUES ($1, '62', $2, true, 5000, 5000, true, $3, 'seed', 'web')`, again.ID, id, noon)
	other.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = '62'`)
	other.commit()
	if f := <-waiting; f.err != nil || f.Verdict != signal.VerdictDuplicate || f.FirstID != again.ID {
		t.Errorf("another draft: %+v", f)
	}
	if f := <-replayed; f.err != nil || f.Verdict != signal.VerdictReplay || f.FirstID != again.ID {
		t.Errorf("the same draft: %+v", f)
	}
}

// TestKeyOfAConcurrentCall checks that an idempotency key belongs to one call, even if two calls with it are filed
// concurrently.
func TestKeyOfAConcurrentCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("63", 5000)
	id, hash := b.operator("hasty")
	key, body, other := "once", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	d := newDraft("63", protocol.Yes, 5000)
	d.IdempotencyKey, d.BodyHash = &key, body[:]
	first := b.hold(`INSERT INTO api.idempotency_keys (user_id, key, body_hash, result_id, created_at) VALUES ($1, $2, $3, gen_random_uuid(), $4)`,
		id, key, other[:], noon)
	waiting := b.start(hash, d)
	b.waiters(1)
	first.commit()
	if f := <-waiting; f.err != nil || f.Verdict != signal.VerdictReused {
		t.Errorf("call with a used key: %+v; want reused", f)
	}
	if n := b.count(`SELECT count(*) FROM api.signals`); n != 0 {
		t.Errorf("%d calls are stored, want 0", n)
	}
}

// TestOneKeyInOneBatch checks that one of two calls with the same idempotency key in one batch is filed.
func TestOneKeyInOneBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("64", 5000)
	b.venueMarket("65", 5000)
	_, hash := b.operator("pair")
	key := "once"
	calls := make([]signal.Call, 2)
	for i, market := range []string{"64", "65"} {
		sum := sha256.Sum256([]byte(market))
		d := newDraft(market, protocol.Yes, 5000)
		d.IdempotencyKey, d.BodyHash = &key, sum[:]
		calls[i] = signal.Call{Caller: signal.Caller{KeyHash: hash}, Draft: d}
	}
	answers, errs := b.FileMany(t.Context(), calls)
	got := fmt.Sprint(answers[0].Verdict, answers[1].Verdict, errs)
	if want := fmt.Sprint(signal.VerdictFiled, signal.VerdictReused, []error{nil, nil}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestClassifyingDuringFilings checks that the crowd counters remain correct when an operator is classified while its calls
// are written.
func TestClassifyingDuringFilings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const rounds = 40
	for i := range rounds {
		b.venueMarket(fmt.Sprint(7000+i), 5000)
	}
	_, hash := b.operator("robot")
	kinds := []protocol.OperatorType{protocol.SystemBot, protocol.Human}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range rounds {
			if _, err := b.Classify(context.Background(), operator.Class{Handle: "robot", Type: &kinds[i%2], Actor: "admin"}, nil, noon); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range rounds {
		wg.Go(func() { b.file(hash, fmt.Sprint(7000+i), protocol.Yes, 5000) })
	}
	wg.Wait()
	if diff := b.count(`SELECT count(*) FROM api.market_totals WHERE crowd_yes <> 1`); diff != 0 {
		t.Errorf("%d of %d markets have a wrong crowd", diff, rounds)
	}
	if list, err := Recount(t.Context(), b.rw); err != nil || len(list) > 0 {
		t.Errorf("recount: %+v, %v", list, err)
	}
	b.exec(`UPDATE api.operator_totals SET crowd = NOT crowd`)
	if list, err := Recount(t.Context(), b.rw); err != nil || len(list) != 1 {
		t.Errorf("a wrong flag was not reported: %+v, %v", list, err)
	}
}

// TestClassifyingBeforeAWaitingFiling checks the crowd counters when an operator is classified while the filing of its call
// waits between its snapshot and the update of the counters.
func TestClassifyingBeforeAWaitingFiling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("66", 5000)
	id, hash := b.operator("android")
	first := b.hold(`SELECT FROM api.operator_totals WHERE user_id = $1 FOR UPDATE`, id)
	waiting := b.start(hash, newDraft("66", protocol.Yes, 5000))
	b.waiters(1)
	first.exec(`UPDATE api.users SET operator_type = 'system_bot' WHERE id = $1`, id)
	first.exec(`UPDATE api.operator_totals SET crowd = false WHERE user_id = $1`, id)
	first.commit()
	if f := <-waiting; f.err != nil || f.Verdict != signal.VerdictFiled {
		t.Fatalf("waiting call: %+v; want filed", f)
	}
	if n := b.count(`SELECT crowd_yes FROM api.market_totals WHERE market_id = '66'`); n != 0 {
		t.Errorf("a bot counts as crowd")
	}
}

func TestClassifyingChangesTheNativePrice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.nativeMarket("native-bbbbbbbbbb", 5000)
	b.nativeMarket("native-cccccccccc", 5000)
	_, hash := b.operator("machine")
	b.file(hash, "native-bbbbbbbbbb", protocol.Yes, 5000)
	b.file(hash, "native-cccccccccc", protocol.Yes, 5000)
	b.exec(`UPDATE api.markets SET status = 'resolved', resolution_value = 'YES' WHERE market_id = 'native-cccccccccc'`)
	kind := protocol.SystemBot
	if _, err := b.Classify(t.Context(), operator.Class{Handle: "machine", Type: &kind, Actor: "admin"}, nil, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for market, want := range map[string]int{"native-bbbbbbbbbb": 5000, "native-cccccccccc": 5556} {
		if got := b.count(`SELECT yes_bps FROM api.market_quotes WHERE market_id = $1`, market); got != want {
			t.Errorf("%s: quote %d, want %d", market, got, want)
		}
		if got := b.count(`SELECT yes_bps FROM api.market_prices WHERE market_id = $1 ORDER BY at DESC LIMIT 1`, market); got != want {
			t.Errorf("%s: snapshot %d, want %d", market, got, want)
		}
	}
}

func TestFilingsAndEventsStoreTheUseOfTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("67", 5000)
	b.venueMarket("68", 5000)
	_, hash := b.operator("user")
	used := func() time.Time {
		t.Helper()
		var at time.Time
		if err := b.admin.QueryRow(t.Context(), `SELECT coalesce(last_used_at, '-infinity') FROM api.operator_keys`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at.UTC()
	}
	id := b.file(hash, "67", protocol.Yes, 5000)
	if got := used(); !got.Equal(noon) {
		t.Errorf("after a call: %s", got)
	}
	b.clock.Advance(30 * time.Second)
	b.file(hash, "68", protocol.Yes, 5000)
	if got := used(); !got.Equal(noon) {
		t.Errorf("30 seconds later: %s", got)
	}
	b.clock.Advance(time.Minute)
	owner := "owner"
	e := signal.Event{ID: newDraft("67", protocol.Yes, 0).ID, Type: "note", Payload: `{"text":"x"}`, Actor: &owner, CreatedAt: b.clock.Now()}
	if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, e); err != nil {
		t.Fatal(err)
	}
	if got := used(); !got.Equal(b.clock.Now()) {
		t.Errorf("after an event: %s", got)
	}
}
