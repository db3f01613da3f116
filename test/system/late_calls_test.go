package system

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestCallsAfterResolution checks that a call that is filed after the venue has resolved its market cannot win, even if the
// delay is short (guarantees P7 and P2). The ledger reads the market just before the resolution, and not again before the call.
func TestCallsAfterResolution(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	delays := []time.Duration{0, time.Second, 5 * time.Second, 30 * time.Second, 120 * time.Second}[:stack.Size(t, 3, 4, 5)]
	for _, venue := range stack.Venues {
		for _, delay := range delays {
			t.Run(fmt.Sprintf("%s %v", venue, delay), func(t *testing.T) {
				t.Parallel()
				m := s.NewVenueMarket(t, venue, 0.30, nil)
				early := s.NewOperator(t).File(t, stack.Call(m.ID, "NO", 7000)).Require(http.StatusOK)
				o := s.NewOperator(t)
				// Venues state the end of a market in whole seconds, so a call in the same second counts as late too.
				waitForSecond(t)
				m.Resolve(t, "YES")
				if delay > 0 {
					stack.Wait(t, delay)
				}

				a := o.Retry(t, http.MethodPost, s.Hub+"/api/predictions", stack.Bearer(o.Key), stack.Body(stack.Call(m.ID, "YES", 3000)))
				if a.Status != http.StatusOK {
					a.RequireError(http.StatusConflict, "market_closed") // provisional, or resolved if a scan of another test ran first
					return
				}
				late := s.RequireResult(t, a.Text("id"))
				late.Expect(stack.JSON{"status": "void", "score": 0, "counted": false, "reason": "late"})
				s.RequireResult(t, early.Text("id")).Expect(stack.JSON{"status": "lost"})
			})
		}
	}
}

// waitForSecond waits until the beginning of the next second.
func waitForSecond(t *testing.T) {
	t.Helper()
	now := time.Now()
	stack.Wait(t, now.Truncate(time.Second).Add(time.Second+20*time.Millisecond).Sub(now))
}

// TestNativeCallsAfterTheDecisionAreVoid checks that finalizing a native market voids the calls that were filed after its
// outcome was public (guarantee P7).
func TestNativeCallsAfterTheDecisionAreVoid(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	market := s.NewNativeMarket(t, 5000, nil)
	early := s.NewOperator(t).File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")
	stack.Wait(t, 100*time.Millisecond)
	decided := time.Now()
	stack.Wait(t, 100*time.Millisecond)
	late := s.NewOperator(t).File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")

	body := stack.JSON{"marketId": market, "verdict": "YES", "decidedAt": stack.Stamp(decided)}
	future := body.With("decidedAt", stack.Stamp(time.Now().Add(time.Hour)))
	stack.Post(t, s.Hub+"/api/resolution/finalize", s.Admin(), stack.Body(future)).Require(http.StatusBadRequest)
	stack.Post(t, s.Hub+"/api/resolution/finalize", s.Admin(), stack.Body(body)).Require(http.StatusOK)
	s.Signal(t, early).Expect(stack.JSON{"status": "won", "counted": true})
	s.Signal(t, late).Expect(stack.JSON{"status": "void", "score": 0, "counted": false, "reason": "late"})
}
