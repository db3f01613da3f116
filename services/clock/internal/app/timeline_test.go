package app

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// longMinutes is the length of the compared timelines in minutes: almost one week.
const longMinutes = 10_000

// clockProcess runs the clock command in a separate process.
func clockProcess(env []string, args ...string) ([]byte, error) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(env, asCommand+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w: %s", args, err, &errs)
	}
	return out.Bytes(), nil
}

// TestTwoProcesses checks that two independent processes print identical timelines. It compares 10,000 minutes of each kind of
// channel, which must also match the slot arithmetic of the protocol.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	first, last := program.SlotAt(at), program.SlotAt(at.Add(longMinutes*time.Minute-1))
	db := testkit.Postgres(t, postgres.Schema(""))
	l := newLedger(t)
	for i := range 40 {
		m := open(fmt.Sprint(100+i), string(program.Lanes()[i%len(program.Lanes())]))
		m.EndDate = timestamppb.New(at.Add(time.Duration(300+i) * time.Hour))
		l.markets[m.GetId()] = m
	}
	store := postgres.New(testkit.Pool(t, db.URL("clock_rw")), testkit.ReadTime)
	for _, channel := range []string{program.DefaultChannel, program.StationChannel("lab")} {
		var changes []program.Change
		for k := first; k <= last; k++ {
			for i, lane := range program.DefaultLanes() {
				id := protocol.MarketID(fmt.Sprint(100 + (int(k)*7+i)%40))
				changes = append(changes, program.Change{Entry: program.Entry{Lane: lane, Slot: k, Market: id, Title: "Stored?"}})
			}
		}
		for len(changes) > 0 {
			n := min(len(changes), 1000)
			if _, err := store.ApplySlots(t.Context(), channel, changes[:n], at); err != nil {
				t.Fatal(err)
			}
			changes = changes[n:]
		}
	}
	env := []string{"ENV=test", "DATABASE_URL=" + db.URL("clock_rw"), "DB_READ_TIMEOUT=20s", "API_ADDR=" + l.addr, "LINK_SECRET=" + linkSecret}
	slots := int(last - first + 1)
	for _, c := range []struct {
		args  string
		lanes int
		of    func(k int) string // expected market of the lane sports in slot k; nil: not checked
	}{
		{"", 6, func(k int) string { return fmt.Sprint(100 + k*7%40) }},
		{"--station lab", 6, func(k int) string { return fmt.Sprint(100 + k*7%40) }},
		{"--preset hot", 12, func(k int) string { return fmt.Sprint([]int{100, 112, 124, 136}[k%4]) }},
		{`--spec {"categories":["sports","music"],"topPerCategory":3}`, 2, func(k int) string { return fmt.Sprint([]int{100, 112, 124}[k%3]) }},
		{"--preset close --lane sports", 0, nil},
	} {
		args := append([]string{"timeline", "--at", protocol.Stamp(at), "--minutes", fmt.Sprint(longMinutes)}, strings.Fields(c.args)...)
		var out [2][]byte
		var errs [2]error
		var wg sync.WaitGroup
		for i := range out {
			wg.Go(func() { out[i], errs[i] = clockProcess(env, args...) })
		}
		wg.Wait()
		if errs[0] != nil || errs[1] != nil {
			t.Fatalf("%v %v", errs[0], errs[1])
		}
		if !bytes.Equal(out[0], out[1]) {
			t.Errorf("%q: the outputs of the two processes differ", c.args)
		}
		checkTimeline(t, c.args, string(out[0]), c.lanes*(2*slots)-c.lanes, at, c.of) // without the first bumper, which is over
	}
}

// checkTimeline compares each line of a timeline with the slot arithmetic and checks the number of lines.
func checkTimeline(t *testing.T, name, text string, lines int, at time.Time, of func(int) string) {
	t.Helper()
	if n := strings.Count(text, "\n"); n != lines {
		t.Errorf("%q: %d lines, want %d", name, n, lines)
	}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		id := strings.Split(f[2], ":")
		from, _ := protocol.ParseStamp(f[0])
		to, _ := protocol.ParseStamp(f[1])
		var k int
		if _, err := fmt.Sscan(id[2], &k); err != nil {
			t.Fatal(err)
		}
		start := time.Unix(int64(k)*610, 0)
		end := start.Add(10 * time.Second)
		if id[3] == "c" {
			start, end = end, start.Add(610*time.Second)
		}
		if !from.Equal(start) || !to.Equal(end) || !to.After(at) {
			t.Fatalf("%q: the times of %s do not match slot %d", name, line, k)
		}
		if id[1] == "sports" && of != nil && f[3] != of(k) {
			t.Fatalf("%q: slot %d airs %s, want %s", name, k, f[3], of(k))
		}
	}
}
