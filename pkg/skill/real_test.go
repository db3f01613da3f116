package skill

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// question is a real one with the price of YES some time before it was decided.
type question struct {
	yes syntax.Bps
	won bool
}

// questions reads the resolved questions beside the root of the project; nil
// where they are not.
func questions(t *testing.T) (list []question) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "resolved-questions.csv")
	f, err := os.Open(path)
	if err != nil {
		t.Logf("no resolved questions at %s: nothing to check", path)
		return nil
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		yes, err := strconv.Atoi(row[column["yes_bps"]])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, question{syntax.Bps(yes), row[column["outcome_yes"]] == "1"})
	}
	return list
}

// always calls one side of every question.
func always(t *testing.T, list []question, side func(syntax.Bps) syntax.Side) *Sample {
	t.Helper()
	s := new(Sample)
	for _, q := range list {
		called := side(q.yes)
		if err := s.Add(Call{Price: q.yes.Of(called), Won: q.won == (called == syntax.Yes)}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestRealQuestions plays simple rules against real prices and outcomes.
func TestRealQuestions(t *testing.T) {
	t.Parallel()
	list := questions(t)
	if list == nil {
		return
	}
	favourite := func(yes syntax.Bps) syntax.Side {
		if yes >= 5000 {
			return syntax.Yes
		}
		return syntax.No
	}
	rules := map[string]func(syntax.Bps) syntax.Side{
		"always YES":    func(syntax.Bps) syntax.Side { return syntax.Yes },
		"always NO":     func(syntax.Bps) syntax.Side { return syntax.No },
		"the favourite": favourite,
		"the outsider":  func(yes syntax.Bps) syntax.Side { return favourite(yes.Of(syntax.No)) },
	}
	for name, side := range rules {
		s := always(t, list, side)
		r := report(t, s)
		t.Logf("%-14s %d of %d won at a mean price of %d: edge %+d bps (%+d to %+d), chance of so many or more %.4f, of so many or fewer %.4f",
			name, r.Wins, r.Calls, r.PriceBps, r.EdgeBps, r.LowBps, r.HighBps, r.Above, r.Below)
		sameTails(t, wins(s.odds()), stepped(s.odds()))
	}
	// Who knows every answer is told from luck at once, and who knows the price
	// only is not, on the same questions.
	knows := new(Sample)
	for _, q := range list[:20] {
		side := syntax.No
		if q.won {
			side = syntax.Yes
		}
		if err := knows.Add(Call{Price: q.yes.Of(side), Won: true}); err != nil {
			t.Fatal(err)
		}
	}
	if r := report(t, knows); r.LowBps <= 0 || *r.Needed != 0 {
		t.Errorf("who knows the answers: %+v", r)
	}
	rng := rand.New(rand.NewPCG(10, 10))
	prices := make([]int, len(list))
	for i, q := range list {
		prices[i] = int(Within(q.yes))
	}
	const plays = 300
	covered := 0
	for range plays {
		if r := report(t, play(t, rng, prices, right)); r.LowBps <= 0 && 0 <= r.HighBps {
			covered++
		}
	}
	if chance := 3 * math.Sqrt(0.05*0.95*plays); float64(covered) < 0.95*plays-chance {
		t.Errorf("with these prices the interval covers %d of %d", covered, plays)
	}
}
