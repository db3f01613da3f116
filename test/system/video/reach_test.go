package video

import (
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestReachCountsViewerMinutes checks that the broadcast score of an operator contains the minutes for which viewers watched, by the
// formula of docs/scores.md. The number of minutes must be that of the analytics, and not above the time during which the viewers of
// this test watched. A broadcast without viewers adds nothing.
func TestReachCountsViewerMinutes(t *testing.T) {
	t.Parallel()
	s := system(t)
	watched, alone, market := s.NewOperator(t), s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	for _, o := range []*stack.Operator{watched, alone} {
		o.NewCall(t, market, "YES", 5000, nil)
		broadcast(t, o, market, "https://video.example/"+o.Handle+".m3u8")
	}
	const viewers = 12
	began := time.Now()
	for i := range viewers {
		id := stack.Body(stack.JSON{"viewerId": fmt.Sprint("viewer ", i)})
		stack.Send(t, http.MethodPost, s.Hub+"/api/live/"+watched.Handle+"/view", id).Require(http.StatusOK)
	}
	analytics := func(o *stack.Operator) int {
		return stack.Send(t, http.MethodGet, s.Hub+"/api/streamer/analytics?window=28d", stack.Bearer(o.Key)).
			Require(http.StatusOK).Int("viewerMinutes")
	}
	stack.Eventually(t, time.Minute, "two viewer minutes in the samples", func() bool {
		return stack.Query[int](t, s, `SELECT coalesce(sum(m.viewers), 0)::integer FROM hub.live_samples m
			JOIN hub.live_sessions l ON l.id = m.session_id WHERE l.handle = $1`, watched.Handle) >= 2*12
	})
	for _, o := range []*stack.Operator{watched, alone} {
		o.Send(t, "/api/streamer/heartbeat", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"state": "offline"})
	}
	minutes := analytics(watched)
	if minutes < 2 {
		t.Errorf("the analytics count %d viewer minutes; want at least 2", minutes)
	}
	// A sample stands for the five seconds until the next one.
	if most := viewers * (time.Since(began) + 5*time.Second).Minutes(); float64(minutes) > most {
		t.Errorf("the analytics count %d viewer minutes; want at most %.1f", minutes, most)
	}
	for o, minutes := range map[*stack.Operator]int{watched: minutes, alone: 0} {
		// No points, one call of 28 days.
		reach := math.Log10(1+float64(minutes)) / 5
		want := int(math.Round(500*0.5 + 300.0/28 + 200*reach))
		row := boardRow{}
		stack.Eventually(t, 30*time.Second, fmt.Sprintf("%d viewer minutes of %s on the board", minutes, o.Handle), func() bool {
			row = rowOf(t, s, o.Handle)
			return row.ViewerMinutes == minutes && row.Handle != ""
		})
		if row.BroadcastScore != want || math.Abs(row.Components.Reach-reach) > 0.005 {
			t.Errorf("row of the board with %d viewer minutes: %+v; want the broadcast score %d and the reach %.2f", minutes, row, want, reach)
		}
		read(t, s.Hub+"/api/operator/"+o.Handle).Expect(stack.JSON{"stats.broadcastScore": want})
	}
	if reports := stack.Query[int](t, s, `SELECT count(*) FROM api.viewer_reports v JOIN api.users u ON u.id = v.user_id
		WHERE u.handle = $1`, alone.Handle); reports != 0 {
		t.Errorf("the ledger has %d reports of a broadcast without viewers; want 0", reports)
	}
	verify := exec.CommandContext(t.Context(), filepath.Join(stack.Bin(t), "api"), "boards", "verify")
	verify.Env = []string{"ENV=test", "DATABASE_URL=" + s.ServiceDatabase(t, "api")}
	if out, err := verify.CombinedOutput(); err != nil {
		t.Errorf("api boards verify: %v\n%s", err, out)
	}
}

type boardRow struct {
	Handle                        string
	BroadcastScore, ViewerMinutes int
	Components                    struct{ Reach float64 }
}

// rowOf returns the row of an operator on the board by broadcast score.
func rowOf(t *testing.T, s *stack.Stack, handle string) boardRow {
	t.Helper()
	var b struct{ Leaderboard []boardRow }
	read(t, s.Hub+"/api/operator/leaderboard?limit=100&nocache="+fmt.Sprint(time.Now().UnixNano())).Decode(&b)
	for _, r := range b.Leaderboard {
		if r.Handle == handle {
			return r
		}
	}
	return boardRow{}
}
