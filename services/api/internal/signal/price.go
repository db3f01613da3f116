package signal

import "github.com/signalcast/signalcast/pkg/syntax"

// Repair returns the price to store for a call. snap is the market's YES price. A NO call whose
// price is nearer to snap than to 10000 - snap is taken as a call that states the YES price, and
// its price becomes 10000 - price. Other calls keep their price.
func Repair(side syntax.Side, price syntax.Bps, snap *syntax.Bps) syntax.Bps {
	if side == syntax.No && snap != nil && distance(price, *snap) < distance(price, snap.Of(syntax.No)) {
		return syntax.MaxBps - price
	}
	return price
}

// Basis returns the scoring price of a call at its filing: the larger of the stated price and
// the price of the side minus the tolerance. It is the stated price if that of the side is not
// known.
func Basis(stated syntax.Bps, side *syntax.Bps, tolerance int) syntax.Bps {
	if side == nil {
		return stated
	}
	return max(stated, *side-syntax.Bps(tolerance))
}

// Move is the live mark of a call against the price paid, in bps (contract 4.2.6).
func Move(side syntax.Side, price, live syntax.Bps) int {
	return int(live.Of(side)) - int(price)
}

func distance(a, b syntax.Bps) syntax.Bps {
	if a > b {
		return a - b
	}
	return b - a
}
