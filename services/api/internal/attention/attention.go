package attention

import (
	"math"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Components contains the parts of an attention score before weighting, each from 0 to 1.
type Components struct {
	Volume, Move, Signals, Viewers, Takes float64
}

// Weigh returns the components of the attention score of an open market. volume24h is in USD. move is the price change in 24
// hours in bps, of either sign. signals and takes are the numbers of calls and takes in the last 24 hours. viewers is the
// present number of viewers.
func Weigh(volume24h float64, move int, signals, viewers, takes int64) Components {
	return Components{
		Volume:  min(1, math.Log10(1+max(volume24h, 0))/7),
		Move:    min(1, math.Abs(float64(move))/float64(protocol.MaxBps)/0.25),
		Signals: min(1, math.Log2(1+float64(signals))/6),
		Viewers: min(1, math.Log10(1+float64(viewers))/4),
		Takes:   min(1, math.Log2(1+float64(takes))/5),
	}
}

// Score returns the attention score from 0 to 100, which is the weighted sum of the components.
func (c Components) Score() int {
	// The conversions to float64 round each product separately, so that the result is equal on every machine.
	sum := float64(.30*c.Volume) + float64(.25*c.Move) + float64(.20*c.Signals) + float64(.15*c.Viewers) + float64(.10*c.Takes)
	return int(math.Round(100 * sum))
}
