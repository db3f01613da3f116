package score_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/score"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// bps reads a price; `none` is none.
func bps(cell string) *syntax.Bps {
	n, err := strconv.Atoi(cell)
	if err != nil {
		return nil
	}
	p := syntax.Bps(n)
	return &p
}

// again computes the last cells of a table row from the first ones, by the head of the table.
var again = map[string]func(c []string) []string{
	"called|at, bps|outcome|status|score": func(c []string) []string {
		r := score.Of(syntax.Side(c[0]), *bps(c[1]), syntax.Verdict(c[2]), nil)
		return []string{string(r.Status), strconv.Itoa(r.Score)}
	},
	"called|stated|price of YES|price of NO|second quote of the side|scoring price": func(c []string) []string {
		side := syntax.Side(c[0])
		price := map[syntax.Side]*syntax.Bps{syntax.Yes: bps(c[2]), syntax.No: bps(c[3])}[side]
		basis := signal.Basis(*bps(c[1]), price, 0)
		if second := bps(c[4]); second != nil {
			basis = score.Basis(basis, side, market.Quote{Yes: *second, No: *second})
		}
		return []string{strconv.Itoa(int(basis))}
	},
	"figure|made of": func([]string) []string { return nil }, // texts
	"called|scoring price|close, YES|clvBps": func(c []string) []string {
		return []string{strconv.Itoa(*score.Of(syntax.Side(c[0]), *bps(c[1]), syntax.VerdictYes, bps(c[2])).CLV)}
	},
	"won|lost|accuracy": func(c []string) []string {
		return []string{strconv.Itoa(score.Accuracy(int64(*bps(c[0])), int64(*bps(c[1]))))}
	},
}

// TestExamplesOfThePage: every number in the tables of docs/scores.md is what the code gives.
func TestExamplesOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/scores.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	head := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = ""
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch work := again[head]; {
		case head == "":
			head = strings.Join(cells, "|")
		case strings.HasPrefix(cells[0], "--"):
		case work == nil:
			t.Errorf("no test knows the table %s", head)
		default:
			rows[head]++
			got := work(cells)
			if want := cells[len(cells)-len(got):]; strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: the code says %v", line, got)
			}
		}
	}
	for head := range again {
		if rows[head] < 3 {
			t.Errorf("%d rows of %s", rows[head], head)
		}
	}
}
