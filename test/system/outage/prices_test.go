package outage

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// The price of a market with a call follows its venue within seconds, over the socket alone and by polling alone. A socket
// that is open and silent is replaced.
func TestPricesFollowTheVenue(t *testing.T) {
	s := system(t)
	const polymarket = "polymarket"
	fault := func(on, mode string) {
		t.Helper()
		body := stack.Body(stack.JSON{"mode": mode, "seconds": 300, "on": on})
		stack.Post(t, s.Venues+"/sim/"+polymarket+"/fault", body).Require(http.StatusOK)
	}
	market := s.NewVenueMarket(t, polymarket, 0.4, stack.JSON{"question": "Will the tide gauge at Hanö be read live?"})
	s.NewOperator(t).NewCall(t, market.ID, "YES", 4000, nil)
	requirePrice := func(price float64, within time.Duration) {
		t.Helper()
		market.Change(t, stack.JSON{"yesPrice": price})
		stack.Eventually(t, within, "the new price", func() bool { return market.Read(t).Int("yesBps") == int(price*10_000+0.5) })
	}
	market.AwaitFollowed(t)
	t.Run("socket", func(t *testing.T) {
		fault("reads", "refuse")
		requirePrice(0.61, 5*time.Second)
		requirePrice(0.585, 5*time.Second)
	})
	t.Run("polling", func(t *testing.T) {
		before := s.VenueSockets(t).Ever
		fault("sockets", "hang")
		fault("reads", "none")
		requirePrice(0.25, 90*time.Second)
		stack.Eventually(t, 90*time.Second, "a further socket", func() bool { return s.VenueSockets(t).Ever > before })
	})
	t.Run("new socket", func(t *testing.T) {
		fault("reads", "refuse")
		fault("sockets", "none")
		market.AwaitFollowed(t)
		requirePrice(0.8, 10*time.Second)
	})
	fault("reads", "none")
}
