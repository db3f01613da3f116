package resolve_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/score"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// priceCase is a call with the facts that decide its price and score.
type priceCase struct {
	Side      syntax.Side
	Price     syntax.Bps  // as the client sent it
	Snapshot  *syntax.Bps // YES price of the market at the call
	Tolerance int
	Verdict   syntax.Verdict
	Close     *syntax.Bps // YES price of the market at its close
}

// priceResult is the stored price, the scoring price and the result of a case.
type priceResult struct {
	Price, Basis syntax.Bps
	Status       syntax.SignalStatus
	Score        int
	Outcome      *syntax.Side
	CLV          *int
}

// TestPricesAndScoresAreExact compares the rules of prices and scores with a second implementation, which is written from the
// text of the protocol and computes with exact fractions of a dollar instead of basis points.
func TestPricesAndScoresAreExact(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	differ := 0
	for r := rand.New(rand.NewPCG(1, 2)); n > 0 && differ < 10; n-- {
		c := randomCase(r)
		if diff := cmp.Diff(exact(c), computed(c)); diff != "" {
			differ++
			t.Errorf("%+v: exact result (-), result (+):\n%s", c, diff)
		}
	}
}

// TestVectorsOfExactScores checks the second implementation with the vectors of the protocol.
func TestVectorsOfExactScores(t *testing.T) {
	t.Parallel()
	for basis, want := range map[syntax.Bps][2]int{
		0: {99, -1}, 40: {99, -1}, 100: {99, -1}, 150: {98, -2}, 1250: {87, -13}, 3333: {66, -34}, 5000: {50, -50},
		6400: {36, -64}, 9900: {1, -99}, 9960: {0, -100}, 10000: {0, -100},
	} {
		won := exact(priceCase{Side: syntax.Yes, Price: basis, Verdict: syntax.VerdictYes})
		lost := exact(priceCase{Side: syntax.Yes, Price: basis, Verdict: syntax.VerdictNo})
		if won.Score != want[0] || lost.Score != want[1] || won.Status != syntax.Won || lost.Status != syntax.Lost {
			t.Errorf("price %d: scores %d and %d, want %v", basis, won.Score, lost.Score, want)
		}
	}
	for _, tc := range []struct {
		side           syntax.Side
		price          syntax.Bps
		snapshot       *syntax.Bps
		stored, basis  syntax.Bps
		closing, moved int
	}{
		{syntax.No, 3000, new(syntax.Bps(3000)), 7000, 7000, 7100, -4100},
		{syntax.No, 6900, new(syntax.Bps(3000)), 6900, 6900, 7100, -4000},
		{syntax.No, 5000, new(syntax.Bps(3000)), 5000, 6000, 7100, -3100},
		{syntax.Yes, 100, new(syntax.Bps(3000)), 100, 2000, 7100, 5100},
		{syntax.Yes, 6190, nil, 6190, 6190, 7100, 910},
		{syntax.No, 3810, nil, 3810, 3810, 7100, -910},
		{syntax.No, 2500, nil, 2500, 2500, 7100, 400},
	} {
		closing := syntax.Bps(tc.closing)
		got := exact(priceCase{Side: tc.side, Price: tc.price, Snapshot: tc.snapshot, Tolerance: 1000, Verdict: syntax.VerdictYes, Close: &closing})
		if got.Price != tc.stored || got.Basis != tc.basis || *got.CLV != tc.moved {
			t.Errorf("%s at %d: stored %d, scored at %d, closing line value %d; want %d, %d, %d",
				tc.side, tc.price, got.Price, got.Basis, *got.CLV, tc.stored, tc.basis, tc.moved)
		}
	}
}

// computed is the result of a case as the product computes it.
func computed(c priceCase) priceResult {
	var of *syntax.Bps
	if c.Snapshot != nil {
		of = new(c.Snapshot.Of(c.Side))
	}
	stored := signal.Repair(c.Side, c.Price, c.Snapshot)
	basis := signal.Basis(stored, of, c.Tolerance)
	r := score.Of(c.Side, basis, c.Verdict, c.Close)
	return priceResult{stored, basis, r.Status, r.Score, r.Outcome, r.CLV}
}

