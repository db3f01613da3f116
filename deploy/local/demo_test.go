package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestDemo runs a demo with the real programs, and checks its history and its bots.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	r := &running{t: t, dir: dir, end: make(chan error, 1)}
	r.cmd = exec.Command(launcher, "demo", "--dir", dir, "--fresh", "--ports", "auto", "--markets", "60", "--operators", "30",
		"--set", "dynamic_shared_memory_type=mmap")
	r.cmd.Env = append(os.Environ(), "RATE_LIMIT_ANON=0") // the test polls
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.end <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Signal(syscall.SIGTERM) })
	testkit.Eventually(t, 4*time.Minute, func() bool {
		out := r.out.String()
		select {
		case err := <-r.end:
			t.Fatalf("ended: %v\n%s", err, out)
		default:
		}
		if strings.Contains(out, "bots stopped") {
			t.Fatal(out)
		}
		return strings.Contains(out, "the bots file calls; Ctrl-C stops everything\n")
	})
	out := r.out.String()
	if !regexp.MustCompile(`stored 30 operators, 60 markets, \d{3} calls`).MatchString(out) {
		t.Errorf("the history was not stored:\n%s", out)
	}
	_, list, _ := strings.Cut(out, "pages to open:")
	found := regexp.MustCompile(`http://\S+`).FindAllString(list, -1)
	if len(found) != 5 {
		t.Errorf("demo prints %d URLs; want 5: %s", len(found), list)
	}
	for _, url := range found {
		if !answers(url) {
			t.Errorf("%s does not answer 200", url)
		}
	}
	s := r.stack()
	var open struct{ Signals []struct{ Handle string } }
	if get(t, s.Hub+"/api/signals/feed?type=open&limit=50", &open); len(open.Signals) < len(personas) {
		t.Errorf("%d open calls; want at least %d", len(open.Signals), len(personas))
	}
	requireWorld(t, s)
	requirePoints(t, s)
	newest := func() int {
		var feed struct{ Items []struct{ Seq int } }
		if get(t, s.API+"/api/v1/feed?types=signal.created,signal.event&limit=1", &feed); len(feed.Items) == 0 {
			t.Fatal("the feed has no call")
		}
		return feed.Items[0].Seq
	}
	before := newest()
	testkit.Eventually(t, time.Minute, func() bool { return newest() > before })
	r.terminate()
	if left := living(s); len(left) > 0 {
		t.Errorf("processes after the stop: %v; want none", left)
	}
}

// requireWorld requires a live broadcast, follows, a profile and a payout address. It waits until a clip exists, a short broadcast has
// ended and a call of a bot is resolved.
func requireWorld(t *testing.T, s stack) {
	t.Helper()
	var shows struct{ Live, Recent []named }
	if get(t, s.Hub+"/api/streamers/live", &shows); !slices.ContainsFunc(shows.Live, of("late_ferry")) {
		t.Errorf("broadcasts: %+v; want late_ferry", shows)
	}
	testkit.Eventually(t, 2*time.Minute, func() bool {
		get(t, s.Hub+"/api/streamers/live", &shows)
		return slices.ContainsFunc(shows.Recent, of("slow_tram"))
	})
	var moves struct{ Count int }
	testkit.Eventually(t, 2*time.Minute, func() bool {
		get(t, s.Hub+"/api/wire?window=24h", &moves)
		return moves.Count > 0
	})
	if _, err := exec.LookPath("ffmpeg"); err == nil {
		var network struct{ Tapes []named }
		testkit.Eventually(t, 2*time.Minute, func() bool {
			get(t, s.Hub+"/api/network/tapes?limit=5", &network)
			return len(network.Tapes) > 0
		})
	}
	var profile struct {
		DisplayName, Bio, AvatarURL string
		Followers                   int
	}
	if get(t, s.Hub+"/api/streamer/profile?handle=rain_check", &profile); profile.Followers != len(personas)-1 || profile.Bio == "" ||
		!strings.HasPrefix(profile.AvatarURL, s.Hub+"/u/rain_check/picture?v=") {
		t.Errorf("profile: %+v; want a text, a picture and %d followers", profile, len(personas)-1)
	}
	tip, err := http.Get(s.Hub + "/tip/rain_check")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tip.Body.Close() }()
	if tip.StatusCode != http.StatusOK {
		t.Errorf("the page of the payout address answers %d; want 200", tip.StatusCode)
	}
	testkit.Eventually(t, 3*time.Minute, func() bool {
		var feed struct{ Items []named }
		get(t, s.API+"/api/v1/feed?types=signal.resolved&limit=5", &feed)
		return slices.ContainsFunc(personas, func(p persona) bool {
			return slices.ContainsFunc(feed.Items, of(strings.ReplaceAll(p.name, "-", "_")))
		})
	})
}

// named is an object with the handle of an operator.
type named struct{ Handle string }

func of(handle string) func(named) bool { return func(n named) bool { return n.Handle == handle } }

// requirePoints waits until the leaderboard has 20 operators, and requires that the first one has points.
func requirePoints(t *testing.T, s stack) {
	t.Helper()
	var board struct {
		Leaderboard []struct{ Score, Won, Lost int }
	}
	testkit.Eventually(t, time.Minute, func() bool {
		get(t, s.API+"/api/v1/signals/leaderboard?operators=all&limit=50", &board)
		return len(board.Leaderboard) >= 20
	})
	if first := board.Leaderboard[0]; first.Score <= 0 || first.Won == 0 {
		t.Errorf("the first operator of the board has %+v; want points", first)
	}
}
