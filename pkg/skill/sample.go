package skill

import (
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Sample is what the statistics need of a set of calls: how many there were at
// each price, how many were won, and for each confidence how it went. The zero
// value is empty and ready. It is not safe for concurrent use, and a copy would
// share half of it: pass the pointer.
type Sample struct {
	calls, wins int64
	prices      int64 // sum, bps
	at          map[syntax.Bps]int64
	stated      [101]statement // by confidence; 0 is not used
}

// statement is how the calls of one confidence went.
type statement struct {
	calls, wins int64
	// market is the sum of (price - 10000*won)^2: what the price missed by.
	market int64
}

// Of is the sample of these calls.
func Of(calls ...Call) (*Sample, error) {
	s := new(Sample)
	for _, c := range calls {
		if err := s.Add(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Add takes one more call. ErrPrice, ErrConfidence and ErrCount leave the sample
// as it was.
func (s *Sample) Add(c Call) error { return s.AddTally(c.tally()) }

// AddTally takes calls counted by somebody else, a database for one.
func (s *Sample) AddTally(t Tally) error {
	if err := t.check(); err != nil {
		return err
	}
	if s.calls+t.Calls > MaxCalls {
		return ErrCount
	}
	if t.Calls == 0 {
		return nil
	}
	if s.at == nil {
		s.at = map[syntax.Bps]int64{}
	}
	price := Within(t.Price)
	s.calls += t.Calls
	s.wins += t.Wins
	s.prices += t.Calls * int64(price)
	s.at[price] += t.Calls
	if t.Confidence > 0 {
		won, lost := int64(syntax.MaxBps-price), int64(price)
		s.stated[t.Confidence].add(statement{t.Calls, t.Wins, t.Wins*won*won + (t.Calls-t.Wins)*lost*lost})
	}
	return nil
}

// Merge adds all calls of another sample: lanes make a record.
func (s *Sample) Merge(o *Sample) error {
	if s.calls+o.calls > MaxCalls {
		return ErrCount
	}
	if s.at == nil {
		s.at = make(map[syntax.Bps]int64, len(o.at))
	}
	s.calls += o.calls
	s.wins += o.wins
	s.prices += o.prices
	for price, n := range o.at {
		s.at[price] += n
	}
	for c := range o.stated {
		s.stated[c].add(o.stated[c])
	}
	return nil
}

// Calls is how many calls were added.
func (s *Sample) Calls() int64 { return s.calls }

func (s *statement) add(o statement) {
	s.calls += o.calls
	s.wins += o.wins
	s.market += o.market
}

// odds lists the calls by price, cheapest first: the order of every sum.
func (s *Sample) odds() []odds {
	list := make([]odds, 0, len(s.at))
	for _, price := range slices.Sorted(maps.Keys(s.at)) {
		list = append(list, odds{float64(price), float64(syntax.MaxBps - price), s.at[price]})
	}
	return list
}
