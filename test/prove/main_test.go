package main

import (
	"testing"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/internal/rows"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	all := []frame.Row{{ID: "A1"}, {ID: "B2"}, {ID: "C4"}}
	for _, c := range []struct {
		ids  []string
		want string
	}{{nil, "A1B2C4"}, {[]string{""}, "A1B2C4"}, {[]string{"c4,a1"}, "A1C4"}, {[]string{"", "B2 C4"}, "B2C4"}} {
		chosen, err := choose(all, c.ids)
		got := ""
		for _, row := range chosen {
			got += row.ID
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %s, %v", c.ids, got, err)
		}
	}
	if _, err := choose(all, []string{"Z9"}); err == nil {
		t.Error("a row that does not exist was chosen")
	}
}

func TestAbreast(t *testing.T) {
	t.Parallel()
	a, b, c := frame.Row{ID: "A1"}, frame.Row{ID: "B1", Beside: "C1"}, frame.Row{ID: "C1"}
	for _, want := range []struct {
		rows []frame.Row
		line string
	}{{[]frame.Row{a, b, c}, "A1 | C1 B1 | "}, {[]frame.Row{a, b}, "A1 | B1 | "}} {
		line := ""
		for _, together := range abreast(want.rows) {
			for _, row := range together {
				line += row.ID + " "
			}
			line += "| "
		}
		if line != want.line {
			t.Errorf("%q, want %q", line, want.line)
		}
	}
}

func TestEveryRowHasAFault(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, row := range rows.All() {
		if known[row.ID] || row.Title == "" || row.Run == nil || row.Fault.What == "" {
			t.Errorf("row %q is not complete, or there twice", row.ID)
		}
		known[row.ID] = true
	}
}
