package career

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Call is one call as an operator sends it.
type Call struct {
	Operator   int
	Question   int
	Side       Side
	Price      int // as sent
	Confidence int // 0: none
	Take       string
	Event      string // text of a take appended afterwards; empty: none
}

// Plan decides who calls what: at least MinOperators callers for each question,
// each operator on a question at most once. The result is by operator, in the
// order of the questions; it depends on nothing but its input.
func Plan(seed uint64, cast []Operator, questions []Question) [][]Call {
	out := make([][]Call, len(cast))
	for q := range questions {
		for _, i := range seats(rng(seed, streamSeat, q), cast) {
			out[i] = append(out[i], decide(rng(seed, streamCall, q, i), cast[i], q, questions[q]))
		}
	}
	return out
}

// seats draws the callers of one question; a bigger appetite is drawn oftener.
func seats(r *rand.Rand, cast []Operator) []int {
	type ticket struct {
		operator int
		key      float64
	}
	tickets := make([]ticket, len(cast))
	for i, o := range cast {
		tickets[i] = ticket{i, -math.Log(1-r.Float64()) / o.Appetite}
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.key, b.key) })
	n := min(MinOperators+r.IntN(3), len(cast))
	out := make([]int, n)
	for i := range out {
		out[i] = tickets[i].operator
	}
	slices.Sort(out)
	return out
}

func decide(r *rand.Rand, o Operator, index int, q Question) Call {
	c := Call{Operator: o.Index, Question: index, Side: side(r, o, q)}
	c.Price = state(r, o.Habit, c.Side, q)
	if r.IntN(2) == 0 {
		c.Confidence = 40 + r.IntN(60)
	}
	if r.IntN(8) == 0 {
		c.Take = remark(r, c.Side)
	}
	if o.Kind == Informed && r.IntN(10) == 0 {
		c.Event = remark(r, c.Side)
	}
	return c
}

// side is what the operator believes.
func side(r *rand.Rand, o Operator, q Question) Side {
	pick := func(p float64) Side {
		if r.Float64() < p {
			return CallYes
		}
		return CallNo
	}
	switch o.Kind {
	case Favourites:
		return q.Favourite()
	case Contrarian:
		return q.Favourite().Other()
	case Informed, House:
		if r.Float64() < o.Edge && q.Verdict != Invalid {
			return Side(q.Verdict)
		}
		return pick(float64(q.YesBps) / full) // believes the market
	case Bot:
		switch o.Index / 12 % 3 {
		case 0:
			return CallNo
		case 1:
			return CallYes
		}
		if q.YesBps < 2000 {
			return CallYes // whatever is cheap
		}
		return CallNo
	}
	return pick(0.5)
}

// state is the price that the operator says it paid.
func state(r *rand.Rand, h Habit, s Side, q Question) int {
	p := q.Price(s)
	switch h {
	case Slipping:
		p += r.IntN(1501) - 900
	case Boasting:
		p -= Tolerance + 1 + r.IntN(3000)
	case Confused:
		p = q.YesBps
	case Exact:
	}
	return min(max(p, 0), full)
}

var remarks = map[Side][]string{
	CallYes: {"The price lags what is already known.", "Nobody is counting the second half.", "Cheap for what it is.", "The trend carries this over the line."},
	CallNo:  {"Too dear for the time that is left.", "It has to go right three times in a row.", "Nothing ever happens.", "The crowd mistakes loud for likely."},
}

func remark(r *rand.Rand, s Side) string { return remarks[s][r.IntN(len(remarks[s]))] }
