package system

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestMarketsOfEveryVenueMoveAndAir checks that a moving market of each venue is in the list of moves, in the situations and in a
// preset of the programme that requires a volume, whatever the unit of its volume, and that its call is listed.
func TestMarketsOfEveryVenueMoveAndAir(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	for _, venue := range stack.Venues {
		t.Run(venue, func(t *testing.T) {
			t.Parallel()
			volume := 20_000.0
			if venue == "manifold" { // 100 mana are a dollar
				volume *= 100
			}
			question := "Will Bitcoin trade above 90,000 dollars in the week of " + rand.Text() + "?"
			m := s.NewVenueMarket(t, venue, 0.50, stack.JSON{
				"question": question, "category": "Crypto", "tags": []string{"Crypto"}, "volume": volume,
				"endDate": stack.Stamp(time.Now().Add(40 * time.Minute)),
			})
			m.Read(t)
			id := s.NewOperator(t).File(t, stack.Call(m.ID, "YES", 5000)).Require(http.StatusOK).Text("id")
			if _, err := s.DB(t).Exec(t.Context(), `INSERT INTO api.market_prices (market_id, at, yes_bps)
				VALUES ($1, now() - interval '45 minutes', 1000)`, m.ID); err != nil {
				t.Fatal(err)
			}
			for _, where := range []string{
				s.Hub + "/api/wire?window=1h&limit=50&lane=CRYPTO", s.Hub + "/api/situations?window=1h&limit=50&lane=CRYPTO",
				s.Clock + "/program/channel?limit=400&preset=close",
			} {
				stack.Eventually(t, 2*time.Minute, "market "+m.ID+" in "+where, func() bool {
					return stack.Get(t, where).Require(http.StatusOK).Contains(question)
				})
			}
			calls := s.API + "/api/v1/signals?marketId=" + url.QueryEscape(m.ID)
			if !stack.Get(t, calls).Require(http.StatusOK).Contains(id) {
				t.Errorf("%s does not contain the call %s", calls, id)
			}
		})
	}
}
