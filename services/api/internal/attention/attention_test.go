package attention_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

func TestAttention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		volume                  float64
		move                    int
		signals, viewers, takes int64
		want                    int
	}{
		{412_000, 1100, 9, 37, 3, 56}, // the test vector of the protocol
		{412_000, -1100, 9, 37, 3, 56},
		{0, 0, 0, 0, 0, 0},
		{-5, 0, 0, 0, 0, 0},
		{1e7, 0, 0, 0, 0, 30}, // volume alone
		{1e12, 10_000, 1 << 40, 1 << 40, 1 << 40, 100},
	} {
		if got := attention.Weigh(c.volume, c.move, c.signals, c.viewers, c.takes).Score(); got != c.want {
			t.Errorf("score of %+v: %d", c, got)
		}
	}
	if got := fmt.Sprintf("%.2f", attention.Weigh(412_000, 1100, 9, 37, 3)); got != "{0.80 0.44 0.55 0.39 0.40}" {
		t.Errorf("components %s", got)
	}
}

func TestRanks(t *testing.T) {
	t.Parallel()
	o, s, _ := setup(t,
		fact("1", 1e7), fact("2", 1e7, from(2500)), fact("9", 500), fact("3", 501, lane(protocol.LaneTech)), fact("4", 500),
		fact("5", 0, func(f *attention.Fact) { f.Volume24h = nil }),
		fact("native-a", 0, func(f *attention.Fact) { f.Provider, f.Signals24h, f.Takes24h = protocol.Manual, 63, 31 }))
	row := func(r *attention.Row) string { return fmt.Sprintf("%s:%d:%d:%d", r.ID, r.Rank, r.Score, r.Percentile) }
	rows, at, err := o.Top(t.Context(), "", 100)
	// Markets with equal scores are ordered by descending volume, then by id.
	if got, want := list(t, rows, at, err, row), "2:1:55:86 1:2:30:57 native-a:3:30:57 3:4:12:14 4:5:12:14 9:6:12:14 5:7:0:0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rows, at, err = o.Top(t.Context(), protocol.LaneTech, 100)
	if got := list(t, rows, at, err, row); got != "3:4:12:14" {
		t.Errorf("ranks of a lane: %s", got)
	}
	if rows, _, _ := o.Top(t.Context(), "", 2); len(rows) != 2 {
		t.Errorf("%d rows, want 2", len(rows))
	}
	if rows, _, _ := o.Top(t.Context(), protocol.LaneMusic, 2); len(rows) != 0 {
		t.Errorf("%d rows in an empty lane", len(rows))
	}
	if r, _, err := o.Score(t.Context(), "9"); err != nil || r.Rank != 6 {
		t.Errorf("score of market 9: %+v %v", r, err)
	}
	if len(s.notes) != 1 || s.notes[0] != "7 scores of 11:00:00" {
		t.Errorf("reads of the store: %q", s.notes)
	}
}

// TestViewersCount checks that a changed number of viewers affects the score from the next reading on.
func TestViewersCount(t *testing.T) {
	t.Parallel()
	o, _, _ := setup(t, fact("1", 1e7), fact("2", 1e7))
	o.Watch(func(context.Context) map[protocol.MarketID]int64 {
		return map[protocol.MarketID]int64{"2": 9_999, "7": 3}
	})
	refresh(t, o)
	rows, at, err := o.Top(t.Context(), "", 9)
	if got := list(t, rows, at, err, func(r *attention.Row) string { return fmt.Sprintf("%s:%d:%.2f", r.ID, r.Score, r.Parts.Viewers) }); got != "2:45:1.00 1:30:0.00" {
		t.Error(got)
	}
}

// TestDelta checks that Row.Delta is the change of the score in the last hour, and 0 without an earlier score.
func TestDelta(t *testing.T) {
	t.Parallel()
	o, s, _ := setup(t, fact("1", 1e7), fact("2", 1e6))
	s.before = map[protocol.MarketID]int{"1": 41, "99": 3}
	refresh(t, o)
	rows, at, err := o.Top(t.Context(), "", 9)
	if got := list(t, rows, at, err, func(r *attention.Row) string { return fmt.Sprintf("%s%+d", r.ID, r.Delta) }); got != "1-11 2+0" {
		t.Error(got)
	}
}

// TestDeltaIsReadForListedMarkets checks that the service reads earlier scores only for the markets in its lists.
func TestDeltaIsReadForListedMarkets(t *testing.T) {
	t.Parallel()
	var facts []attention.Fact
	for i := range 300 {
		facts = append(facts, fact(fmt.Sprint(1000+i), float64(i)), fact(fmt.Sprint(2000+i), 0, lane(protocol.LaneTech)))
	}
	_, s, _ := setup(t, facts...)
	if s.notes[0] != "200 scores of 11:00:00" {
		t.Errorf("reads of the store: %q", s.notes)
	}
}

