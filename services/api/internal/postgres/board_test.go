package postgres

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

var boardLanes = []string{"SCIENCE", "CRYPTO", "SPORTS"}

// ledger is a database on which random acts of operators and administrators are executed, with the data needed to choose
// them.
type ledger struct {
	*bundle
	rnd     *rand.Rand
	people  []string // handles of the operators
	hashes  [][]byte
	markets []string
	open    map[string]bool
	signals []struct {
		id   string
		hash []byte
	}
}

func newLedger(t *testing.T, seed uint64, operators int) *ledger {
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 4, ConfirmAfter: confirmAfter})
	l := &ledger{bundle: b, rnd: rand.New(rand.NewPCG(seed, 1)), open: map[string]bool{}}
	s := b.service()
	for i := range operators {
		name := fmt.Sprintf("op%d", i)
		_, hash := b.operator(name)
		l.people, l.hashes = append(l.people, name), append(l.hashes, hash)
		l.classify(s, name)
	}
	return l
}

func (l *ledger) classify(s *operator.Service, name string) {
	l.t.Helper()
	kinds := []protocol.OperatorType{protocol.Human, protocol.Human, protocol.AIAgent}
	kind, house := kinds[l.rnd.IntN(len(kinds))], l.rnd.IntN(3) == 0
	if _, err := s.Classify(l.t.Context(), operator.Class{Handle: name, Type: &kind, House: &house, Actor: "admin"}); err != nil {
		l.t.Fatal(err)
	}
}

// step executes one random act: for example, it files a call, claims an outcome or adds a market.
func (l *ledger) step(s *operator.Service) {
	l.t.Helper()
	ctx := l.t.Context()
	switch n := l.rnd.IntN(100); {
	case n < 8:
		l.addMarket()
	case n < 60 && len(l.markets) > 0:
		market, who := l.markets[l.rnd.IntN(len(l.markets))], l.hashes[l.rnd.IntN(len(l.hashes))]
		side := []protocol.Side{protocol.Yes, protocol.No}[l.rnd.IntN(2)]
		d := newDraft(market, side, []int{100, 1500, 4000, 5000, 9900}[l.rnd.IntN(5)]) // few prices, so that many scores are equal
		if confidence := 20 * l.rnd.IntN(4); confidence > 0 {
			d.Confidence = &confidence
		}
		if text := []string{"", "It holds."}[l.rnd.IntN(2)]; l.rnd.IntN(2) == 0 {
			d.TextTake = &text
		}
		if f := l.try(signal.Caller{KeyHash: who}, d); f.Verdict == signal.VerdictFiled {
			if l.rnd.IntN(3) == 0 { // a second quote with another price
				yes := 100 + l.rnd.IntN(9800)
				l.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule) VALUES ($1, $2, $3, $4, 'test') ON CONFLICT DO NOTHING`,
					market, l.clock.Now().Add(6*time.Second), yes, 10_000-yes)
			}
			l.setFacts(d.ID, facts{l.rnd.IntN(8) > 0, l.rnd.IntN(8) > 0, l.rnd.IntN(8) > 0})
			l.signals = append(l.signals, struct {
				id   string
				hash []byte
			}{d.ID, who})
		}
	case n < 68 && len(l.signals) > 0:
		g := l.signals[l.rnd.IntN(len(l.signals))]
		l.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'take', '{}', $2)`, g.id, l.clock.Now())
		l.exec(`INSERT INTO api.outbox (type, user_id, signal_id, at) SELECT 'note', user_id, id, $2 FROM api.signals WHERE id = $1`, g.id, l.clock.Now())
	case n < 75 && len(l.markets) > 0:
		market := l.markets[l.rnd.IntN(len(l.markets))]
		if l.open[market] {
			l.open[market] = false
			if l.rnd.IntN(4) == 0 { // trading ended earlier, so later calls are void
				l.exec(`UPDATE api.markets SET status = 'closed', closed_at = $2 WHERE market_id = $1`, market,
					l.clock.Now().Add(-time.Duration(l.rnd.Int64N(int64(20*24*time.Hour)))))
			}
			verdict := []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}[l.rnd.IntN(3)]
			l.claim(market, verdict)
		}
	case n < 79:
		for _, id := range must(l.ListDrains(ctx))(l.t) {
			if _, _, err := l.DrainOnce(ctx, id); err != nil {
				l.t.Fatal(err)
			}
		}
	case n < 84:
		if _, err := l.NumberFeed(ctx, 1+l.rnd.IntN(20)); err != nil {
			l.t.Fatal(err)
		}
	case n < 88:
		if _, err := l.DrainFeed(ctx, 1+l.rnd.IntN(5), nil); err != nil {
			l.t.Fatal(err)
		}
	case n < 92:
		if _, err := l.FoldBoards(ctx, 1+l.rnd.IntN(30), l.month().Add(-10*time.Second)); err != nil {
			l.t.Fatal(err)
		}
		if _, err := l.FoldEdges(ctx, 1+l.rnd.IntN(6), board.MeasureEdge); err != nil {
			l.t.Fatal(err)
		}
	case n < 94:
		l.classify(s, l.people[l.rnd.IntN(len(l.people))])
	case n < 97:
		l.reportViewers()
	default:
		l.clock.Advance(time.Duration(l.rnd.Int64N(int64(12 * 24 * time.Hour))))
	}
}

