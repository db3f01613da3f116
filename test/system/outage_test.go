package system

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// outageStack returns a system whose venues a test may make fail. Only one test uses it at a time.
func outageStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Env("MANIFOLD_RATED_CREATORS", "*"))
}

// TestCallsDuringAnOutageGainNothing checks calls that are filed while their venue does not answer. A call at any price must be
// stored within the time limit, and must gain no points (guarantee P2).
func TestCallsDuringAnOutageGainNothing(t *testing.T) {
	t.Parallel()
	s := outageStack(t)
	for i, venue := range stack.Venues {
		modes := []string{"refuse", "hang", "429", "garbage"}
		mode := modes[i%len(modes)]
		t.Run(venue+" "+mode, func(t *testing.T) {
			t.Parallel()
			m := s.NewVenueMarket(t, venue, 0.97, nil)
			m.Read(t)
			s.FailVenue(t, venue, mode, 40*time.Second)
			stack.Wait(t, 16*time.Second) // the quote is older than 15 s

			o, began := s.NewOperator(t), time.Now()
			a := o.File(t, stack.Call(m.ID, "YES", 1)).Require(http.StatusOK)
			if took := time.Since(began); took > 2500*time.Millisecond {
				t.Errorf("the call was answered after %v; want at most 1.75 s plus the tolerance for a loaded machine", took)
			}
			a.Expect(stack.JSON{"priceVerified": false, "scoreBasisBps": 1, "yesPriceBps": nil, "warnings": []string{"price_unverified"}})
			s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 1).With("maxSlippageBps", 200)).
				RequireError(http.StatusConflict, "price_moved").Expect(stack.JSON{"reason": "unverified"})

			s.FailVenue(t, venue, "none", 0)
			stack.Wait(t, 1100*time.Millisecond) // venues state the end of a market in whole seconds
			m.Resolve(t, "YES")
			result := s.RequireResult(t, a.Text("id"))
			result.Expect(stack.JSON{"status": "won", "priceVerified": false, "counted": false})
			if n := stack.Query[int](t, s, "SELECT score FROM api.operator_scores WHERE user_id = $1", o.ID); n != 0 {
				t.Errorf("the operator has %d points; want 0", n)
			}
		})
	}
}

// TestUnconfirmedMarketsAreNotPublic checks that only the operator sees a call on a market that no venue has confirmed, and
// that the call is void if the venue answers that the market does not exist (guarantee P8).
func TestUnconfirmedMarketsAreNotPublic(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Env("MANIFOLD_RATED_CREATORS", "*"))
	const id, claim = "kalshi-FAKE0-X-Y", "Will the mayor of Vantor be convicted of fraud?"
	s.FailVenue(t, "kalshi", "refuse", 10*time.Minute)
	o := s.NewOperator(t)
	a := o.File(t, stack.Call(id, "YES", 5000).With("marketTitle", claim).With("textTake", claim)).Require(http.StatusOK)
	a.Expect(stack.JSON{"priceVerified": false})
	call := a.Text("id")

	if got := s.Signal(t, call).Text("marketTitle"); got != id {
		t.Errorf("the title of an unconfirmed market is %q; want its id", got)
	}
	o.File(t, stack.Call(id, "NO", 5000)).RequireError(http.StatusConflict, "already_predicted")
	public := []string{
		s.Hub + "/api/signals/feed", s.Hub + "/api/signals/feed?type=open", s.Hub + "/api/m/" + id, s.Hub + "/api/m/" + id + "/signals",
		s.Hub + "/u/" + o.Handle, s.API + "/api/v1/feed?after=0", s.Hub + "/api/pulse", s.Hub + "/api/network/market/" + id,
	}
	for _, url := range public {
		if page := stack.Get(t, url); page.Contains(call) || page.Contains("Vantor") {
			t.Errorf("%s shows a call on an unconfirmed market", url)
		}
	}

	s.FailVenue(t, "kalshi", "none", 0)
	result := s.RequireResult(t, call)
	result.Expect(stack.JSON{"status": "void", "reason": "unknown_market", "counted": false})
	for _, url := range append(public, s.Hub+"/api/signals/"+call) {
		if page := stack.Get(t, url); page.Contains("Vantor") {
			t.Errorf("%s shows the text of a call on a market that does not exist", url)
		}
	}
}

// TestConfirmedMarketsBecomePublic checks that the calls of a market become public with the title of the venue when the
// venue confirms the market (guarantee P8).
func TestConfirmedMarketsBecomePublic(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Env("MANIFOLD_RATED_CREATORS", "*"))
	m := s.NewVenueMarket(t, "limitless", 0.40, nil)
	s.FailVenue(t, "limitless", "refuse", 10*time.Minute)
	o := s.NewOperator(t)
	call := o.File(t, stack.Call(m.ID, "YES", 4000).With("marketTitle", "an invented title")).Require(http.StatusOK).Text("id")
	s.FailVenue(t, "limitless", "none", 0)
	stack.Eventually(t, 60*time.Second, "the call in the feed", func() bool {
		s.Scan(t)
		return stack.Send(t, http.MethodGet, s.Hub+"/api/signals/feed").Require(http.StatusOK).Contains(call)
	})
	ledger := stack.Send(t, http.MethodGet, s.Hub+"/api/m/"+m.ID+"/signals").Require(http.StatusOK)
	ledger.Expect(stack.JSON{"signals.0.id": call, "count": 1})
	if page := stack.Get(t, s.API+"/api/v1/feed?after=0"); !page.Contains(call) || page.Contains("an invented title") {
		t.Error("the feed lacks the call or shows the title that the caller sent")
	}
}

// TestOneOperatorCannotUseUpVenueReads checks that one operator cannot use up the venue reads that calls of other operators
// need (guarantee P2).
func TestOneOperatorCannotUseUpVenueReads(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	markets := make([]*stack.VenueMarket, 30)
	for i := range markets {
		markets[i] = s.NewVenueMarket(t, "manifold", 0.50, stack.JSON{"question": fmt.Sprintf("Will it rain on day %d?", i)})
		markets[i].Read(t)
	}
	stack.Wait(t, 16*time.Second)
	greedy, verified := s.NewOperator(t), 0
	for _, m := range markets {
		if a := greedy.File(t, stack.Call(m.ID, "YES", 5000)).Require(http.StatusOK); a.Value("priceVerified") == true {
			verified++
		}
	}
	if verified == 0 || verified > 20 {
		t.Errorf("%d of 30 calls of one operator caused a read of the venue; want 1 to 20", verified)
	}
	m := s.NewVenueMarket(t, "manifold", 0.50, nil)
	s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 5000)).Require(http.StatusOK).Expect(stack.JSON{"priceVerified": true})
}
