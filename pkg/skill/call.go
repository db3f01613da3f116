package skill

import (
	"errors"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of Sample.Add and Sample.AddTally.
var (
	ErrPrice      = errors.New("skill: price must be 0 to 10000 bps")
	ErrConfidence = errors.New("skill: confidence must be 1 to 100, or 0 if none was stated")
	ErrCount      = errors.New("skill: wins must be 0 to calls, and a sample has at most 1000000 calls")
)

// MaxCalls is the maximum number of calls in a sample. It limits all sums and the cost of a report.
const MaxCalls = 1_000_000

// Call is a call (a forecast on a market) that was won or lost.
type Call struct {
	Price      protocol.Bps // scoring price of the predicted side
	Won        bool
	Confidence int // stated confidence from 1 to 100; 0 if none was stated
}

// Tally is the number of calls and wins at one price and confidence, such as a row of a query grouped by price and
// confidence.
type Tally struct {
	Price      protocol.Bps
	Confidence int
	Calls      int64
	Wins       int64
}

// Decided returns the call with the given status, scoring price and confidence. It returns false if the call has no
// outcome (pending or void).
func Decided(status protocol.SignalStatus, price protocol.Bps, confidence int) (Call, bool) {
	return Call{price, status == protocol.Won, confidence}, status == protocol.Won || status == protocol.Lost
}

func (c Call) tally() Tally {
	t := Tally{Price: c.Price, Confidence: c.Confidence, Calls: 1}
	if c.Won {
		t.Wins = 1
	}
	return t
}

func (t Tally) check() error {
	switch {
	case !t.Price.Valid():
		return ErrPrice
	case t.Confidence < 0 || t.Confidence > 100:
		return ErrConfidence
	case t.Calls < 0 || t.Calls > MaxCalls || t.Wins < 0 || t.Wins > t.Calls:
		return ErrCount
	}
	return nil
}

// ClampPrice limits a price to 1 to 9999 bps, so that both outcomes are possible.
func ClampPrice(price protocol.Bps) protocol.Bps { return min(max(price, 1), protocol.MaxBps-1) }
