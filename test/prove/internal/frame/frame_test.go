package frame_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

func TestSeen(t *testing.T) {
	t.Parallel()
	s := frame.NewSeen()
	s.OutOf(20, 20)
	if s.Check(true, "no"); !s.OK() {
		t.Fatal(s.Mistakes())
	}
	s.OutOf(20, 19)
	for range 20 {
		s.Wrong("once more")
	}
	if list := s.Mistakes(); s.OK() || len(list) != 9 || list[0] != "19 of 20" || list[8] != "and 13 more" {
		t.Fatalf("%q", list)
	}
}

// The end of a log names what failed, with its reasons, and nothing that went well.
func TestRecall(t *testing.T) {
	t.Parallel()
	report := frame.Begin(frame.Small, 1)
	report.Add(frame.Result{ID: "A1", Title: "kept", Promised: "1 of 1", Seen: "1 of 1", OK: true})
	var out strings.Builder
	if report.Recall(&out); out.Len() != 0 {
		t.Errorf("%q", out.String())
	}
	report.Add(frame.Result{ID: "A2", Title: "broken", Promised: "2 of 2", Seen: "1 of 2", Wrong: []string{"the first reason", "and 3 more"}})
	report.Add(frame.Result{ID: "A3", Title: "not run", Wrong: []string{"no such file"}})
	report.Recall(&out)
	want := `
2 of 3 promises FAILED:
A2 broken | promised 2 of 2 | seen 1 of 2
     the first reason
     and 3 more
A3 not run | promised - | seen -
     no such file
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -5000: "-5,000", 10007: "10,007"} {
		if got := frame.Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	var times frame.Times
	for i := range 100 {
		times.Add(time.Duration(100-i) * time.Millisecond)
	}
	if times.At(0.99) != 100*time.Millisecond || times.At(0.5) != 51*time.Millisecond || times.At(1) != 100*time.Millisecond || times.Above(90*time.Millisecond) != 10 {
		t.Fatal(times.At(0.99), times.At(0.5), times.At(1), times.Above(90*time.Millisecond))
	}
}
