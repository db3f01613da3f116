package program

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// MeasureAfter is how long after its end an airing's price is read again.
	MeasureAfter = 10 * time.Minute
	// measureGrace is how much later that price may be read. After that nobody can say
	// what it was, and the airing is closed without one.
	measureGrace = 5 * time.Minute
	// MaxSample is how many markets that did not air are looked at in a slot.
	MaxSample = 200
	// openAirings is how many airings one look takes up.
	openAirings = 5000
	// keptSlots is how many slots of a rundown are kept after the running one is over: a
	// day and a little.
	keptSlots = 144
	// keptAirings is how long airings and samples are kept.
	keptAirings = 8 * 24 * time.Hour
)

// Pending is an airing whose price after its end is not measured yet.
type Pending struct {
	SegmentID string
	Market    protocol.MarketID
	StartedAt time.Time
	EndedAt   time.Time
	Before    protocol.Bps // NoPrice: the price at the start is unknown
	Viewers   int32        // the largest number at a time
}

// Measured is the result of an airing.
type Measured struct {
	SegmentID string
	After     protocol.Bps // NoPrice: there was no price in time
	Signals   int64        // filed while it aired; negative: they could not be counted
}

// Sample has the markets with which the airings of a slot are compared: those that could have aired and did not.
type Sample struct {
	Slot     Slot
	Markets  []protocol.MarketID
	Prices   []protocol.Bps // at the start of the slot's content
	Measured bool
}

// CountCalls counts the calls on a market that were filed at or after from and before to.
type CountCalls func(ctx context.Context, market protocol.MarketID, from, to time.Time) (int64, error)

// Surveyor measures airings: their viewers, their calls, and their price ten minutes after the end, and the prices of markets
// that did not air for comparison. Its state is stored, so that any replica continues where another one stopped. One goroutine
// calls Look.
type Surveyor struct {
	store   Store
	markets *atomic.Pointer[Pool]
	count   CountCalls
	now     func() time.Time

	swept Slot
	wanted
}

// NewSurveyor makes a Surveyor.
func NewSurveyor(store Store, copies *Copies, count CountCalls, now func() time.Time) *Surveyor {
	return &Surveyor{store: store, markets: &copies.Markets, count: count, now: now}
}

// wanted is a list of markets whose copies must be renewed even if they are not airable.
type wanted struct {
	list atomic.Pointer[[]protocol.MarketID]
}