// TestWaitsForTheFirstReading checks that a request before the first reading waits until its context ends.
func TestWaitsForTheFirstReading(t *testing.T) {
	t.Parallel()
	s := &memoryStore{err: errAway}
	o := attention.NewService(s, time.Now)
	if err := o.Refresh(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("failed reading: %v", err)
	}
	if o.Age() != 0 {
		t.Error("the age without a reading is not 0")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func(context.Context) error{
		"moves":      func(ctx context.Context) error { _, _, err := o.Moves(ctx, protocol.Window1h, "", 1); return err },
		"situations": func(ctx context.Context) error { _, _, err := o.Situations(ctx, protocol.Window1h, "", 1); return err },
		"tiles":      func(ctx context.Context) error { _, _, err := o.Tiles(ctx, false, nil); return err },
		"top":        func(ctx context.Context) error { _, _, err := o.Top(ctx, "", 1); return err },
		"score":      func(ctx context.Context) error { _, _, err := o.Score(ctx, "1"); return err },
	} {
		if err := ask(gone); !errors.Is(err, attention.ErrUnavailable) {
			t.Errorf("request of %s: %v", name, err)
		}
	}
	answer := make(chan error)
	go func() { _, _, err := o.Top(t.Context(), "", 1); answer <- err }()
	s.err = nil
	refresh(t, o)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestUnknownWhileTheStoreFails checks that the service continues to serve the last reading while the store fails. A request
// for a market that is not in this reading fails with ErrUnavailable, because the market may have opened since.
func TestUnknownWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	o, s, clock := setup(t, fact("1", 5))
	if _, _, err := o.Score(t.Context(), "2"); !errors.Is(err, attention.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
	s.err = errAway
	clock.Advance(time.Minute)
	if o.Refresh(t.Context()) == nil {
		t.Fatal("a failed reading returned no error")
	}
	if _, at, err := o.Score(t.Context(), "1"); err != nil || !at.Equal(noon) || o.Age() != time.Minute {
		t.Errorf("known market: %v %v, age %v", at, err, o.Age())
	}
	if _, _, err := o.Score(t.Context(), "2"); !errors.Is(err, attention.ErrUnavailable) {
		t.Errorf("unknown market while the store fails: %v", err)
	}
	s.err = nil
	refresh(t, o)
	if _, _, err := o.Score(t.Context(), "2"); !errors.Is(err, attention.ErrNotFound) {
		t.Errorf("unknown market after recovery: %v", err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	o, s, clock := setup(t, fact("1", 1e7))
	clock.Advance(30 * time.Second)
	day := noon.Add(30*time.Second - 24*time.Hour)
	show := func(id protocol.MarketID, span string, stored ...attention.Point) string {
		t.Helper()
		s.points = stored
		points, err := o.History(t.Context(), id, attention.ParseSpan(span))
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, p := range points {
			out += fmt.Sprintf("%s=%d ", p.At.Format("2 15:04:05"), p.Score)
		}
		return out
	}
	early, late := attention.Point{At: day.Add(-time.Hour), Score: 3}, attention.Point{At: noon.Add(-time.Hour), Score: 4}
	for name, c := range map[string]struct{ got, want string }{
		"changed before and within the span":       {show("1", "24h", early, late), "9 12:00:30=3 10 11:00:00=4 10 12:00:00=30 "},
		"changed within the span":                  {show("1", "24h", late), "10 11:00:00=4 10 12:00:00=30 "},
		"never changed":                            {show("1", "24h"), "10 12:00:00=30 "},
		"changed just now":                         {show("1", "24h", attention.Point{At: noon, Score: 30}), "10 12:00:00=30 "},
		"market that is not open":                  {show("2", "24h", early, late), "10 11:00:00=4 "},
		"unknown market":                           {show("2", "24h"), ""},
		"changed exactly at the start of the span": {show("2", "24h", attention.Point{At: day, Score: 7}), "9 12:00:30=7 "},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	for raw, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1h": time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "": 24 * time.Hour, "1y": 24 * time.Hour,
	} {
		if got := attention.ParseSpan(raw); got != want {
			t.Errorf("span of %q: %v", raw, got)
		}
	}
	s.points = make([]attention.Point, attention.MostPoints)
	for i := range s.points {
		s.points[i] = attention.Point{At: noon.Add(time.Duration(i-len(s.points)) * time.Second), Score: i}
	}
	points, err := o.History(t.Context(), "1", 24*time.Hour)
	if err != nil || len(points) != 2000 || points[0].Score != 1 || points[1999].Score != 30 {
		t.Errorf("2,001 points: %d points, %v; want 2000, without the oldest and with the newest reading", len(points), err)
	}
	s.err = errAway
	if _, err := o.History(t.Context(), "1", time.Hour); !errors.Is(err, errAway) {
		t.Errorf("while the store fails: %v", err)
	}
}
