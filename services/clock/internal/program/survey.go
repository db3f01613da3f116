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
	// MeasureAfter is the time between the end of an airing and the measurement of its result.
	MeasureAfter = 10 * time.Minute
	// measureGrace is the maximum delay of a measurement. After that, the price at the planned time is no longer known, and the
	// airing is stored without a price.
	measureGrace = 5 * time.Minute
	// MaxSample is the maximum number of markets in the sample of a slot.
	MaxSample = 200
	// openAirings is the maximum number of airings that one call of MeasureDue processes.
	openAirings = 5000
	// keptSlots is the number of past slots of a rundown that are not deleted: a little more than one day.
	keptSlots = 144
	// keptAirings is the age at which airings and samples are deleted.
	keptAirings = 8 * 24 * time.Hour
)

// Pending is an airing that is not measured yet.
type Pending struct {
	SegmentID string
	Market    protocol.MarketID
	StartedAt time.Time
	EndedAt   time.Time
	Before    protocol.Bps // NoPrice: the price at the start is unknown
	Viewers   int32        // maximum number of concurrent viewers that is stored
}

// Measured is the result of the measurement of an airing: the price after the airing, and the number of calls during the airing.
type Measured struct {
	SegmentID string
	After     protocol.Bps // NoPrice: no price was available in time
	Signals   int64        // number of calls filed during the airing; negative: they could not be counted
}

// Sample contains markets that could have aired in a slot but did not. The airings of the slot are compared with them.
type Sample struct {
	Slot     Slot
	Markets  []protocol.MarketID
	Prices   []protocol.Bps // prices at the start of the content of the slot, in the same order as Markets
	Measured bool
}

// CountCalls returns the number of calls on a market that were filed between two times: from, which is included, and to,
// which is not.
type CountCalls func(ctx context.Context, market protocol.MarketID, from, to time.Time) (int64, error)

// Surveyor measures airings: the viewers, the calls filed during the airing, and the price ten minutes after its end. For
// comparison, it also measures the prices of markets that did not air. All measurements are stored, so another replica can
// continue them. Only one goroutine may call MeasureDue.
type Surveyor struct {
	store   Store
	markets *atomic.Pointer[Pool]
	count   CountCalls
	now     func() time.Time

	cleaned Slot // slot in which old records were last deleted
	neededMarkets
}

// NewSurveyor returns a Surveyor, which counts calls with the function count.
func NewSurveyor(store Store, copies *Copies, count CountCalls, now func() time.Time) *Surveyor {
	return &Surveyor{store: store, markets: &copies.Markets, count: count, now: now}
}

// neededMarkets is a list of markets that must be refreshed even if they are no longer airable.
type neededMarkets struct {
	list atomic.Pointer[[]protocol.MarketID]
}

