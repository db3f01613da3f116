package career

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Streams keep the draws of one purpose apart from those of another: more
// operators do not change the questions.
const (
	streamQuestion uint64 = iota + 1
	streamOperator
	streamSeat
	streamCall
)

// rng is a generator for one thing of one purpose.
func rng(seed, stream uint64, n ...int) *rand.Rand {
	mix := stream * 0x9e3779b97f4a7c15
	for _, v := range n {
		mix = (mix ^ uint64(v)) * 0xbf58476d1ce4e5b9
		mix ^= mix >> 29
	}
	return rand.New(rand.NewPCG(seed, mix))
}

// annulled is how often an invented question ends without an answer.
const annulled = 0.03

// Invent makes n questions of the kind that a recorded career has: most prices
// near the ends, most answers NO, the price right on average.
func Invent(seed uint64, n int) []Question {
	out := make([]Question, n)
	for i := range out {
		r := rng(seed, streamQuestion, i)
		yes := price(r)
		q := Question{Source: "invented", ID: fmt.Sprintf("q%04d", i+1), Text: sentence(r, i), YesBps: yes, Verdict: No}
		switch p := r.Float64(); {
		case r.Float64() < annulled:
			q.Verdict = Invalid
		case p < float64(yes)/full:
			q.Verdict = Yes
		}
		out[i] = q
	}
	return out
}

// price draws a YES price: three in four below even odds, many of them small.
func price(r *rand.Rand) int {
	p := math.Pow(r.Float64(), 1.8) // crowds toward 0
	if r.Float64() < 0.2 {
		p = 1 - p
	}
	return min(max(int(math.Round(p*full)), 5), full-5)
}

// forms of a question. The words place them in different lanes.
var forms = []string{
	"Will the river gauge at %s read above %d cm before %s?",
	"Will %s win the football match by %d goals or more on %s?",
	"Will the film \"%s\" take more than %d million at the box office by %s?",
	"Will the album \"%s\" reach the top %d of the charts by %s?",
	"Will the bitcoin fund of %s hold more than %d coins on %s?",
	"Will the mayor of %s win the election with more than %d%% of the vote by %s?",
	"Will the central bank of %s raise its interest rate by %d basis points by %s?",
	"Will the rocket of %s reach orbit within %d attempts by %s?",
	"Will the fashion house %s show %d looks on the runway by %s?",
	"Will the ceasefire near %s hold for %d days before %s?",
	"Will the software of %s pass %d of its benchmarks by %s?",
}

var places = []string{
	"Harrowmere", "Ostrava Bridge", "Kelmscott", "Vantor", "Sable Quay", "Mirador", "Thornbury", "Lindholm", "Pale Harbour", "Corvane",
	"Aldermoor", "Westray", "Dunmarsh", "Calder Point", "Iron Orchard", "Bellwether", "Northgate", "Selwyn", "Marchetti", "Quillon",
	"Redmere", "Tarn Hollow", "Eastlight", "Foxglove", "Grand Meridian",
}

var days = []string{
	"9 January", "31 January", "14 February", "1 March", "20 March", "15 April", "1 May", "30 June", "4 July", "1 September", "12 October", "24 December",
}

// sentence asks about something that does not exist; i keeps texts apart.
func sentence(r *rand.Rand, i int) string {
	form := forms[r.IntN(len(forms))]
	return fmt.Sprintf(form, places[i%len(places)], 2+3*(i/len(places))+r.IntN(3), days[r.IntN(len(days))])
}
