package career

import "math/big"

// Tolerance is how far below the market a caller may claim to have paid before
// the price used for scoring is held up (contract 4.2.7).
const Tolerance = 1000

// Stored is the price that a call keeps: a NO call that carries the YES price
// is turned over when it is nearer to that than to its own (contract 4.2.7).
func Stored(side Side, price, yes int) int {
	if side == CallNo && abs(price-yes) < abs(price-(full-yes)) {
		return full - price
	}
	return price
}

// Basis is the price that the score counts with: never more than the tolerance
// below what the side cost (contract 4.2.7).
func Basis(side Side, stored, yes, tolerance int) int {
	cost := yes
	if side == CallNo {
		cost = full - yes
	}
	return max(stored, cost-tolerance)
}

// Status is where a call stands.
type Status string

// The states of a call.
const (
	Pending Status = "pending"
	Won     Status = "won"
	Lost    Status = "lost"
	Void    Status = "void"
)

// Judge is contract 4.2.1 and 4.2.2: the profit of one contract in cents,
// rounded against the caller.
func Judge(side Side, basis int, v Verdict) (Status, int) {
	p := min(max(basis, 1), full)
	switch {
	case v == Invalid:
		return Void, 0
	case string(v) == string(side):
		return Won, (full - p) / 100 // floor
	}
	return Lost, -((p + 99) / 100) // ceiling
}

// CLV is how far the line had moved toward the call at the close (contract
// 4.2.3); nil for a void.
func CLV(side Side, basis, closeYes int, v Verdict) *int {
	if v == Invalid {
		return nil
	}
	line := closeYes
	if side == CallNo {
		line = full - closeYes
	}
	n := line - basis
	return &n
}

// Accuracy is the share of won among resolved calls, in percent, half up; 0
// when nothing is resolved (contract 4.2.4).
func Accuracy(won, lost int) int {
	resolved := won + lost
	if resolved == 0 {
		return 0
	}
	return (200*won + resolved) / (2 * resolved)
}

// Broadcast is 500*skill + 300*activity of contract 4.8.3, the reach of somebody
// whom nobody watched being 0, rounded. It is counted in fractions; where the
// exact value lies in the middle between two numbers, both are right.
func Broadcast(score, resolved, calls, takes int) (low, high int) {
	skill := new(big.Rat).Add(big.NewRat(1, 2), big.NewRat(int64(score), 50*int64(resolved+10)))
	skill = clamp(skill)
	activity := clamp(big.NewRat(int64(2*calls+takes), 2*28))
	sum := new(big.Rat).Add(skill.Mul(skill, big.NewRat(500, 1)), activity.Mul(activity, big.NewRat(300, 1)))
	double := new(big.Rat).Mul(sum, big.NewRat(2, 1))
	if double.IsInt() && double.Num().Bit(0) == 1 {
		floor := int(new(big.Int).Rsh(double.Num(), 1).Int64())
		return floor, floor + 1
	}
	near := new(big.Rat).Add(sum, big.NewRat(1, 2))
	n := int(new(big.Int).Quo(near.Num(), near.Denom()).Int64()) // sum is never negative
	return n, n
}

func clamp(r *big.Rat) *big.Rat {
	switch one := big.NewRat(1, 1); {
	case r.Sign() < 0:
		return new(big.Rat)
	case r.Cmp(one) > 0:
		return one
	}
	return r
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
