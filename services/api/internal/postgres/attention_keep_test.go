package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

func (b *bundle) keep(scores map[protocol.MarketID]int) int {
	b.t.Helper()
	return must(b.StoreAttention(b.t.Context(), scores, b.clock.Now()))(b.t)
}

func (b *bundle) points(id protocol.MarketID, span time.Duration, limit int) string {
	b.t.Helper()
	list := must(b.ListAttentionHistory(b.t.Context(), id, b.clock.Now().Add(-span), limit))(b.t)
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = fmt.Sprintf("%s=%d", p.At.Sub(noon), p.Score)
	}
	return strings.Join(out, " ")
}

// TestAttentionHistoryHasChangesOnly checks that the attention history gets a row for each changed score, and none for a
// market whose score was always 0.
func TestAttentionHistoryHasChangesOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		scores map[protocol.MarketID]int
		rows   int
	}{
		{map[protocol.MarketID]int{"1": 5, "2": 0}, 1},
		{map[protocol.MarketID]int{"1": 5, "2": 0}, 0},
		{map[protocol.MarketID]int{"1": 6, "2": 1}, 2},
		{map[protocol.MarketID]int{"1": 0, "2": 1}, 1},
		{map[protocol.MarketID]int{"1": 0}, 0},
		{map[protocol.MarketID]int{"1": 5}, 1},
		{nil, 0},
	} {
		if n := b.keep(c.scores); n != c.rows {
			t.Errorf("step %d: %d rows were added, want %d", i, n, c.rows)
		}
		b.clock.Advance(time.Minute)
	}
	for name, c := range map[string]struct{ got, want string }{
		"all":                         {b.points("1", time.Hour, 10), "0s=5 2m0s=6 3m0s=0 5m0s=5"},
		"with the score at the start": {b.points("1", 4*time.Minute+30*time.Second, 10), "2m0s=6 3m0s=0 5m0s=5"},
		"from a point":                {b.points("1", 5*time.Minute, 10), "0s=5 2m0s=6 3m0s=0 5m0s=5"},
		"the newest of many":          {b.points("1", time.Hour, 2), "3m0s=0 5m0s=5"},
		"no later change":             {b.points("1", time.Minute, 10), "5m0s=5"},
		"market without history":      {b.points("9", time.Hour, 10), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	for at, want := range map[time.Duration]string{-time.Second: "map[]", 0: "map[1:5]", 2 * time.Minute: "map[1:6 2:1]", time.Hour: "map[1:5 2:1]"} {
		got, err := b.ListAttention(t.Context(), []protocol.MarketID{"1", "2", "9"}, noon.Add(at))
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("after %v: %v, want %s (%v)", at, got, want, err)
		}
	}
}

