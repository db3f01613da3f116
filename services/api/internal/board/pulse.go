package board

import "context"

// Totals is what the pulse of the network counts now (contract 4.2.5). Last7, Prev7 and
// the operators that are active are of independent operators alone.
type Totals struct {
	Signals, Independent, House, Automated int64 // canonical signals, all and by tier
	Last7, Prev7                           int64
	IndependentOperators                   int64 // that ever filed
	IndependentActive28                    int64
	HouseOperators                         int64 // that ever filed
	Registered                             int64
	Markets                                int64 // with a signal
	Won, Lost, Open                        int64
	CLVCount, BeatLine                     int64
}

// Resolved is how many signals are won or lost.
func (t *Totals) Resolved() int64 { return t.Won + t.Lost }

// Pulse counts the network. Fault: db_unavailable.
func (s *Service) Pulse(ctx context.Context) (Totals, error) {
	return s.store.PulseTotals(ctx, s.now())
}
