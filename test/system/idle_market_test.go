package system

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestVenueMarketsWithoutCallsAreResolved checks that a market that its venue has resolved gets its resolution although it has no
// calls: on the routes of the market, in the list of resolved markets, and as one event in the feed and at a webhook (guarantee A5).
func TestVenueMarketsWithoutCallsAreResolved(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	var mu sync.Mutex
	deliveries := map[string]bool{} // bodies of distinct deliveries
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		deliveries[string(body)] = true
		mu.Unlock()
	}))
	t.Cleanup(receiver.Close)
	owner := s.NewOperator(t)
	stack.Post(t, s.API+"/api/v1/webhooks", stack.Bearer(owner.Key), stack.Body(stack.JSON{"url": receiver.URL, "channels": []string{"resolutions"}})).
		Require(http.StatusCreated)
	markets := map[string]string{} // outcome by id
	for venue, outcome := range map[string]string{"polymarket": "YES", "kalshi": "NO", "limitless": "YES", "manifold": "NO"} {
		m := s.NewVenueMarket(t, venue, 0.60, nil)
		m.Resolve(t, outcome)
		m.Read(t)
		markets[m.ID] = outcome
	}
	for id, outcome := range markets {
		stack.Eventually(t, 90*time.Second, "the resolution of market "+id, func() bool {
			// A market without calls is read again five minutes after its last read.
			for _, statement := range []string{
				"UPDATE api.market_quotes SET at = at - interval '1 hour', answered_at = answered_at - interval '1 hour' WHERE market_id = $1",
				"UPDATE api.market_checks SET at = at - interval '1 hour' WHERE market_id = $1",
			} {
				if _, err := s.DB(t).Exec(t.Context(), statement, id); err != nil {
					t.Fatal(err)
				}
			}
			s.Scan(t)
			return stack.Get(t, s.Hub+"/api/m/"+id).Require(http.StatusOK).Contains(`"status":"resolved"`)
		})
		stack.Get(t, s.Hub+"/api/m/"+id).Require(http.StatusOK).Expect(stack.JSON{"status": "resolved", "resolutionValue": outcome})
		stack.Get(t, s.Hub+"/api/network/market/"+id).Require(http.StatusOK).Expect(stack.JSON{"market.status": "resolved", "market.outcome": outcome})
		if !strings.ContainsAny(id, "-:") {
			stack.Eventually(t, 20*time.Second, "the market in the list of resolved markets", func() bool {
				return stack.Get(t, s.Hub+"/api/polymarket/resolved").Require(http.StatusOK).Contains(`"` + id + `"`)
			})
		}
		events := func() int {
			return stack.Query[int](t, s, "SELECT count(*) FROM api.protocol_events WHERE type = 'market.resolved' AND market_id = $1", id)
		}
		stack.Eventually(t, 20*time.Second, "the event of market "+id, func() bool { return events() > 0 })
		s.Scan(t)
		if n := events(); n != 1 {
			t.Errorf("market %s has %d events market.resolved; want 1", id, n)
		}
		stack.Eventually(t, 60*time.Second, "a delivery of the event of market "+id, func() bool { return delivered(&mu, deliveries, id) > 0 })
		if n := delivered(&mu, deliveries, id); n != 1 {
			t.Errorf("%d deliveries of the resolution of market %s; want 1", n, id)
		}
	}
}

// delivered returns the number of distinct deliveries with the resolution of a market.
func delivered(mu *sync.Mutex, deliveries map[string]bool, market string) (n int) {
	mu.Lock()
	defer mu.Unlock()
	for body := range deliveries {
		if strings.Contains(body, `"market.resolved"`) && strings.Contains(body, `"`+market+`"`) {
			n++
		}
	}
	return n
}
