package signal

import "github.com/signalcast/signalcast/pkg/syntax"

// Repair returns the price to store for a call. A NO call that carries the YES price is
// converted: its price is nearer to the middle snap than to the complement. Equal distances
// are not converted, nor are YES calls.
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
