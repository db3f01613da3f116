package career

import (
	"cmp"
	"slices"
)

// Want is what the contract makes of one call once its question is decided.
type Want struct {
	Call
	Yes    int // the market's price, frozen
	Stored int
	Basis  int
	Status Status
	Score  int
	CLV    *int
	Answer Verdict
}

// Expect works out one call.
func Expect(c Call, q Question, tolerance int) Want {
	w := Want{Call: c, Yes: q.YesBps, Answer: q.Verdict}
	w.Stored = Stored(c.Side, c.Price, q.YesBps)
	w.Basis = Basis(c.Side, w.Stored, q.YesBps, tolerance)
	w.Status, w.Score = Judge(c.Side, w.Basis, q.Verdict)
	w.CLV = CLV(c.Side, w.Basis, q.YesBps, q.Verdict)
	return w
}

// Tally is the record of one operator.
type Tally struct {
	Total, Won, Lost, Void int
	Score                  int
	Takes                  int // takes appended as events
}

// Resolved counts the calls that were won or lost.
func (t Tally) Resolved() int { return t.Won + t.Lost }

// Add counts one call.
func (t *Tally) Add(w Want) {
	t.Total++
	t.Score += w.Score
	switch w.Status {
	case Won:
		t.Won++
	case Lost:
		t.Lost++
	case Void:
		t.Void++
	case Pending:
	}
	if w.Event != "" {
		t.Takes++
	}
}

// KindRow sums up one kind of operator.
type KindRow struct {
	Title     string
	Operators int
	Tally
}

// Mean is the score of one resolved call on average.
func (k KindRow) Mean() float64 {
	if k.Resolved() == 0 {
		return 0
	}
	return float64(k.Score) / float64(k.Resolved())
}

// Kinds sums up by kind, the best mean first.
func Kinds(cast []Operator, tallies []Tally) []KindRow {
	at := map[string]int{}
	var out []KindRow
	for i, o := range cast {
		title := o.Title()
		if _, ok := at[title]; !ok {
			at[title] = len(out)
			out = append(out, KindRow{Title: title})
		}
		k, t := &out[at[title]], tallies[i]
		k.Operators++
		k.Total += t.Total
		k.Won += t.Won
		k.Lost += t.Lost
		k.Void += t.Void
		k.Score += t.Score
	}
	slices.SortStableFunc(out, func(a, b KindRow) int { return cmp.Compare(b.Mean(), a.Mean()) })
	return out
}
