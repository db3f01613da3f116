package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
)

var (
	noon    = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	errAway = errors.New("away")
)

func ptr[T any](v T) *T { return &v }

// shelf is a store in memory that notes what was kept. While err is set it fails.
type shelf struct {
	facts   []oracle.Fact
	kept    map[oracle.Sighting]time.Time
	before  map[syntax.MarketID]int // scores an hour ago
	points  []oracle.Point
	err     error
	notes   []string
	written chan string
}

func (s *shelf) ListFacts(context.Context, time.Time) ([]oracle.Fact, error) {
	return slices.Clone(s.facts), s.err
}

func (s *shelf) ListSightings(context.Context) (map[oracle.Sighting]time.Time, error) {
	return s.kept, s.err
}

func (s *shelf) ListAttention(_ context.Context, ids []syntax.MarketID, at time.Time) (map[syntax.MarketID]int, error) {
	s.notes = append(s.notes, fmt.Sprintf("%d scores of %s", len(ids), at.Format(time.TimeOnly)))
	return s.before, s.err
}

func (s *shelf) ListAttentionHistory(_ context.Context, id syntax.MarketID, from time.Time, limit int) ([]oracle.Point, error) {
	s.notes = append(s.notes, fmt.Sprintf("%d points of %s since %s", limit, id, from.Format(time.TimeOnly)))
	return slices.Clone(s.points), s.err
}

func (s *shelf) KeepAttention(_ context.Context, scores map[syntax.MarketID]int, at time.Time) (int, error) {
	s.written <- fmt.Sprintf("scores %v at %s", scores, at.Format(time.TimeOnly))
	return len(scores), s.err
}

func (s *shelf) ThinAttention(_ context.Context, now time.Time) error {
	s.written <- "thin " + now.Format(time.TimeOnly)
	return s.err
}

func (s *shelf) KeepSightings(_ context.Context, seen map[oracle.Sighting]time.Time, gone []oracle.Sighting) error {
	s.written <- fmt.Sprintf("%d seen, %d gone", len(seen), len(gone))
	return s.err
}

// fact is an open market of the primary venue at 50.00, as it was a day ago, that
// ends in two days.
func fact(id string, volume float64, change ...func(*oracle.Fact)) oracle.Fact {
	var f oracle.Fact
	f.ID, f.Provider, f.Title, f.Outcome, f.Lane = syntax.MarketID(id), syntax.Polymarket, "Market "+id, "Yes", syntax.LaneScience
	f.Yes, f.PricedAt, f.Volume, f.Volume24h = ptr(syntax.Bps(5000)), noon, &volume, &volume
	for i := range f.From {
		f.From[i] = ptr(syntax.Bps(5000))
	}
	f.Callable, f.EndDate = true, ptr(noon.Add(48*time.Hour))
	for _, do := range change {
		do(&f)
	}
	return f
}

func from(bps int) func(*oracle.Fact) {
	return func(f *oracle.Fact) {
		for i := range f.From {
			f.From[i] = ptr(syntax.Bps(bps))
		}
	}
}

func inEvent(key string) func(*oracle.Fact) {
	return func(f *oracle.Fact) { f.EventKey, f.EventTitle = key, "Event "+key }
}

func ends(after time.Duration) func(*oracle.Fact) {
	return func(f *oracle.Fact) { f.EndDate = ptr(noon.Add(after)) }
}

func lane(l syntax.Lane) func(*oracle.Fact) { return func(f *oracle.Fact) { f.Lane = l } }

// setup is a service that has read the facts at noon.
func setup(t *testing.T, facts ...oracle.Fact) (*oracle.Service, *shelf, *testkit.Clock) {
	t.Helper()
	s, clock := &shelf{facts: facts, written: make(chan string)}, testkit.NewClock(noon)
	o := oracle.NewService(s, clock.Now)
	refresh(t, o)
	return o, s, clock
}

func refresh(t *testing.T, o *oracle.Service) {
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
