package skill

import (
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sample contains the counts from which the statistics of a set of calls are computed: calls by price, wins, and calls
// and wins by confidence. The zero value is empty. A Sample is not safe for concurrent use and must not be copied,
// because copies share the counts by price.
type Sample struct {
	calls, wins int64
	prices      int64 // sum of all prices in basis points
	at          map[protocol.Bps]int64
	stated      [101]statement // by confidence; index 0 is unused
}

// statement contains the counts of the calls that stated the same confidence.
type statement struct {
	calls, wins int64
	// market is the sum of (price - 10000*won)^2, the squared error of the price.
	market int64
}

// Add adds a call. If it returns ErrPrice, ErrConfidence or ErrCount, the sample is unchanged.
func (s *Sample) Add(c Call) error { return s.AddTally(c.tally()) }

// AddTally adds calls that were counted elsewhere, such as in a database. Its errors are those of Add.
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
		s.at = map[protocol.Bps]int64{}
	}
	price := ClampPrice(t.Price)
	s.calls += t.Calls
	s.wins += t.Wins
	s.prices += t.Calls * int64(price)
	s.at[price] += t.Calls
	if t.Confidence > 0 {
		won, lost := int64(protocol.MaxBps-price), int64(price)
		s.stated[t.Confidence].add(statement{t.Calls, t.Wins, t.Wins*won*won + (t.Calls-t.Wins)*lost*lost})
	}
	return nil
}

// Merge adds all calls of another sample, such as that of another lane. It returns ErrCount if the result would
// exceed MaxCalls.
func (s *Sample) Merge(o *Sample) error {
	if s.calls+o.calls > MaxCalls {
		return ErrCount
	}
	if s.at == nil {
		s.at = make(map[protocol.Bps]int64, len(o.at))
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

// Calls returns the number of calls in the sample.
func (s *Sample) Calls() int64 { return s.calls }

func (s *statement) add(o statement) {
	s.calls += o.calls
	s.wins += o.wins
	s.market += o.market
}

// odds returns the calls grouped by price, in ascending order of the price. This order determines the order of all
// sums.
func (s *Sample) odds() []odds {
	list := make([]odds, 0, len(s.at))
	for _, price := range slices.Sorted(maps.Keys(s.at)) {
		list = append(list, odds{float64(price), float64(protocol.MaxBps - price), s.at[price]})
	}
	return list
}
