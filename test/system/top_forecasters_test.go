package system

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestTopForecasters checks the forecast of the top forecasters of a market. These are the best quarter, by mean score, of the
// operators with at least ten results.
func TestTopForecasters(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.ScoredAtOnce()) // a separate system: operators of other tests could be top forecasters
	var all []*stack.Operator
	for range 12 {
		all = append(all, s.NewOperator(t))
	}
	best, rest := all[:3], all[3:]
	for range 10 {
		unlikely, likely := s.NewNativeMarket(t, 100, nil), s.NewNativeMarket(t, 9000, nil)
		for _, o := range best {
			o.File(t, stack.Call(unlikely, "YES", 100)).Require(http.StatusOK)
		}
		for _, o := range rest {
			o.File(t, stack.Call(likely, "YES", 9000)).Require(http.StatusOK)
		}
		s.Finalize(t, unlikely, "YES")
		s.Finalize(t, likely, "YES")
	}
	market := s.NewNativeMarket(t, 5000, nil)
	for i, o := range all {
		side := "NO"
		if i == 0 || i == 2 {
			side = "YES"
		}
		o.File(t, stack.Call(market, side, 5000)).Require(http.StatusOK)
	}
	stack.Eventually(t, 30*time.Second, "the forecast of the three top forecasters of the market", func() bool {
		a := stack.Send(t, http.MethodGet, s.Hub+"/api/m/"+market+"/crowd").Require(http.StatusOK)
		return a.Value("topForecasters") != nil && a.Int("topForecasters.sampleSize") == 3 &&
			a.Int("topForecasters.yesPercent") == 67 &&
			a.Int("totalSignals") == 12 && a.Int("yesPercent") == 17
	})
}
