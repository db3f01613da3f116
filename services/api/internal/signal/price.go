package signal

import "github.com/signalcast/signalcast/pkg/syntax"

// Repair returns the price to store for a call (contract 4.2.7). A NO call that
// carries the YES price is turned around when the snapshot tells: the price is
// nearer to snap than to its complement. Equal distances keep it, YES is kept.
func Repair(side syntax.Side, price syntax.Bps, snap *syntax.Bps) syntax.Bps {
	if side == syntax.No && snap != nil && distance(price, *snap) < distance(price, snap.Of(syntax.No)) {
		return syntax.MaxBps - price
	}
	return price
}

// Basis returns the price that scores a call (contract 4.2.7): nobody has paid
// less than the market's price of the side minus the tolerance.
func Basis(side syntax.Side, price syntax.Bps, snap *syntax.Bps, tolerance int) syntax.Bps {
	if snap == nil {
		return price
	}
	return max(price, snap.Of(side)-syntax.Bps(tolerance))
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