// reportViewers stores reports of watched time, some of them twice, late, early or for an unknown operator.
func (l *ledger) reportViewers() {
	l.t.Helper()
	var list []feed.ViewerReport
	for range 1 + l.rnd.IntN(4) {
		ago := time.Duration(l.rnd.Int64N(int64(40*24*time.Hour))) - time.Hour
		list = append(list, feed.ViewerReport{
			ID: uuid.NewString(), Handle: l.people[l.rnd.IntN(len(l.people))], At: l.clock.Now().Add(-ago),
			ViewerSeconds: 1 + l.rnd.Int64N([]int64{100, 10_000, 10_000_000}[l.rnd.IntN(3)]),
		})
	}
	list = append(list, feed.ViewerReport{ID: uuid.NewString(), Handle: "no_such_user", At: l.clock.Now(), ViewerSeconds: 60}, list[0])
	for range 1 + l.rnd.IntN(2) {
		if err := l.StoreViewerReports(l.t.Context(), list); err != nil {
			l.t.Fatal(err)
		}
	}
}

// addMarket adds an open market: one of a venue, or a native one that an administrator or an operator created. Calls on some
// of these markets do not count.
func (l *ledger) addMarket() {
	l.t.Helper()
	id, creator := fmt.Sprint(1000+len(l.markets)), "admin"
	price := []int{300, 900, 2500, 5000, 9700}[l.rnd.IntN(5)]
	if l.rnd.IntN(4) == 0 {
		id = "native-" + id
		l.nativeMarket(id, price)
		if l.rnd.IntN(2) == 0 {
			creator = l.text(`SELECT id::text FROM api.users WHERE handle = $1`, l.people[l.rnd.IntN(len(l.people))])
		}
	} else {
		l.venueMarket(id, price)
	}
	l.exec(`UPDATE api.markets SET lane = $2, end_date = $3, created_by = $4, rated_ruling = $5 WHERE market_id = $1`,
		id, boardLanes[l.rnd.IntN(3)], l.clock.Now().AddDate(1, 0, 0), creator, l.rnd.IntN(8) > 0)
	l.markets, l.open[id] = append(l.markets, id), true
}

func (l *ledger) month() time.Time { return l.clock.Now().Add(-28 * 24 * time.Hour) }

// TestBoardsEqualTheRecord checks that boards equal the results of the query naive, whether or not changes have been folded.
func TestBoardsEqualTheRecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, seed, 9)
			s := l.service()
			for i := range 400 {
				l.step(s)
				l.verify(fmt.Sprint("step ", i))
				if i%40 == 39 {
					l.compare(fmt.Sprint("step ", i))
				}
			}
			l.settle()
			l.verify("settled")
			l.compareEdges()
		})
	}
}

// verify fails the test if Verify finds a difference. when names the situation in the error message.
func (l *ledger) verify(when string) {
	l.t.Helper()
	if list, err := Verify(l.t.Context(), l.rw); err != nil || len(list) > 0 {
		l.t.Fatalf("verify at %s: %+v, %v", when, list, err)
	}
}

