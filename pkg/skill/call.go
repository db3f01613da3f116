package skill

import (
	"errors"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// What Add refuses.
var (
	ErrPrice      = errors.New("skill: a price is 0 to 10000 bps")
	ErrConfidence = errors.New("skill: a confidence is 1 to 100, or 0 where none was given")
	ErrCount      = errors.New("skill: 0 <= wins <= calls, and at most MaxCalls calls")
)

// MaxCalls bounds a sample, and with it every sum and the work of a report.
const MaxCalls = 1_000_000

// Call is one decided call.
type Call struct {
	Price      protocol.Bps // of the side called, as it was scored: the basis
	Won        bool
	Confidence int // as filed with the call, 1 to 100; 0 where none was given
}

// Tally is several calls at one price and confidence: a row of "group by price,
// confidence" over the results.
type Tally struct {
	Price      protocol.Bps
	Confidence int
	Calls      int64
	Wins       int64
}

// Decided makes a call of a signal; false when nothing was decided (pending or
// void, contract 4.2.1).
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

// Within keeps a price where both outcomes are possible. A side bought for
// nothing or for everything counts as bought at 1 or 9999.
func Within(price protocol.Bps) protocol.Bps { return min(max(price, 1), protocol.MaxBps-1) }
