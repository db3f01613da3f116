package attention_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

var (
	noon    = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	errAway = errors.New("away")
)

func ptr[T any](v T) *T { return &v }

// memoryStore is a Store in memory that records its calls. While err is set, its methods fail.
type memoryStore struct {
	facts   []attention.Fact
	stored  map[attention.Sighting]time.Time
	before  map[protocol.MarketID]int // scores one hour ago
	points  []attention.Point
	err     error
	notes   []string
	written chan string
}

func (s *memoryStore) ListFacts(context.Context, time.Time) ([]attention.Fact, error) {
	return slices.Clone(s.facts), s.err
}

func (s *memoryStore) ListSightings(context.Context) (map[attention.Sighting]time.Time, error) {
	return s.stored, s.err
}

func (s *memoryStore) ListAttention(_ context.Context, ids []protocol.MarketID, at time.Time) (map[protocol.MarketID]int, error) {
	s.notes = append(s.notes, fmt.Sprintf("%d scores of %s", len(ids), at.Format(time.TimeOnly)))
	return s.before, s.err
}

func (s *memoryStore) ListAttentionHistory(_ context.Context, id protocol.MarketID, from time.Time, limit int) ([]attention.Point, error) {
	s.notes = append(s.notes, fmt.Sprintf("%d points of %s since %s", limit, id, from.Format(time.TimeOnly)))
	return slices.Clone(s.points), s.err
}

func (s *memoryStore) StoreAttention(_ context.Context, scores map[protocol.MarketID]int, at time.Time) (int, error) {
	s.written <- fmt.Sprintf("scores %v at %s", scores, at.Format(time.TimeOnly))
	return len(scores), s.err
}

func (s *memoryStore) StoreMoves(context.Context, map[protocol.MarketID]int, []protocol.MarketID, bool) error {
	return nil
}

func (s *memoryStore) ThinAttention(_ context.Context, now time.Time) error {
	s.written <- "thin " + now.Format(time.TimeOnly)
	return s.err
}

func (s *memoryStore) StoreSightings(_ context.Context, seen map[attention.Sighting]time.Time, ended []attention.Sighting) error {
	s.written <- fmt.Sprintf("%d seen, %d ended", len(seen), len(ended))
	return s.err
}

// fact returns an open market of the primary venue that ends in two days. Its price is 5000 bps, as it was 24 hours ago.
func fact(id string, volume float64, change ...func(*attention.Fact)) attention.Fact {
	var f attention.Fact
	f.ID, f.Provider, f.Title, f.Outcome, f.Lane = protocol.MarketID(id), protocol.Polymarket, "Market "+id, "Yes", protocol.LaneScience
	f.Yes, f.PricedAt, f.Volume, f.Volume24h = ptr(protocol.Bps(5000)), noon, &volume, &volume
	for i := range f.From {
		f.From[i] = ptr(protocol.Bps(5000))
	}
	f.Callable, f.EndDate = true, ptr(noon.Add(48*time.Hour))
	for _, do := range change {
		do(&f)
	}
	return f
}

func from(bps int) func(*attention.Fact) {
	return func(f *attention.Fact) {
		for i := range f.From {
			f.From[i] = ptr(protocol.Bps(bps))
		}
	}
}

func inEvent(key string) func(*attention.Fact) {
	return func(f *attention.Fact) { f.EventKey, f.EventTitle = key, "Event "+key }
}

func ends(after time.Duration) func(*attention.Fact) {
	return func(f *attention.Fact) { f.EndDate = ptr(noon.Add(after)) }
}

func lane(l protocol.Lane) func(*attention.Fact) { return func(f *attention.Fact) { f.Lane = l } }

// setup returns a service that has read the given facts at noon, its store and its clock.
func setup(t *testing.T, facts ...attention.Fact) (*attention.Service, *memoryStore, *testkit.Clock) {
	t.Helper()
	s, clock := &memoryStore{facts: facts, written: make(chan string)}, testkit.NewClock(noon)
	o := attention.NewService(s, clock.Now)
	refresh(t, o)
	return o, s, clock
}

func refresh(t *testing.T, o *attention.Service) {
	t.Helper()
	if err := o.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func list[T any](t *testing.T, rows []T, at time.Time, err error, name func(*T) string) string {
	t.Helper()
	if err != nil || at.IsZero() {
		t.Fatal(at, err)
	}
	var out []string
	for i := range rows {
		out = append(out, name(&rows[i]))
	}
	return strings.Join(out, " ")
}