// settle numbers and folds all changes, so that every stored board row is up to date.
func (l *ledger) settle() {
	l.t.Helper()
	ctx := l.t.Context()
	for n := 1; n > 0; {
		n = must(l.NumberFeed(ctx, 100))(l.t)
	}
	var blocked []string // markets whose results are not complete
	for range 3 * len(l.markets) {
		if d := must(l.DrainFeed(ctx, 100, blocked))(l.t); d.Blocked {
			blocked = append(blocked, d.MarketID)
		}
	}
	for range 10_000 {
		if must(l.FoldBoards(ctx, 100, l.month()))(l.t) && must(l.FoldEdges(ctx, 5, board.MeasureEdge))(l.t) {
			return
		}
	}
	l.t.Fatal("the fold does not end")
}

// TestBoardsFollowTiersAndTime checks that a changed tier of an operator, and the advance of the 28 days, appear on the
// boards immediately, also in rows without other changes.
func TestBoardsFollowTiersAndTime(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 5, 9)
	s := l.service()
	for range 200 {
		l.step(s)
	}
	l.settle()
	l.compare("folded")
	for _, name := range l.people {
		l.classify(s, name)
	}
	l.compare("classified")
	l.clock.Advance(9 * 24 * time.Hour)
	l.compare("later")
	l.settle()
	l.clock.Advance(30 * 24 * time.Hour)
	l.compare("after the window has moved")
}

// TestBoardsWaitForAnUnfinishedClaim checks that the results of a claim are counted once if its scoring ends after the
// window of 28 days has moved past the claim.
func TestBoardsWaitForAnUnfinishedClaim(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 6, 9)
	l.venueMarket("900", 5000)
	l.markets = []string{"900"}
	for _, hash := range l.hashes {
		l.file(hash, "900", protocol.Yes, 5000)
	}
	l.claim("900", protocol.VerdictYes)
	l.clock.Advance(40 * 24 * time.Hour)
	l.settle()
	l.compare("unfinished")
	for more := true; more; {
		var err error
		if _, more, err = l.DrainOnce(t.Context(), "900"); err != nil {
			t.Fatal(err)
		}
	}
	l.compare("finished")
	l.settle()
	l.compare("folded")
	l.verify("at the end")
}

// TestBoardsEqualAfterConcurrentWrites checks that boards equal the results of the query naive after concurrent writes.
func TestBoardsEqualAfterConcurrentWrites(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 77, 20)
	for i := range 12 {
		l.venueMarket(fmt.Sprint(2000+i), 5000)
	}
	for i := range 5 {
		l.venueMarket(fmt.Sprint(3000+i), 5000)
		for _, hash := range l.hashes {
			l.file(hash, fmt.Sprint(3000+i), protocol.Yes, 5000)
		}
		l.clock.Advance(time.Hour)
	}
	l.clock.Advance(29 * 24 * time.Hour)
	l.exec(`UPDATE api.markets SET end_date = $1`, l.clock.Now().AddDate(1, 0, 0))
	done := make(chan error, 3)
	go func() {
		for range 60 {
			if _, err := l.NumberFeed(t.Context(), 5); err != nil {
				done <- err
				return
			}
			if _, err := l.DrainFeed(t.Context(), 3, nil); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 2 {
		go func() {
			for range 60 {
				if _, err := l.FoldBoards(t.Context(), 7, l.month()); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for m := range 12 {
		for _, hash := range l.hashes {
			l.file(hash, fmt.Sprint(2000+m), protocol.Yes, 5000)
		}
		if m%2 == 0 {
			l.claim(fmt.Sprint(2000+m), protocol.VerdictYes)
		}
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	l.compare("after the writes")
	l.verify("at the end")
}

// TestCastScoreIsAsDefined checks that the SQL function board_cast computes the same broadcast score as castScore.
func TestCastScoreIsAsDefined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, s := range []int64{-9000, -51, -1, 0, 1, 7, 48, 333, 9999} {
		for _, done := range []int64{0, 1, 3, 18, 200} {
			for _, calls := range []int64{0, 1, 7, 27, 28, 500} {
				for _, more := range [][2]int64{{0, 0}, {1, 9}, {13, 137}, {0, 999}, {3, 99_998}, {0, 1 << 40}} {
					takes, minutes := more[0], more[1]
					got := b.count(`SELECT api.board_cast($1, $2, $3, $4, $5)`, s, done, calls, takes, minutes)
					if want := castScore(s, done, calls, takes, minutes); got != want {
						t.Errorf("points %d, %d results, %d calls, %d takes, %d viewer minutes: %d, want %d", s, done, calls, takes, minutes, got, want)
					}
				}
			}
		}
	}
}
