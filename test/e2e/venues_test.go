package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFourVenues: on every venue a market is read on demand, called, decided and
// scored, with the venue as the source; one of the primary venue is found by its words.
func TestFourVenues(t *testing.T) {
	t.Parallel()
	s := up(t)
	for provider, prefix := range map[string]string{"polymarket": "", "kalshi": "kalshi-", "limitless": "lmt-", "manifold": "manifold-"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p := s.person(t)
			question := "Will the " + provider + " lighthouse of Fårö be lit by noon?"
			url := s.Venues + "/sim/" + provider + "/markets"
			body := obj{"question": question, "yesPrice": 0.4, "endDate": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)}
			if provider != "manifold" { // which has no book
				body["spread"] = 0
			}
			market := post(t, url, payload(body)).is(http.StatusCreated).str("id")
			if !strings.HasPrefix(market, prefix) {
				t.Fatalf("the id is %s", market)
			}
			id := p.call(t, market, "YES", 4000)
			s.signal(t, id).has(obj{"marketTitle": question, "status": "pending"})
			get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).has(obj{"provider": provider, "status": "open", "resolved": false})
			get(t, s.Hub+"/api/network/market/"+market).is(http.StatusOK).has(obj{"market.provider": provider, "market.title": question, "crowd.totalSignals": 1})

			if provider == "polymarket" {
				eventually(t, func() bool {
					found := get(t, s.Hub+"/api/polymarket/markets?q=faro+Lighthouse").is(http.StatusOK)
					return strings.Contains(string(found.body), `"`+market+`"`)
				}, "the market among those that are searched")
			}

			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // Kalshi gives closing times in whole seconds
			post(t, url+"/"+market, payload(obj{"state": "resolved", "outcome": "YES"})).is(http.StatusOK)
			eventually(t, func() bool { s.scan(t); return s.signal(t, id).str("status") != "pending" }, "the outcome")
			s.signal(t, id).has(obj{"status": "won", "score": 60, "outcome": "YES"})
			get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"outcome.outcome": "YES", "outcome.resolver": "oracle", "outcome.source": provider})
		})
	}
}
