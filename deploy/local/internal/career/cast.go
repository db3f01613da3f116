package career

import (
	"fmt"
	"strconv"
)

// Kind is how an operator decides.
type Kind string

// The kinds of operators.
const (
	Favourites Kind = "favourites" // always the dearer side
	Coin       Kind = "coin"       // either side, blindly
	Informed   Kind = "informed"   // knows the answer of a share of the questions
	Contrarian Kind = "contrarian" // always the cheaper side
	Bot        Kind = "bot"        // one rule, without exception; automated
	House      Kind = "house"      // a login of the service itself
)

// Habit is how an operator states the price.
type Habit string

// The habits.
const (
	Exact    Habit = "exact"    // what the side costs
	Slipping Habit = "slipping" // a little beside it, within the tolerance
	Boasting Habit = "boasting" // far below it: the guard must hold the score up
	Confused Habit = "confused" // the YES price for a NO call: it must be turned over
)

// Operator is one caller of known skill.
type Operator struct {
	Index    int
	Name     string // what the identity provider takes
	Kind     Kind
	Edge     float64 // of Informed and House: the share of answers known
	Habit    Habit
	Appetite float64 // how much it calls compared with others
	Direct   bool    // mints its key without signing in first
	Repeats  bool    // sends an Idempotency-Key
	Insists  bool    // tries to change its first call, which must be refused
}

// Automated says whether the operator belongs to the machines' tier.
func (o Operator) Automated() bool { return o.Kind == Bot }

// Title names the kind for a table, with the stated edge.
func (o Operator) Title() string {
	if o.Kind == Informed {
		return "informed +" + strconv.Itoa(int(o.Edge*100+0.5)) + "%"
	}
	return string(o.Kind)
}

// MinOperators is the least number of operators: as many call each question.
const MinOperators = 10

// edges of informed operators, from a little to a lot.
var edges = []float64{0.05, 0.10, 0.15, 0.20, 0.30, 0.45}

// Cast makes n operators. The first is the house's, one in twelve is a bot. An
// operator's name does not depend on the seed, so that a stack that has seen it
// is recognised.
func Cast(seed uint64, n int) []Operator {
	out := make([]Operator, n)
	for i := range out {
		r := rng(seed, streamOperator, i)
		o := Operator{
			Index: i, Name: name(i), Appetite: 0.6 + 0.8*r.Float64(), Habit: Exact,
			Direct: i%2 == 1, Repeats: i%3 == 0, Insists: i%5 == 0,
		}
		switch roll := r.Float64(); {
		case i == 0:
			o.Kind, o.Edge, o.Name = House, 0.10, "night-desk"
		case i%12 == 5:
			o.Kind, o.Appetite = Bot, 2.4
		case roll < 0.28:
			o.Kind = Favourites
		case roll < 0.50:
			o.Kind = Coin
		case roll < 0.84:
			o.Kind, o.Edge = Informed, edges[r.IntN(len(edges))]
		default:
			o.Kind = Contrarian
		}
		switch roll := r.Float64(); {
		case o.Kind == Bot || o.Kind == House:
		case roll < 0.12:
			o.Habit = Slipping
		case roll < 0.20:
			o.Habit = Boasting
		case roll < 0.28:
			o.Habit = Confused
		}
		out[i] = o
	}
	return out
}

var (
	firstNames = []string{
		"amber", "quiet", "northern", "copper", "early", "silver", "patient", "harbour", "winter", "lucid", "plain", "velvet",
		"distant", "steady", "hollow", "bright", "salt", "narrow", "green", "old", "brisk", "paper", "wander", "second", "upper",
	}
	lastNames = []string{
		"heron", "ledger", "lantern", "compass", "otter", "signal", "meridian", "sparrow", "anchor", "cinder", "fathom", "kestrel",
		"orchard", "pilot", "quarry", "ripple", "summit", "thistle", "umbra", "vesper", "willow", "yarrow", "zephyr", "beacon",
	}
)

// name gives every number its own: all pairs of the two lists pass before a
// number has to be added.
func name(i int) string {
	s := firstNames[i%len(firstNames)] + "-" + lastNames[(i%len(firstNames)*7+i/len(firstNames))%len(lastNames)]
	if round := i / (len(firstNames) * len(lastNames)); round > 0 {
		return fmt.Sprintf("%s-v%d", s, round+1)
	}
	return s
}
