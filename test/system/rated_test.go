package system

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestUnratedMarketsDoNotCount checks that calls on a market with a low volume, or of an unlisted creator, are stored but do
// not count (guarantee P6).
func TestUnratedMarketsDoNotCount(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	m := s.NewVenueMarket(t, "kalshi", 0.30, stack.JSON{"volume": 9_999})
	m.Read(t)
	o := s.NewOperator(t)
	a := o.File(t, stack.Call(m.ID, "YES", 3100)).Require(http.StatusOK)
	a.Expect(stack.JSON{"rated": false, "priceVerified": true, "warnings": []string{"market_unrated"}})
	waitForSecondQuote(t, s, a.Text("id"))
	stack.Wait(t, 1100*time.Millisecond)
	m.Resolve(t, "YES")
	result := s.RequireResult(t, a.Text("id"))
	result.Expect(stack.JSON{"status": "won", "rated": false, "counted": false})
	requirePoints(t, s, o, 0)
}

// TestAdministratorRatesAMarket checks that a rating by an administrator applies only to later calls (guarantee P6).
func TestAdministratorRatesAMarket(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	m := s.NewVenueMarket(t, "limitless", 0.30, stack.JSON{"volume": 10})
	m.Read(t)
	before := s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 3100)).Require(http.StatusOK).Expect(stack.JSON{"rated": false})
	url := s.Hub + "/api/admin/markets/" + m.ID
	stack.Post(t, url, stack.Body(stack.JSON{"rated": true, "reason": "audited"})).Require(http.StatusUnauthorized)
	stack.Post(t, url, s.Admin(), stack.Body(stack.JSON{"rated": true, "reason": "audited"})).Require(http.StatusOK)
	after := s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 3100)).Require(http.StatusOK).Expect(stack.JSON{"rated": true})
	waitForSecondQuote(t, s, after.Text("id"))
	stack.Wait(t, 1100*time.Millisecond)
	m.Resolve(t, "YES")
	s.RequireResult(t, after.Text("id")).Expect(stack.JSON{"counted": true})
	s.RequireResult(t, before.Text("id")).Expect(stack.JSON{"counted": false})
	m.Read(t).Expect(stack.JSON{"rated": true})
}

// TestBoardsIncludeOnlyCountedCalls checks that points, leaderboards and skill include only counted calls, and that the record
// of the operator contains all calls (guarantee P9).
func TestBoardsIncludeOnlyCountedCalls(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	rated := s.NewNativeMarket(t, 4000, nil)
	unrated := s.NewNativeMarket(t, 4000, nil)
	stack.Post(t, s.Hub+"/api/admin/markets/"+unrated, s.Admin(), stack.Body(stack.JSON{"rated": false, "reason": "test"})).Require(http.StatusOK)
	for _, market := range []string{unrated, rated} {
		id := o.File(t, stack.Call(market, "YES", 4000)).Require(http.StatusOK).Text("id")
		s.Finalize(t, market, "YES")
		s.Signal(t, id).Expect(stack.JSON{"status": "won", "score": 60, "counted": market == rated})
		requirePoints(t, s, o, map[string]int{rated: 60}[market])
	}
	var record stack.Answer
	stack.Eventually(t, 30*time.Second, "the record with both calls", func() bool { // answers are cached for some seconds
		record = stack.Send(t, http.MethodGet, s.Hub+"/api/network/field-record/"+o.Handle).Require(http.StatusOK)
		return record.Int("resolved") == 2
	})
	record.Expect(stack.JSON{"score": 60, "correct": 2, "calls": 2})
}

// requirePoints fails the test unless the operator has this number of points.
func requirePoints(t *testing.T, s *stack.Stack, o *stack.Operator, want int) {
	t.Helper()
	if got := stack.Query[int](t, s, "SELECT score FROM api.operator_scores WHERE user_id = $1", o.ID); got != want {
		t.Errorf("the operator has %d points; want %d", got, want)
	}
}

// TestScoringVersion checks that results have the current scoring version (guarantee P24).
func TestScoringVersion(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	market := s.NewNativeMarket(t, 5000, nil)
	id := s.NewOperator(t).File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")
	s.Finalize(t, market, "NO")
	if got := stack.Query[string](t, s, "SELECT scoring_version FROM api.signal_results WHERE signal_id = $1", id); got != "1.1" {
		t.Errorf("scoring version %s, want 1.1", got)
	}
}
