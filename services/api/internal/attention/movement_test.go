package attention_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

func moves(t *testing.T, o *attention.Service, l protocol.Lane) string {
	t.Helper()
	rows, at, err := o.Moves(t.Context(), protocol.Window1h, l, 50)
	return list(t, rows, at, err, func(m *movement.Move) string {
		return fmt.Sprintf("%s%+d@%s", m.Market.ID, m.Delta(), m.DetectedAt.Format(time.TimeOnly))
	})
}

func situations(t *testing.T, o *attention.Service, l protocol.Lane) string {
	t.Helper()
	rows, at, err := o.Situations(t.Context(), protocol.Window1h, l, 50)
	return list(t, rows, at, err, func(s *movement.Situation) string {
		return fmt.Sprintf("%s*%d@%s", s.Lead().ID, s.Count, s.DetectedAt.Format(time.TimeOnly))
	})
}

// TestMovesByLane checks that a situation belongs to the lane of its lead market.
func TestMovesByLane(t *testing.T) {
	t.Parallel()
	o, _, _ := setup(t, fact("1", 5000, from(4000), inEvent("flood"), lane(protocol.LaneTech)), fact("2", 5000, from(4500), inEvent("flood")), fact("3", 999, from(1)))
	for l, want := range map[protocol.Lane]string{
		"": "1+1000@12:00:00 2+500@12:00:00|1*2@12:00:00", protocol.LaneTech: "1+1000@12:00:00|1*2@12:00:00", protocol.LaneScience: "2+500@12:00:00|", protocol.LaneMusic: "|",
	} {
		if got := moves(t, o, l) + "|" + situations(t, o, l); got != want {
			t.Errorf("%q: %s, want %s", l, got, want)
		}
	}
	if rows, _, _ := o.Moves(t.Context(), protocol.Window24h, "", 1); len(rows) != 1 {
		t.Errorf("%d rows, want 1", len(rows))
	}
}

// TestNoMovesWithoutReadings checks that Moves returns an empty list if no reading succeeded for ten minutes.
func TestNoMovesWithoutReadings(t *testing.T) {
	t.Parallel()
	o, _, clock := setup(t, fact("1", 5000, from(4000)))
	clock.Advance(10 * time.Minute)
	if got := moves(t, o, "") + situations(t, o, ""); got != "1+1000@12:00:001*1@12:00:00" {
		t.Errorf("after ten minutes: %s", got)
	}
	clock.Advance(1)
	if got := moves(t, o, "") + situations(t, o, ""); got != "" {
		t.Errorf("after more than ten minutes: %s", got)
	}
	if rows, at, err := o.Tiles(t.Context(), false, nil); err != nil || len(rows) != 1 || rows[0].Yes != nil || rows[0].Move != nil || rows[0].Attention == 0 || !at.Equal(noon) {
		t.Errorf("tiles: %+v %v %v", rows, at, err)
	}
}

// TestAReadingThatFails checks that Moves and Tiles return an error while readings fail and the last successful reading is
// more than 90 seconds old. Attention scores are still served, with the time of that reading.
func TestAReadingThatFails(t *testing.T) {
	t.Parallel()
	o, s, clock := setup(t, fact("1", 5000, from(4000)))
	s.err = errAway
	if o.Refresh(t.Context()) == nil {
		t.Fatal("a failed reading returned no error")
	}
	clock.Advance(90 * time.Second)
	if got := moves(t, o, "") + situations(t, o, ""); got != "1+1000@12:00:001*1@12:00:00" {
		t.Errorf("before 90 seconds: %s", got)
	}
	clock.Advance(1)
	_, _, one := o.Moves(t.Context(), protocol.Window1h, "", 1)
	_, _, two := o.Situations(t.Context(), protocol.Window1h, "", 1)
	_, _, three := o.Tiles(t.Context(), false, nil)
	for _, err := range []error{one, two, three} {
		if !errors.Is(err, attention.ErrUnavailable) {
			t.Errorf("after 90 seconds: %v", err)
		}
	}
	if rows, at, err := o.Top(t.Context(), "", 5); err != nil || len(rows) != 1 || !at.Equal(noon) {
		t.Errorf("attention: %+v %v %v", rows, at, err)
	}
	s.err = nil
	refresh(t, o)
	if _, at, err := o.Tiles(t.Context(), false, nil); err != nil || !at.Equal(clock.Now()) {
		t.Errorf("after recovery: %v %v", at, err)
	}
}

// TestSightings checks the time at which a move was first seen. The stored time has precedence over the time of this
// process. A move that ends and starts again gets a new time.
func TestSightings(t *testing.T) {
	t.Parallel()
	moving, still := fact("1", 5000, from(4000)), fact("1", 5000)
	o, s, clock := setup(t, moving)
	next := func(f attention.Fact) string {
		t.Helper()
		clock.Advance(time.Minute)
		f.PricedAt = clock.Now()
		s.facts = []attention.Fact{f}
		refresh(t, o)
		return moves(t, o, "") + situations(t, o, "")
	}
	if got := next(moving); got != "1+1000@12:00:001*1@12:00:00" {
		t.Errorf("second reading: %s", got)
	}
	s.stored = map[attention.Sighting]time.Time{{Kind: attention.OfMove, Window: protocol.Window1h, Key: "1"}: noon.Add(-time.Hour)}
	if got := next(moving); got != "1+1000@11:00:001*1@12:00:00" {
		t.Errorf("with an earlier stored time: %s", got)
	}
	s.stored = nil
	if got := next(still); got != "" {
		t.Errorf("without a move: %s", got)
	}
	if got := next(moving); got != "1+1000@12:04:001*1@12:04:00" {
		t.Errorf("when it moves again: %s", got)
	}
}

