package frame_test

import (
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