// Needed returns the markets of the list, without duplicates. It may be called concurrently.
func (w *neededMarkets) Needed() []protocol.MarketID {
	if list := w.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (w *neededMarkets) set(all []protocol.MarketID) {
	slices.Sort(all)
	all = slices.Compact(all)
	w.list.Store(&all)
}

// MeasureDue performs all work that is due. It deletes old records, updates viewer counts, measures airings and samples, and
// takes the sample of the running slot. It returns the first error.
func (s *Surveyor) MeasureDue(ctx context.Context) error {
	now := s.now()
	running := SlotAt(now)
	if s.cleaned != running {
		if err := s.store.DeleteOld(ctx, running-keptSlots, now.Add(-keptAirings)); err != nil {
			return fmt.Errorf("delete old records: %w", err)
		}
		s.cleaned = running
	}
	open, err := s.store.OpenAirings(ctx, openAirings)
	if err != nil {
		return fmt.Errorf("list airings: %w", err)
	}
	samples, err := s.store.OpenSamples(ctx, running)
	if err != nil {
		return fmt.Errorf("list samples: %w", err)
	}
	s.setNeeded(open, samples)
	if err := s.updateViewers(ctx, open, now); err != nil {
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

func (s *Surveyor) setNeeded(open []Pending, samples []Sample) {
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

// fresh returns the cached markets, or nil if they are older than priceFresh.
func (s *Surveyor) fresh(now time.Time) *Pool {
	if p := s.markets.Load(); p != nil && now.Sub(p.FetchedAt) <= priceFresh {
		return p
	}
	return nil
}

// updateViewers stores the viewer counts of the airings that air at the time now. It stores only counts that are higher than the
// stored ones.
func (s *Surveyor) updateViewers(ctx context.Context, open []Pending, now time.Time) error {
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
	if err := s.store.RaiseViewers(ctx, raised); err != nil {
		return fmt.Errorf("store viewers: %w", err)
	}
	return nil
}

// measure measures the airings that are due. If a price or a count is not available, the next call tries again. After
// measureGrace, it stores the airing without a price, and without a count if that is still not available.
func (s *Surveyor) measure(ctx context.Context, open []Pending, now time.Time) error {
	pool := s.fresh(now)
	type span struct {
		market protocol.MarketID
		start  time.Time
	}
	counted := make(map[span]int64) // shared, because several channels may air the same market in the same slot
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
	if err := s.store.MeasureAirings(ctx, done, now); err != nil {
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

// measureSamples measures the samples that are due. It ignores markets that were scheduled in the slot of the sample or in the
// slot after it. If a sample is due for longer than measureGrace, it stores the sample without markets.
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
			return fmt.Errorf("list scheduled markets: %w", err)
		}
		markets, moved := one.moved(pool, aired)
		if err := s.store.MeasureSample(ctx, one.Slot, markets, moved, now); err != nil {
			return fmt.Errorf("measure sample: %w", err)
		}
	}
	return nil
}

// moved returns the number of markets of the sample that have a price in pool and are not in aired. sum is the sum of the
// absolute price moves of these markets, in basis points.
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

// sample stores a sample of the running slot, unless samples already contains one for the slot. It does so only within
// priceFresh after the start of the content, and only if the cached markets are fresh. It excludes markets that are scheduled
// in this slot or in the next one.
func (s *Surveyor) sample(ctx context.Context, samples []Sample, now time.Time) error {
	k := SlotAt(now)
	since := now.Sub(k.Content())
	pool := s.fresh(now)
	if since < 0 || since > priceFresh || pool == nil ||
		slices.ContainsFunc(samples, func(one Sample) bool { return one.Slot == k }) {
		return nil
	}
	scheduled, err := s.store.ListScheduledMarkets(ctx, k, k+1)
	if err != nil {
		return fmt.Errorf("list scheduled markets: %w", err)
	}
	if err := s.store.AddSample(ctx, takeSample(pool, k, scheduled, now)); err != nil {
		return fmt.Errorf("store sample: %w", err)
	}
	return nil
}

// takeSample returns a sample of at most MaxSample airable markets that are not scheduled. It takes the markets with the smallest
// hashes of slot and market ID. Replicas with equal pools therefore take the same sample, and the samples of different slots
// differ.
func takeSample(pool *Pool, k Slot, scheduled []protocol.MarketID, now time.Time) Sample {
	type candidate struct {
		market *Market
		hash   uint64
	}
	var candidates []candidate
	for i := range pool.Markets {
		m := &pool.Markets[i]
		if !m.Airable(now) || slices.Contains(scheduled, m.ID) {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(strconv.FormatInt(int64(k), 10) + " " + string(m.ID))) // writing to a hash never fails
		candidates = append(candidates, candidate{m, h.Sum64()})
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.market.ID, b.market.ID))
	})
	out := Sample{Slot: k}
	for _, c := range candidates[:min(len(candidates), MaxSample)] {
		out.Markets, out.Prices = append(out.Markets, c.market.ID), append(out.Prices, c.market.Yes)
	}
	return out
}
