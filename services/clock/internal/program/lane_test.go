package program

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLanes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]Lane{
		"sports":          {"sports"},
		"SPORT":           {"sports"},
		"sport":           {"sports"},
		"culture":         {"culture"},
		"CULTURE":         {"fashion", "culture"},
		"ENTERTAINMENT":   {"film", "tv"},
		"WORLD":           {"news"},
		"OTHER":           nil,
		"Sports":          nil,
		"":                nil,
		"sports;drop":     nil,
		"averyveryverylo": nil,
	} {
		if diff := cmp.Diff(want, ParseLanes(in)); diff != "" {
			t.Errorf("ParseLanes(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestEveryLaneIsKnown(t *testing.T) {
	t.Parallel()
	if len(Lanes()) != 12 {
		t.Fatalf("lanes = %d, want 12", len(Lanes()))
	}
	for _, l := range append(Lanes(), DefaultLanes()...) {
		if got, ok := ParseLane(string(l)); !ok || got != l || l.Label() == "" {
			t.Errorf("lane %q is not known", l)
		}
	}
	if got := Lane("science").Label(); got != "SCIENCE" {
		t.Errorf("label = %q", got)
	}
}