// TestThinAttention checks that thinning leaves all scores of the last day and one in 15 minutes of the last week, and
// deletes older scores.
func TestThinAttention(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO api.attention_scores (market_id, at, score)
		SELECT m, $1::timestamptz - i * interval '1 minute', i % 100 FROM generate_series(0, 60 * 24 * 8) i, unnest(ARRAY['1', '2']) m`, noon)
	for range 2 {
		if err := b.ThinAttention(t.Context(), noon); err != nil {
			t.Fatal(err)
		}
	}
	count := func(from, to time.Duration) int {
		return b.count(`SELECT count(*) FROM api.attention_scores WHERE market_id = '1' AND at >= $1 AND at < $2`, noon.Add(-from), noon.Add(-to))
	}
	day := 24 * time.Hour
	if fine, thin, old := count(day, -time.Hour), count(2*day, day), count(9*day, 7*day); fine != 24*60+1 || thin != 24*4 || old != 0 {
		t.Errorf("%d scores of the last day, %d of the previous day, %d older than a week", fine, thin, old)
	}
	if n := b.count(`SELECT count(*) FROM api.attention_scores WHERE at < $1 AND at >= $2 AND extract(minute FROM at)::int % 15 <> 14`, noon.Add(-day), noon.Add(-2*day)); n != 0 {
		t.Errorf("%d scores are not the last of their 15 minutes", n)
	}
	if a, c := b.count(`SELECT count(*) FROM api.attention_scores WHERE market_id = '1'`), b.count(`SELECT count(*) FROM api.attention_scores WHERE market_id = '2'`); a != c {
		t.Errorf("%d rows of one market, but %d of the other", a, c)
	}
}

func TestSightingsAreStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := attention.Sighting{Kind: attention.OfMove, Window: protocol.Window15m, Key: "1"}
	two := attention.Sighting{Kind: attention.OfSituation, Window: protocol.Window24h, Key: "polymarket:event:flood"}
	list := func() map[attention.Sighting]time.Time {
		t.Helper()
		got := must(b.ListSightings(t.Context()))(t)
		for s, at := range got {
			got[s] = at.UTC()
		}
		return got
	}
	keep := func(seen map[attention.Sighting]time.Time, gone ...attention.Sighting) {
		t.Helper()
		if err := b.StoreSightings(t.Context(), seen, gone); err != nil {
			t.Fatal(err)
		}
	}
	keep(map[attention.Sighting]time.Time{one: noon, two: noon})
	keep(map[attention.Sighting]time.Time{one: noon.Add(time.Hour)})
	if got, want := list(), (map[attention.Sighting]time.Time{one: noon, two: noon}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	keep(nil, one, attention.Sighting{Kind: attention.OfMove, Window: protocol.Window1h, Key: "1"})
	if got, want := list(), (map[attention.Sighting]time.Time{two: noon}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMovementOutlivesItsProcess checks that a second process and a restarted process read the stored sightings and history.
// Only the leader writes them.
func TestMovementOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	priced := func(yes int, volume float64) {
		b.apply(true, b.answer("1", yes, func(r *market.Record) { r.EventKey, r.EventTitle, r.Volume24h = "flood", "Ostrava flood odds", &volume }))
	}
	priced(5000, 100)
	b.clock.Advance(time.Hour)
	priced(3600, 100)
	read := func(s *attention.Service) (string, int) {
		t.Helper()
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		stories, _, err := s.Situations(t.Context(), protocol.Window1h, "", 10)
		if err != nil || len(stories) != 1 {
			t.Fatal(stories, err)
		}
		row, _, err := s.Score(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		story := stories[0]
		return fmt.Sprintf("%s@%s@%s", story.Headline(), story.DetectedAt.Sub(noon), story.Moves[0].DetectedAt.Sub(noon)), row.Score
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	first := attention.NewService(b.Store, b.clock.Now)
	go func() {
		over <- first.Keep(ctx, func(err error) { t.Error(err) })
	}()
	const want = "Ostrava flood odds falls 14 points@1h0m0s@1h0m0s"
	if got, _ := read(first); got != want {
		t.Errorf("first process: %s", got)
	}
	kept := func(n int) func() bool {
		return func() bool { return b.count(`SELECT count(*) FROM api.movement_sightings`) == n }
	}
	testkit.Eventually(t, 20*time.Second, kept(4)) // a move and a situation, each in the windows 1h and 15m
	testkit.Eventually(t, 20*time.Second, func() bool { return b.count(`SELECT count(*) FROM api.attention_scores`) == 1 })

	b.clock.Advance(time.Minute)
	priced(3600, 100)
	other := attention.NewService(b.Store, b.clock.Now)
	if got, _ := read(other); got != want {
		t.Errorf("second process: %s", got)
	}
	b.clock.Advance(59 * time.Minute)
	priced(6000, 1e6)
	before, _ := b.ListAttention(t.Context(), []protocol.MarketID{"1"}, b.clock.Now())
	if _, score := read(other); score == before["1"] {
		t.Error("the score did not change, so the test checks nothing")
	}
	if n := b.count(`SELECT count(*) FROM api.attention_scores`); n != 1 {
		t.Errorf("a process that is not the leader wrote: %d rows", n)
	}
	if row, _, err := other.Score(t.Context(), "1"); err != nil || row.Delta != row.Score-before["1"] || row.Delta == 0 {
		t.Errorf("delta %d of score %d, one hour ago %d (%v)", row.Delta, row.Score, before["1"], err)
	}
	_, score := read(first)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.count(`SELECT count(*) FROM api.attention_scores`) == 2 })
	points, err := other.History(t.Context(), "1", time.Hour+time.Minute)
	if want := []attention.Point{{At: noon.Add(time.Hour), Score: before["1"]}, {At: b.clock.Now(), Score: score}}; err != nil || !slices.EqualFunc(points, want, func(a, b attention.Point) bool { return a.At.Equal(b.At) && a.Score == b.Score }) {
		t.Errorf("history %v, want %v (%v)", points, want, err)
	}
	b.clock.Advance(16 * time.Minute)
	if err := first.Refresh(t.Context()); err != nil { // every price is expired now
		t.Fatal(err)
	}
	testkit.Eventually(t, 20*time.Second, kept(0))
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestOneKeeper checks that only one of two processes is the leader, and that the other becomes the leader after it ends.
func TestOneKeeper(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(true, b.answer("1", 5000, func(r *market.Record) { v := 1e6; r.Volume24h = &v }))
	const movementLock = 7201013
	begun := make(chan string, 10)
	lead := func(name string) (stop func()) {
		s := attention.NewService(b.Store, b.clock.Now)
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			lease.Lead(ctx, b.rw, "movement", movementLock, func(ctx context.Context) error {
				begun <- name
				return s.Keep(ctx, func(err error) { t.Error(err) })
			})
		}()
		return func() { cancel(); <-over }
	}
	stopOne := lead("one")
	if got := <-begun; got != "one" {
		t.Fatal(got)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return b.count(`SELECT count(*) FROM api.attention_scores`) == 1 })
	stopTwo := lead("two")
	defer stopTwo()
	select {
	case name := <-begun:
		t.Errorf("%s leads at the same time as another process", name)
	case <-time.After(2 * time.Second):
	}
	stopOne()
	select {
	case <-begun:
	case <-time.After(20 * time.Second):
		t.Fatal("no process leads")
	}
	if n := b.count(`SELECT count(*) FROM api.attention_scores`); n != 1 {
		t.Errorf("the next leader wrote an unchanged score: %d rows", n)
	}
}
