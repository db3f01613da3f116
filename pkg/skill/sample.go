package skill

import (
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sample has the counts of a set of calls from which the statistics are computed: calls by price, calls won, and both by
// confidence. The zero value is empty. A Sample is not safe for concurrent use and must not be copied, because copies share the
// counts by price.
type Sample struct {
	calls, wins int64
	prices      int64 // sum, bps
	at          map[protocol.Bps]int64
	stated      [101]statement // by confidence; 0 is not used
}

// statement has the counts of the calls with one confidence.
type statement struct {
	calls, wins int64
	// market is the sum of (price - 10000*won)^2, the error of the price.
	market int64
}

// Add adds a call. After ErrPrice, ErrConfidence or ErrCount the sample is unchanged.
func (s *Sample) Add(c Call) error { return s.AddTally(c.tally()) }

// AddTally adds calls that were counted elsewhere, by a database for example.
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
	price := Within(t.Price)
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

// Merge adds all calls of another sample: lanes make a record.
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
		list = append(list, odds{float64(price), float64(protocol.MaxBps - price), s.at[price]})
	}
	return list
}
