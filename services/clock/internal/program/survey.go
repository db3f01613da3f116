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

	"github.com/signalcast/signalcast/pkg/syntax"
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

// Pending is an airing whose price after its end is waited for.
type Pending struct {
	SegmentID string
	Market    syntax.MarketID
	StartedAt time.Time
	EndedAt   time.Time
	Before    syntax.Bps // NoPrice: nobody saw the start
	Viewers   int32      // the most that were seen
}

// Measured is what became of an airing.
type Measured struct {
	SegmentID string
	After     syntax.Bps // NoPrice: not known in time
	Signals   int64      // filed while it aired; below zero: nobody could count them
}

// Sample is what airings of a slot are held against: markets that could have aired and
// did not.
type Sample struct {
	Slot     Slot
	Markets  []syntax.MarketID
	Prices   []syntax.Bps // at the start of the slot's content
	Measured bool
}

// Archive keeps what aired and what became of it. Fault: db_unavailable.
type Archive interface {
	// OpenAirings lists airings that are not measured, the oldest first.
	OpenAirings(ctx context.Context, limit int) ([]Pending, error)
	// OpenSamples lists samples that are not measured, and that of a slot, by slot.
	OpenSamples(ctx context.Context, with Slot) ([]Sample, error)
	// AddSample keeps a sample; that of a slot which has one is dropped.
	AddSample(ctx context.Context, s Sample) error
	// Standing lists the markets that have slots of any channel, both ends included.
	Standing(ctx context.Context, from, to Slot) ([]syntax.MarketID, error)
	// Raise notes the most viewers of airings, by segment.
	Raise(ctx context.Context, viewers map[string]int32) error
	// Measure writes what became of airings, and how far a sample moved: the number of its
	// markets and the sum of their moves. What was measured before stands.
	Measure(ctx context.Context, list []Measured, at time.Time) error
	MeasureSample(ctx context.Context, slot Slot, markets int, moved int64, at time.Time) error
	// Sweep forgets slots before one and airings and samples from before a time.
	Sweep(ctx context.Context, before Slot, aired time.Time) error
}

// Calls counts calls on a market that were filed from one moment on and before another.
type Calls interface {
	CountCalls(ctx context.Context, market syntax.MarketID, from, to time.Time) (int64, error)
}

// Surveyor follows what airs: its viewers, its calls, and its price ten minutes after
// its end, beside those of markets that did not air. All it knows is stored, so any
// replica goes on where another one stopped. One goroutine calls Look.
type Surveyor struct {
	archive Archive
	markets Markets
	calls   Calls
	now     func() time.Time

	swept  Slot
	needed atomic.Pointer[[]syntax.MarketID]
}

// NewSurveyor makes a Surveyor.
func NewSurveyor(archive Archive, markets Markets, calls Calls, now func() time.Time) *Surveyor {
	return &Surveyor{archive: archive, markets: markets, calls: calls, now: now}
}

// Needed lists the markets whose price is waited for, which may not be airable any
// more. Anybody may ask at any time.
func (s *Surveyor) Needed() []syntax.MarketID {
	if list := s.needed.Load(); list != nil {
		return *list
	}
	return nil
}

// Look does what is due.
func (s *Surveyor) Look(ctx context.Context) error {
	now := s.now()
	running := SlotAt(now)
	if s.swept != running {
		if err := s.archive.Sweep(ctx, running-keptSlots, now.Add(-keptAirings)); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		s.swept = running
	}
	open, err := s.archive.OpenAirings(ctx, openAirings)
	if err != nil {
		return fmt.Errorf("list airings: %w", err)
	}
	samples, err := s.archive.OpenSamples(ctx, running)
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
	var all []syntax.MarketID
	for i := range open {
		all = append(all, open[i].Market)
	}
	for i := range samples {
		if !samples[i].Measured {
			all = append(all, samples[i].Markets...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	s.needed.Store(&all)
}

// fresh is the copy of the markets where it is young enough to say what something costs
// now, else nil.
func (s *Surveyor) fresh(now time.Time) *Pool {
	if p := s.markets.Pool(); p != nil && now.Sub(p.FetchedAt) <= priceFresh {
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
	if err := s.archive.Raise(ctx, raised); err != nil {
		return fmt.Errorf("note viewers: %w", err)
	}
	return nil
}

// measure reads the prices that are due. What is not known yet is asked for again until
// the time for it is over.
func (s *Surveyor) measure(ctx context.Context, open []Pending, now time.Time) error {
	pool := s.fresh(now)
	type span struct {
		market syntax.MarketID
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
			if n, err = s.calls.CountCalls(ctx, a.Market, a.StartedAt, a.EndedAt); err != nil {
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
	if err := s.archive.Measure(ctx, done, now); err != nil {
		return fmt.Errorf("measure airings: %w", err)
	}
	return nil
}

func priceIn(pool *Pool, id syntax.MarketID) syntax.Bps {
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
		aired, err := s.archive.Standing(ctx, one.Slot, one.Slot+1)
		if err != nil {
			return fmt.Errorf("list what stands: %w", err)
		}
		markets, moved := one.moved(pool, aired)
		if err := s.archive.MeasureSample(ctx, one.Slot, markets, moved, now); err != nil {
			return fmt.Errorf("measure sample: %w", err)
		}
	}
	return nil
}

func (s *Sample) moved(pool *Pool, aired []syntax.MarketID) (markets int, sum int64) {
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
	standing, err := s.archive.Standing(ctx, k, k+1)
	if err != nil {
		return fmt.Errorf("list what stands: %w", err)
	}
	if err := s.archive.AddSample(ctx, takeSample(pool, k, standing, now)); err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	return nil
}

// takeSample draws from the airable markets by a hash of slot and id: the same for
// whoever draws it, another one in each slot.
func takeSample(pool *Pool, k Slot, standing []syntax.MarketID, now time.Time) Sample {
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