// TestKeep checks that Keep stores only the changes of each reading: changed scores, new sightings, and the end of
// sightings.
func TestKeep(t *testing.T) {
	t.Parallel()
	o, s, clock := setup(t, fact("1", 1e7, from(4000)), fact("2", 0))
	ctx, cancel := context.WithCancel(t.Context())
	failed, over := make(chan error, 1), make(chan error, 1)
	go func() { over <- o.Keep(ctx, func(err error) { failed <- err }) }()
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-s.written:
				if got != w {
					t.Errorf("written %q; want %q", got, w)
				}
			case err := <-failed:
				t.Errorf("error %v; want the write %q", err, w)
			case <-time.After(20 * time.Second):
				t.Fatalf("%q is not written", w)
			}
		}
	}
	expect("8 seen, 0 ended", "thin 12:00:00", "scores map[1:40 2:0] at 12:00:00")
	one := s.facts[0]
	read := func(f ...attention.Fact) {
		t.Helper()
		for i := range f {
			f[i].PricedAt = clock.Now()
		}
		s.facts = f
		refresh(t, o)
	}
	// After this, a reading without changes writes nothing, and the next reading writes only its changes.
	s.stored = map[attention.Sighting]time.Time{}
	for _, w := range protocol.Windows {
		s.stored[attention.Sighting{Kind: attention.OfMove, Window: w, Key: "1"}] = noon
		s.stored[attention.Sighting{Kind: attention.OfSituation, Window: w, Key: "polymarket:market:1"}] = noon
	}
	stored := maps.Clone(s.stored)
	clock.Advance(time.Minute)
	read(one, fact("2", 0))
	clock.Advance(time.Minute)
	s.stored = stored
	read(one, fact("2", 1e7), fact("3", 10))
	expect("scores map[2:30 3:4] at 12:02:00")
	clock.Advance(time.Hour)
	read(fact("1", 1e7), fact("2", 1e7))
	expect("0 seen, 8 ended", "thin 13:02:00", "scores map[1:30 2:30] at 13:02:00")
	s.stored = nil
	clock.Advance(time.Minute)
	s.facts = []attention.Fact{fact("1", 1e7, func(f *attention.Fact) { f.Signals24h = 63 })}
	refresh(t, o)
	expect("scores map[1:50] at 13:03:00")
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKeepContinues checks that Keep reports a failed write, and that it writes the missing data after the next reading.
func TestKeepContinues(t *testing.T) {
	t.Parallel()
	o, s, clock := setup(t, fact("1", 1e7))
	s.err = errAway
	ctx, cancel := context.WithCancel(t.Context())
	failed, over := make(chan error), make(chan error, 1)
	go func() { over <- o.Keep(ctx, func(err error) { failed <- err }) }()
	<-s.written
	if err := <-failed; !errors.Is(err, errAway) {
		t.Error(err)
	}
	s.err = nil
	clock.Advance(time.Minute)
	refresh(t, o)
	for _, want := range []string{"thin 12:01:00", "scores map[1:30] at 12:01:00"} {
		if got := <-s.written; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	cancel()
	<-over
}

// TestRun checks that Run reads the markets immediately and once in each interval, and that it reports failed readings.
func TestRun(t *testing.T) {
	t.Parallel()
	s := &memoryStore{err: errAway}
	o := attention.NewService(s, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	failed, over := make(chan error), make(chan error, 1)
	go func() { over <- o.Run(ctx, time.Millisecond, func(err error) { failed <- err }) }()
	for range 2 {
		if err := <-failed; !errors.Is(err, errAway) {
			t.Error(err)
		}
	}
	cancel()
	for {
		select {
		case <-failed:
			continue
		case err := <-over:
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		return
	}
}

// growing is a Store that returns more markets at each reading, and sends their number to a channel.
type growing struct {
	memoryStore
	sizes []int
	read  chan int
}

func (g *growing) ListFacts(ctx context.Context, _ time.Time) ([]attention.Fact, error) {
	n := g.sizes[0]
	g.sizes = g.sizes[1:]
	select {
	case g.read <- n:
	case <-ctx.Done():
	}
	facts := make([]attention.Fact, n)
	for i := range facts {
		facts[i].ID = protocol.MarketID(strconv.Itoa(7_000_000 + i))
	}
	return facts, nil
}

// TestRunWhileTheCatalogueFills checks that Run reads the markets again after a second instead of an interval while their
// number grows.
func TestRunWhileTheCatalogueFills(t *testing.T) {
	t.Parallel()
	g := &growing{sizes: []int{0, 20, 30, 31, 31}, read: make(chan int)}
	o := attention.NewService(g, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- o.Run(ctx, time.Hour, func(err error) { t.Error(err) }) }()
	for _, want := range []int{0, 20, 30, 31} {
		if got := <-g.read; got != want {
			t.Errorf("%d markets, want %d", got, want)
		}
	}
	quiet := time.NewTimer(1500 * time.Millisecond)
	defer quiet.Stop()
	select {
	case <-g.read:
		t.Error("a catalogue that grew by less than a tenth was read again immediately")
	case <-quiet.C:
	}
	cancel()
	<-over
}
