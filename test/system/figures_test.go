package system

import (
	"math"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// rowOf returns the row of a board that belongs to a handle; nil if there is none.
func rowOf(t *testing.T, url, member, handle string) map[string]any {
	t.Helper()
	for _, row := range stack.Send(t, http.MethodGet, url).Require(http.StatusOK).List("leaderboard") {
		if m, ok := row.(map[string]any); ok && m[member] == handle {
			return m
		}
	}
	return nil
}

// The boards show the figures of an operator with twelve calls won and six lost at 64 cents, one void and five open.
func TestFiguresOfAnOperator(t *testing.T) {
	t.Parallel()
	s := stack.Shared(t, stack.ScoredAtOnce())
	o := s.NewOperator(t)
	for i := range 24 {
		market := s.NewNativeMarket(t, 6400, nil)
		o.File(t, stack.Call(market, "YES", 6400)).Require(http.StatusOK)
		switch {
		case i < 12:
			s.Finalize(t, market, "YES")
		case i < 18:
			s.Finalize(t, market, "NO")
		case i == 18:
			s.Finalize(t, market, "INVALID")
		}
	}
	// Skill is 0.5 + score / (50 * calls), activity calls / 28; nobody watches.
	broadcast := math.Round(500*(0.5+48.0/(50*28)) + 300*24.0/28)
	for name, board := range map[string]struct {
		url, member string
		want        stack.JSON
	}{
		"api": {s.API + "/api/v1/signals/leaderboard?limit=200&operators=all", "callsign", stack.JSON{
			"pending": 5, "won": 12, "lost": 6, "score": 48, "accuracy": 67, "total": 24, "isAi": false, "tier": "independent",
		}},
		"hub": {s.Hub + "/api/operator/leaderboard?limit=100&window=28d", "handle", stack.JSON{
			"pending":        5,
			"broadcastScore": broadcast,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			stack.Eventually(t, 30*time.Second, "the figures on the board", func() bool {
				row := rowOf(t, board.url, board.member, o.Handle)
				for member, want := range board.want {
					if row == nil || !stack.EqualJSON(row[member], want) {
						t.Logf("%s of %v, want %v", member, row, want)
						return false
					}
				}
				return true
			})
		})
	}
}

// The top forecasters of a market are the best quarter, by mean score, of the operators with at least ten results.
func TestTopForecasters(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.ScoredAtOnce()) // operators of other tests would be among the best
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
	stack.Eventually(t, 30*time.Second, "the top forecasters of the market", func() bool {
		a := stack.Send(t, http.MethodGet, s.Hub+"/api/m/"+market+"/crowd").Require(http.StatusOK)
		return a.Value("topForecasters") != nil && a.Int("topForecasters.sampleSize") == 3 &&
			a.Int("topForecasters.yesPercent") == 67 &&
			a.Int("totalSignals") == 12 && a.Int("yesPercent") == 17
	})
}

// A call has at most 200 events, however many requests add one at the same time, and they do not change the call.
func TestACallHasAtMost200Events(t *testing.T) {
	t.Parallel()
	s := stack.Shared(t)
	o := s.NewOperator(t)
	id := o.File(t, stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)).Require(http.StatusOK).Text("id")
	before, url := s.Signal(t, id).Body, s.Hub+"/api/signals/"+id+"/events"
	var senders sync.WaitGroup
	for range 4 {
		key, _ := o.Mint(t, stack.JSON{"label": "events"}) // a key has 60 requests per minute
		senders.Go(func() {
			for range 50 {
				o.Retry(t, http.MethodPost, url, stack.Bearer(key), stack.Body(stack.JSON{"type": "reaffirm"}))
			}
		})
	}
	senders.Wait()
	note := stack.Body(stack.JSON{"type": "note", "payload": stack.JSON{"text": "one more"}})
	o.Do(t, http.MethodPost, url, stack.Bearer(o.Key), note).RequireError(http.StatusConflict, "event_limit_reached")
	if n := len(stack.Send(t, http.MethodGet, url).Require(http.StatusOK).List("events")); n != 200 {
		t.Errorf("%d events; want 200", n)
	}
	if after := s.Signal(t, id).Body; string(after) != string(before) {
		t.Errorf("the call has changed:\n%s\n%s", before, after)
	}
}
