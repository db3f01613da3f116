package attention

import (
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Components are what attention is made of, each 0 to 1.
type Components struct {
	Volume, Move, Signals, Viewers, Takes float64
}

// Weigh measures what happens around an open market: its volume of a day in USD,
// the change of its price in bps and the calls and takes of a day, and who watches
// it now.
func Weigh(volume24h float64, move int, signals, viewers, takes int64) Components {
	return Components{
		Volume:  min(1, math.Log10(1+max(volume24h, 0))/7),
		Move:    min(1, math.Abs(float64(move))/float64(protocol.MaxBps)/0.25),
		Signals: min(1, math.Log2(1+float64(signals))/6),
		Viewers: min(1, math.Log10(1+float64(viewers))/4),
		Takes:   min(1, math.Log2(1+float64(takes))/5),
	}
}

// Score is the attention, 0 to 100.
func (c Components) Score() int {
	// The conversions keep each product rounded by itself on every machine.
	sum := float64(.30*c.Volume) + float64(.25*c.Move) + float64(.20*c.Signals) + float64(.15*c.Viewers) + float64(.10*c.Takes)
	return int(math.Round(100 * sum))
}