// exact is the result of a case in exact fractions of a dollar.
func exact(c priceCase) priceResult {
	paid := dollars(c.Price)
	if c.Side == syntax.No && c.Snapshot != nil {
		yes := dollars(*c.Snapshot)
		if distance(paid, yes).Cmp(distance(paid, sidePrice(syntax.No, yes))) < 0 {
			paid = sidePrice(syntax.No, paid) // the YES price was sent for a NO call
		}
	}
	basis := paid
	if c.Snapshot != nil {
		least := new(big.Rat).Sub(sidePrice(c.Side, dollars(*c.Snapshot)), dollars(syntax.Bps(c.Tolerance)))
		if least.Cmp(basis) > 0 {
			basis = least
		}
	}
	r := priceResult{Price: bpsOf(paid), Basis: bpsOf(basis), Status: syntax.Void}
	if c.Verdict == syntax.VerdictInvalid {
		return r
	}
	outcome := syntax.Side(c.Verdict)
	r.Outcome = &outcome
	stake := dollars(min(max(r.Basis, 1), 10000))
	if r.Status = syntax.Lost; c.Side == outcome {
		r.Status, r.Score = syntax.Won, centsBelow(new(big.Rat).Sub(dollars(10000), stake))
	} else {
		r.Score = centsBelow(new(big.Rat).Neg(stake))
	}
	if c.Close != nil {
		r.CLV = new(int(bpsOf(sidePrice(c.Side, dollars(*c.Close))) - r.Basis))
	}
	return r
}

func dollars(bps syntax.Bps) *big.Rat { return big.NewRat(int64(bps), 10000) }

// bpsOf is the inverse of dollars; prices are whole basis points.
func bpsOf(d *big.Rat) syntax.Bps {
	n := new(big.Rat).Mul(d, big.NewRat(10000, 1))
	return syntax.Bps(n.Num().Int64() / n.Denom().Int64())
}

// sidePrice returns the price of a side for a YES price.
func sidePrice(side syntax.Side, yes *big.Rat) *big.Rat {
	if side == syntax.Yes {
		return yes
	}
	return new(big.Rat).Sub(dollars(10000), yes)
}

func distance(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d)
}

// centsBelow rounds an amount down to whole cents, which is against the caller for a gain and for a loss.
func centsBelow(d *big.Rat) int {
	c := new(big.Rat).Mul(d, big.NewRat(100, 1))
	n := new(big.Int)
	n.Div(c.Num(), c.Denom()) // Euclidean: rounds down for a positive divisor
	return int(n.Int64())
}

// randomCase draws a case. Half of the prices are near 0 and 10000, where roundings differ.
func randomCase(r *rand.Rand) priceCase {
	c := priceCase{Side: syntax.Yes, Price: randomPrice(r), Tolerance: 1000}
	c.Verdict = []syntax.Verdict{syntax.VerdictYes, syntax.VerdictNo, syntax.VerdictInvalid}[r.IntN(3)]
	if r.IntN(2) == 0 {
		c.Side = syntax.No
	}
	if r.IntN(4) > 0 {
		c.Snapshot = new(randomPrice(r))
	}
	if r.IntN(4) > 0 {
		c.Close = new(randomPrice(r))
	}
	if r.IntN(8) == 0 {
		c.Tolerance = int(randomPrice(r))
	}
	return c
}

func randomPrice(r *rand.Rand) syntax.Bps {
	switch r.IntN(4) {
	case 0:
		return syntax.Bps(r.IntN(120))
	case 1:
		return syntax.Bps(10000 - r.IntN(120))
	case 2:
		return syntax.Bps(100 * r.IntN(101))
	default:
		return syntax.Bps(r.IntN(10001))
	}
}
