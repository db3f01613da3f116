package history

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Settings are the parameters of a generated history.
type Settings struct {
	Seed      uint64
	Start     time.Time
	End       time.Time // every market is resolved before this time
	Markets   int
	Operators int    // at least MinOperators
	Issuer    string // identity provider of the operators
}

// MinOperators is the minimum number of operators in a history.
const MinOperators = 10

// Step is one line of the input of the command `api seed`. It contains an operator, a market with its quote, calls, or an
// outcome.
type Step struct {
	At       time.Time `json:"at"`
	Operator *Operator `json:"operator,omitempty"`
	Market   *Market   `json:"market,omitempty"`
	Calls    []Call    `json:"calls,omitempty"`
	Resolve  *Outcome  `json:"resolve,omitempty"`
}

// Market is a quote of a venue for an open market. YesBps is the middle between bid and ask of YES.
type Market struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	EndDate   time.Time `json:"endDate"`
	YesBps    int       `json:"yesBps"`
	SpreadBps int       `json:"spreadBps"`
	VolumeUSD float64   `json:"volumeUsd"`
}

// Call is one call of an operator. PriceBps is the price of the side called.
type Call struct {
	Operator   string `json:"operator"`
	MarketID   string `json:"marketId"`
	Direction  string `json:"direction"`
	PriceBps   int    `json:"priceBps"`
	Confidence int    `json:"confidence,omitempty"`
	Take       string `json:"take,omitempty"`
}

// Outcome is the final outcome of a market at its venue: YES, NO or INVALID.
type Outcome struct {
	MarketID string `json:"marketId"`
	Verdict  string `json:"verdict"`
}

const (
	fullBps = 10_000
	// minBps and maxBps are bounds of prices. Outside them the largest spread would leave no order on one side.
	minBps, maxBps = 250, 9_750
	// invalidShare is the share of the markets that end as INVALID.
	invalidShare = 0.02
	// confirmAfter is the time from a call to its second quote.
	confirmAfter = 7 * time.Second
)

// Streams of the random generator, one for each purpose. With separate streams, more operators do not change the markets.
const (
	streamMarket uint64 = iota + 1
	streamOperator
	streamCall
)

func newRand(seed, stream uint64, n int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream<<32+uint64(n)))
}

// Generate returns the steps of a history in chronological order.
func Generate(s Settings) []Step {
	cast := newCast(s.Seed, s.Operators)
	var steps []Step
	for _, o := range cast {
		steps = append(steps, Step{At: s.Start, Operator: &Operator{
			Issuer: s.Issuer, Name: o.name, DisplayName: title(o.name), Type: o.kind, House: o.house,
		}})
	}
	for i := range s.Markets {
		steps = append(steps, newMarket(s, cast, i)...)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	return steps
}

// path generates a calibrated price path of a market. x follows a Brownian motion, and the outcome is YES if x is above zero at u
// = 1. The YES price at u is the probability of this outcome, Phi(x / sqrt(1-u)).
type path struct {
	r *rand.Rand
	x float64
	u float64 // elapsed share of the market's life, from 0 to 1
}

// at advances the path to u and returns the YES price, from 0 to 1.
func (p *path) at(u float64) float64 {
	p.x += p.r.NormFloat64() * math.Sqrt(u-p.u)
	p.u = u
	return 0.5 * math.Erfc(-p.x/math.Sqrt(2*max(1-u, 1e-6)))
}

func newMarket(s Settings, cast []member, i int) []Step {
	r := newRand(s.Seed, streamMarket, i)
	life := time.Duration((1 + 13*r.Float64()) * float64(24*time.Hour))
	life = min(life, s.End.Sub(s.Start)*9/10)
	open := s.Start.Add(time.Minute + time.Duration(r.Float64()*float64(s.End.Sub(s.Start)-life-time.Hour)))
	m := Market{
		ID: marketID(i), Title: question(r, i), EndDate: open.Add(life).UTC().Truncate(time.Second),
		SpreadBps: 50 + 50*r.IntN(3), VolumeUSD: math.Round(8_000 * math.Exp(2.2*r.Float64()*r.Float64()+0.3)),
	}
	p := &path{r: r, x: 1.1 * r.NormFloat64()}
	var steps []Step
	quote := func(u float64, after time.Duration) time.Time {
		yes := p.at(u)
		at := open.Add(time.Duration(u * float64(life))).Add(after).UTC().Truncate(time.Millisecond)
		answer := m
		answer.YesBps = min(max(int(math.Round(yes*fullBps)), minBps), maxBps)
		steps = append(steps, Step{At: at, Market: &answer})
		return at
	}
	moments := 2 + r.IntN(3)
	type made struct{ step, call int }
	var calls []made
	called := map[int]bool{}
	for k := range moments {
		at := quote((float64(k)+r.Float64())/float64(moments)*0.97, 0)
		answer := *steps[len(steps)-1].Market
		var list []Call
		for range 1 + r.IntN(4) {
			o := pick(r, cast)
			if called[o] {
				continue
			}
			called[o] = true
			list = append(list, Call{Operator: cast[o].name, MarketID: m.ID, PriceBps: answer.YesBps})
			calls = append(calls, made{len(steps), len(list) - 1})
		}
		if list == nil {
			continue
		}
		steps = append(steps, Step{At: at.Add(time.Second), Calls: list})
		confirmed := answer
		confirmed.YesBps = min(max(answer.YesBps+r.IntN(41)-20, minBps), maxBps)
		steps = append(steps, Step{At: at.Add(time.Second + confirmAfter), Market: &confirmed})
	}
	quote(0.995, 0)
	p.at(1)
	verdict := "NO"
	if p.x > 0 {
		verdict = "YES"
	}
	for _, c := range calls {
		decide(r, cast, &steps[c.step].Calls[c.call], m.SpreadBps, verdict)
	}
	if r.Float64() < invalidShare {
		verdict = "INVALID"
	}
	ended := m.EndDate.Add(time.Duration(1+r.IntN(50)) * time.Minute)
	return append(steps, Step{At: ended, Resolve: &Outcome{MarketID: m.ID, Verdict: verdict}})
}

// decide sets the side, the price, the confidence and the take of the call c. On entry, c.PriceBps is the middle between bid
// and ask of YES. decide replaces it with the ask price of the chosen side.
func decide(r *rand.Rand, cast []member, c *Call, spread int, verdict string) {
	o := cast[slices.IndexFunc(cast, func(m member) bool { return m.name == c.Operator })]
	middle := c.PriceBps
	c.Direction = o.side(r, float64(middle)/fullBps, verdict)
	if c.Direction == "NO" {
		middle = fullBps - middle
	}
	c.PriceBps = middle + spread/2
	if r.IntN(2) == 0 {
		c.Confidence = min(max(middle/100+r.IntN(31)-10, 5), 98)
	}
	if r.IntN(7) == 0 {
		c.Take = takes[c.Direction][r.IntN(len(takes[c.Direction]))]
	}
}

// marketID returns the id of the i-th market. The markets belong to three venues.
func marketID(i int) string {
	switch i % 5 {
	case 3:
		return fmt.Sprintf("kalshi-KXDEMO-%04d", i)
	case 4:
		return fmt.Sprintf("lmt-demo-market-%04d", i)
	}
	return fmt.Sprint(880_000_000 + i)
}
