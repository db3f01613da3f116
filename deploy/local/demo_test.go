package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestDemoAndReplay runs the real programs: a demo with its past, and a career
// from a file played into it while its bots go on.
func TestDemoAndReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	r := &running{t: t, dir: dir, end: make(chan error, 1)}
	r.cmd = exec.Command(launcher, "demo", "--dir", dir, "--fresh", "--ports", "auto", "--questions", "40", "--operators", "30",
		"--set", "dynamic_shared_memory_type=mmap")
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
		if strings.Contains(out, "broke off") {
			t.Fatal(out)
		}
		return strings.Contains(out, "Ctrl-C stops it all\n") && strings.Contains(out, "bots go on calling")
	})
	out := r.out.String()
	if !regexp.MustCompile(`checked 4\d\d signals, 40 markets, \d+ board rows: all equal`).MatchString(out) {
		t.Error(out)
	}
	_, places, _ := strings.Cut(out, "look here")
	found := regexp.MustCompile(`http://\S+`).FindAllString(places, -1)
	if len(found) != 11 {
		t.Errorf("%d places to look at: %s", len(found), places)
	}
	for _, url := range found {
		if !answers(url) {
			t.Errorf("nothing is at %s", url)
		}
	}
	s := r.stack()
	var open struct{ Signals []struct{ Handle string } }
	if get(t, s.Hub+"/api/signals/feed?type=open&limit=50", &open); len(open.Signals) < len(streetNames) {
		t.Errorf("%d open calls", len(open.Signals))
	}
	replayInto(t, dir)
	newest := func() int {
		var feed struct{ Items []struct{ Seq int } }
		if get(t, s.API+"/api/v1/feed?types=signal.created,signal.event&limit=1", &feed); len(feed.Items) == 0 {
			t.Fatal("nobody ever called")
		}
		return feed.Items[0].Seq
	}
	before := newest()
	testkit.Eventually(t, time.Minute, func() bool { return newest() > before })
	r.terminate()
	if left := living(s); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// replayInto plays a file twice: the second time all names are taken.
func replayInto(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "career.csv")
	writeCareer(t, file, career.Invent(11, 40))
	for range 2 {
		out, err := exec.Command(launcher, "replay", file, "--dir", dir, "--seed", "7", "--operators", "40", "--rows", "40").CombinedOutput()
		text := string(out)
		if err != nil || !regexp.MustCompile(`\nchecked 4\d\d signals, 40 markets, 1\d\d board rows: all equal\n`).MatchString(text) {
			t.Fatalf("%v\n%s", err, text)
		}
		if !strings.HasPrefix(text, "refused: line 42: yes_bps is 20000, which no price can be; it must be from 0 to 10000\n40 questions, 40 operators, ") {
			t.Error(text)
		}
		if !regexp.MustCompile(`night_desk\S* +house`).MatchString(text) || !strings.Contains(text, "automated") {
			t.Error("the board is not as wanted", text)
		}
	}
	// The wrong rule must not pass.
	out, err := exec.Command(launcher, "replay", file, "--dir", dir, "--operators", "40", "--tolerance", "100").CombinedOutput()
	if err == nil || !regexp.MustCompile(`(?m)^  signal \S+: (score|clvBps) is \S+, must be \S+$`).Match(out) {
		t.Errorf("a wrong rule passes: %v\n%s", err, out)
	}
}

func writeCareer(t *testing.T, path string, questions []career.Question) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"source", "id", "question", "priced_at", "yes_bps", "outcome_yes", "resolved_on", "closes_at", "url"})
	put := func(id, text string, bps int, outcome string) {
		_ = w.Write([]string{"test", id, text, "2026-01-02T00:00:00+00:00", strconv.Itoa(bps), outcome, "2026-02-03", "2026-02-04T00:00:00+00:00", ""})
	}
	for i, q := range questions {
		put(fmt.Sprint(i), q.Text, q.YesBps, map[career.Verdict]string{career.Yes: "1", career.No: "0", career.Invalid: "invalid"}[q.Verdict])
	}
	put("bad", "Will this be read?", 20000, "1")
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