// Needed returns the markets, each once. Concurrent callers may use it.
func (w *wanted) Needed() []protocol.MarketID {
	if list := w.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (w *wanted) set(all []protocol.MarketID) {
	slices.Sort(all)
	all = slices.Compact(all)
	w.list.Store(&all)
}

// Look does what is due.
func (s *Surveyor) Look(ctx context.Context) error {
	now := s.now()
	running := SlotAt(now)
	if s.swept != running {
		if err := s.store.Sweep(ctx, running-keptSlots, now.Add(-keptAirings)); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		s.swept = running
	}
	open, err := s.store.OpenAirings(ctx, openAirings)
	if err != nil {
		return fmt.Errorf("list airings: %w", err)
	}
	samples, err := s.store.OpenSamples(ctx, running)
	if err != nil {
		return fmt.Errorf("list samples: %w", err)
	}
	s.need(open, samples)
	if err := s.watch(ctx, open, now); err != nil {
		return err
	}
	if err := s.measure(ctx, open, now); err != nil {
		return err
	}
	if err := s.measureSamples(ctx, samples, now); err != nil {
		return err
	}
	return s.sample(ctx, samples, now)
}

func (s *Surveyor) need(open []Pending, samples []Sample) {
	var all []protocol.MarketID
	for i := range open {
		all = append(all, open[i].Market)
	}
	for i := range samples {
		if !samples[i].Measured {
			all = append(all, samples[i].Markets...)
		}
	}
	s.set(all)
}

// fresh is the copy of the markets where it is young enough to say what something costs
// now, else nil.
func (s *Surveyor) fresh(now time.Time) *Pool {
	if p := s.markets.Load(); p != nil && now.Sub(p.FetchedAt) <= priceFresh {
		return p
	}
	return nil
}

// watch notes the most viewers of what airs.
func (s *Surveyor) watch(ctx context.Context, open []Pending, now time.Time) error {
	pool, raised := s.fresh(now), make(map[string]int32)
	for i := range open {
		a := &open[i]
		if now.Before(a.StartedAt) || !now.Before(a.EndedAt) {
			continue
		}
		if m := pool.Find(a.Market); m != nil && m.Viewers > a.Viewers {
			raised[a.SegmentID] = m.Viewers
		}
	}
	if len(raised) == 0 {
		return nil
	}
	if err := s.store.Raise(ctx, raised); err != nil {
		return fmt.Errorf("note viewers: %w", err)
	}
	return nil
}

// measure reads the prices that are due. What is not known yet is asked for again until
// the time for it is over.
func (s *Surveyor) measure(ctx context.Context, open []Pending, now time.Time) error {
	pool := s.fresh(now)
	type span struct {
		market protocol.MarketID
		start  time.Time
	}
	counted := make(map[span]int64) // several channels may air one market
	var done []Measured
	for i := range open {
		a := &open[i]
		late := now.Sub(a.EndedAt.Add(MeasureAfter))
		if late < 0 {
			continue
		}
		over := late > measureGrace
		m := Measured{SegmentID: a.SegmentID, After: NoPrice, Signals: -1}
		if !over {
			if m.After = priceIn(pool, a.Market); m.After == NoPrice {
				continue
			}
		}
		key := span{a.Market, a.StartedAt}
		n, known := counted[key]
		if !known {
			var err error
			if n, err = s.count(ctx, a.Market, a.StartedAt, a.EndedAt); err != nil {
				if !over {
					continue
				}
				n = -1
			}
			counted[key] = n
		}
		m.Signals = n
		done = append(done, m)
	}
	if len(done) == 0 {
		return nil
	}
	if err := s.store.Measure(ctx, done, now); err != nil {
		return fmt.Errorf("measure airings: %w", err)
	}
	return nil
}

func priceIn(pool *Pool, id protocol.MarketID) protocol.Bps {
	if m := pool.Find(id); m != nil && m.Yes.Valid() {
		return m.Yes
	}
	return NoPrice
}

// measureSamples sums how far the markets of samples moved, those left out that stood on
// the air meanwhile. A sample whose time is over counts nothing.
func (s *Surveyor) measureSamples(ctx context.Context, samples []Sample, now time.Time) error {
	for i := range samples {
		one := &samples[i]
		late := now.Sub(one.Slot.End().Add(MeasureAfter))
		if one.Measured || late < 0 {
			continue
		}
		pool := s.fresh(now)
		if late > measureGrace {
			pool = nil
		} else if pool == nil {
			continue
		}
		aired, err := s.store.ListScheduledMarkets(ctx, one.Slot, one.Slot+1)
		if err != nil {
			return fmt.Errorf("list what stands: %w", err)
		}
		markets, moved := one.moved(pool, aired)
		if err := s.store.MeasureSample(ctx, one.Slot, markets, moved, now); err != nil {
			return fmt.Errorf("measure sample: %w", err)
		}
	}
	return nil
}

func (s *Sample) moved(pool *Pool, aired []protocol.MarketID) (markets int, sum int64) {
	for i, id := range s.Markets {
		after := priceIn(pool, id)
		if after == NoPrice || slices.Contains(aired, id) {
			continue
		}
		markets++
		sum += max(int64(after)-int64(s.Prices[i]), int64(s.Prices[i])-int64(after))
	}
	return markets, sum
}

// sample takes the sample of the running slot soon after its content began, unless it
// has one: what stands on the air from then until it is measured is not in it.
func (s *Surveyor) sample(ctx context.Context, samples []Sample, now time.Time) error {
	k := SlotAt(now)
	since := now.Sub(k.Content())
	pool := s.fresh(now)
	if since < 0 || since > priceFresh || pool == nil || slices.ContainsFunc(samples, func(one Sample) bool { return one.Slot == k }) {
		return nil
	}
	standing, err := s.store.ListScheduledMarkets(ctx, k, k+1)
	if err != nil {
		return fmt.Errorf("list what stands: %w", err)
	}
	if err := s.store.AddSample(ctx, takeSample(pool, k, standing, now)); err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	return nil
}

// takeSample draws from the airable markets by a hash of slot and id: the same for
// whoever draws it, another one in each slot.
func takeSample(pool *Pool, k Slot, standing []protocol.MarketID, now time.Time) Sample {
	type ticket struct {
		at   *Market
		draw uint64
	}
	var tickets []ticket
	for i := range pool.Markets {
		m := &pool.Markets[i]
		if !m.Airable(now) || slices.Contains(standing, m.ID) {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(strconv.FormatInt(int64(k), 10) + " " + string(m.ID))) // a hash never fails
		tickets = append(tickets, ticket{m, h.Sum64()})
	}
	slices.SortFunc(tickets, func(a, b ticket) int {
		return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.at.ID, b.at.ID))
	})
	out := Sample{Slot: k}
	for _, t := range tickets[:min(len(tickets), MaxSample)] {
		out.Markets, out.Prices = append(out.Markets, t.at.ID), append(out.Prices, t.at.Yes)
	}
	return out
}
