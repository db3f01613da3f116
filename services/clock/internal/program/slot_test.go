package program

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// noon is the time for which the protocol gives the slot number as a test vector.
var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func TestSlotVector(t *testing.T) {
	t.Parallel()
	s := SlotAt(noon)
	if s != 2933988 {
		t.Fatalf("slot = %d, want 2933988", s)
	}
	for name, c := range map[string]struct{ got, want time.Time }{
		"bumper starts":    {s.Start(), time.Date(2026, 9, 18, 11, 58, 0, 0, time.UTC)},
		"content starts":   {s.Content(), time.Date(2026, 9, 18, 11, 58, 10, 0, time.UTC)},
		"content ends":     {s.End(), time.Date(2026, 9, 18, 12, 8, 10, 0, time.UTC)},
		"next slot starts": {(s + 1).Start(), time.Date(2026, 9, 18, 12, 8, 10, 0, time.UTC)},
		"boundary":         {Boundary(noon), time.Date(2026, 9, 18, 12, 8, 10, 0, time.UTC)},
		"bumper boundary":  {Boundary(s.Start()), s.Content()},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s at %s, want %s", name, c.got, c.want)
		}
	}
	if got := SegmentID("default", "science", s, Bumper); got != "default:science:2933988:b" {
		t.Errorf("segment id = %q", got)
	}
	if got := SegmentID("default", "science", s, Content); got != "default:science:2933988:c" {
		t.Errorf("segment id = %q", got)
	}
}

func TestSlotsAreContiguous(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-4e9, 4e9).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
		s := SlotAt(at)
		if at.Before(s.Start()) || !at.Before(s.End()) {
			t.Fatalf("%s is not between start and end of slot %d", at, s)
		}
		if SlotAt(s.Start()) != s || SlotAt(s.End()) != s+1 || !s.End().Equal((s + 1).Start()) {
			t.Fatalf("slot %d overlaps the next slot or leaves a gap", s)
		}
		if s.Content().Sub(s.Start()) != BumperLength || s.End().Sub(s.Content()) != ContentLength {
			t.Fatalf("the parts of slot %d have wrong lengths", s)
		}
		b := Boundary(at)
		if !b.After(at) || b.Sub(at) > ContentLength || (!b.Equal(s.Content()) && !b.Equal(s.End())) {
			t.Fatalf("boundary %s after %s", b, at)
		}
	})
}
