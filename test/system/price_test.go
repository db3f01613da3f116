package system

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// ledgerStack returns the system that most tests of this package share. It has production settings, except that Manifold
// markets of all creators are rated. Tests that make venues fail use outageStack instead.
func ledgerStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Env("MANIFOLD_RATED_CREATORS", "*"))
}

// quoted contains the prices of a market in basis points: of YES, of NO, and the middle.
type quoted struct{ yes, no, middle int }

// quoteOf returns the prices of a market. It reads them from the answer to a call of a new operator.
func quoteOf(t *testing.T, s *stack.Stack, m *stack.VenueMarket) quoted {
	t.Helper()
	m.Read(t)
	a := s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 5000)).Require(http.StatusOK)
	return quoted{yes: a.Int("yesPriceBps"), no: a.Int("noPriceBps"), middle: a.Int("marketYesBps")}
}

// TestScoringPriceIsNeverBelowTheMarket checks on every venue that the scoring price is the larger of the stated price
// and the price of the side called (guarantees P1 and P3).
func TestScoringPriceIsNeverBelowTheMarket(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	for _, venue := range stack.Venues {
		t.Run(venue, func(t *testing.T) {
			t.Parallel()
			m := s.NewVenueMarket(t, venue, 0.30, nil)
			q := quoteOf(t, s, m)
			half := 50 // half the spread of one cent in the simulated order books
			if venue == "manifold" {
				half = 0
			}
			if q.yes != 3000+half || q.no != 7000+half {
				t.Errorf("YES costs %d and NO %d; want %d and %d", q.yes, q.no, 3000+half, 7000+half)
			}
			for _, tc := range []struct {
				name, side   string
				stated, want int
			}{
				{"YES at 0", "YES", 0, q.yes},
				{"YES 10 cents below the market", "YES", 2000, q.yes},
				{"YES above the market", "YES", 3400, 3400},
				{"NO 10 cents below the market", "NO", 6000, q.no},
				{"NO above the market", "NO", 7600, 7600},
			} {
				t.Run(tc.name, func(t *testing.T) {
					o := s.NewOperator(t)
					a := o.File(t, stack.Call(m.ID, tc.side, tc.stated)).Require(http.StatusOK)
					a.Expect(stack.JSON{"priceAtPrediction": tc.stated, "scoreBasisBps": tc.want, "priceVerified": true, "rated": true})
					s.Signal(t, a.Text("id")).Expect(stack.JSON{"priceAtPrediction": tc.stated, "scoreBasisBps": tc.want, "priceVerified": true, "counted": nil})
				})
			}
		})
	}
}

// TestSecondQuoteScoresTheCall checks that an outdated first quote does not determine the score of a call. If the price has
// risen, the first quote at least 5 s after the call determines it (guarantee P4).
func TestSecondQuoteScoresTheCall(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	for _, venue := range stack.Venues {
		t.Run(venue, func(t *testing.T) {
			t.Parallel()
			m := s.NewVenueMarket(t, venue, 0.30, nil)
			m.Read(t)
			o, other := s.NewOperator(t), s.NewOperator(t)
			follower := o.File(t, stack.Call(m.ID, "YES", 3000)).Require(http.StatusOK)
			loser := other.File(t, stack.Call(m.ID, "NO", 7000)).Require(http.StatusOK)
			m.Change(t, stack.JSON{"yesPrice": 0.90}) // both calls are filed before the ledger can read the new price
			waitForSecondQuote(t, s, follower.Text("id"))
			stack.Wait(t, 1100*time.Millisecond) // venues state the end of a market in whole seconds
			m.Resolve(t, "YES")

			won := s.RequireResult(t, follower.Text("id"))
			won.Expect(stack.JSON{"status": "won", "counted": true})
			if basis := won.Int("scoreBasisBps"); basis < 9000 {
				t.Errorf("the call at 3000 is scored at %d after a jump to 9000; want at least 9000", basis)
			}
			if score := won.Int("score"); score > 10 {
				t.Errorf("the call gains %d points; want at most 10", score)
			}
			lost := s.RequireResult(t, loser.Text("id"))
			lost.Expect(stack.JSON{"status": "lost", "scoreBasisBps": loser.Int("scoreBasisBps")})
		})
	}
}

// waitForSecondQuote waits until the database contains a quote that is at least 5 s newer than the call.
func waitForSecondQuote(t *testing.T, s *stack.Stack, id string) {
	t.Helper()
	stack.Eventually(t, 25*time.Second, "a second quote of call "+id, func() bool {
		return stack.Query[bool](t, s, `SELECT EXISTS (SELECT FROM api.signals AS c JOIN api.quotes AS q USING (market_id)
			WHERE c.id = $1 AND q.at >= c.created_at + interval '5 seconds')`, id)
	})
}

// TestCallWithoutSecondQuoteDoesNotCount checks that a call does not count if its market ends before a second quote is stored
// (guarantee P4).
func TestCallWithoutSecondQuoteDoesNotCount(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	m := s.NewVenueMarket(t, "kalshi", 0.30, nil)
	m.Read(t)
	o := s.NewOperator(t)
	id := o.File(t, stack.Call(m.ID, "YES", 3000)).Require(http.StatusOK).Text("id")
	stack.Wait(t, 1500*time.Millisecond) // venues state the end of a market in whole seconds
	m.Resolve(t, "YES")
	s.RequireResult(t, id).Expect(stack.JSON{"status": "won", "counted": false})
}

// TestCrowdCannotMoveANativePriceBelowItsOpening checks that neither the crowd nor the caller lowers the price of a
// native market below its opening price (guarantee P5).
func TestCrowdCannotMoveANativePriceBelowItsOpening(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	market := s.NewNativeMarket(t, 5000, nil)
	for _, o := range s.SeedOperators(t, 20) {
		o.File(t, stack.Call(market, "NO", 5000)).Require(http.StatusOK).Expect(stack.JSON{"priceVerified": true})
	}
	a := s.NewOperator(t).File(t, stack.Call(market, "YES", 1000)).Require(http.StatusOK)
	a.Expect(stack.JSON{"scoreBasisBps": 5000, "priceVerified": true, "rated": true})
	if crowd := a.Int("marketYesBps"); crowd >= 5000 {
		t.Fatalf("after 20 NO calls the crowd is at %d bps; want below 5000", crowd)
	}
	s.Finalize(t, market, "YES")
	s.Signal(t, a.Text("id")).Expect(stack.JSON{"status": "won", "score": 50, "counted": true})
}

// TestReceiptShowsThePointsOfTheScoringPrice checks that the receipt shows the points for the scoring price, and marks
// a stated price that differs (guarantee P16).
func TestReceiptShowsThePointsOfTheScoringPrice(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	m := s.NewVenueMarket(t, "kalshi", 0.70, nil)
	q := quoteOf(t, s, m)
	a := s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 1)).Require(http.StatusOK)
	page := stack.Send(t, http.MethodGet, a.Text("receiptUrl")).Require(http.StatusOK)
	if win := fmt.Sprintf("+%d", (10_000-q.yes)/100); !page.ShowsText(win) || page.ShowsText("+99") {
		t.Errorf("the receipt does not show a gain of %s, or shows +99, the gain for the stated price", win)
	}
	for _, text := range []string{"at most", "stated"} {
		if !page.ShowsText(text) {
			t.Errorf("the receipt does not show %q", text)
		}
	}
}
