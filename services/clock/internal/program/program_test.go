package program

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// TestSegmentExample compares both segments of a slot with the values that the protocol gives as an example.
func TestSegmentExample(t *testing.T) {
	t.Parallel()
	gauge := market("701122", func(m *Market) {
		m.Title = "Will the Ostrava gauge read above 6 m?"
		m.End = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC).UnixMilli()
		m.Signals, m.Tapes, m.Takes, m.Streams, m.EventKey = 42, 3, 6, 1, "ostrava-flood"
	})
	pool := poolOf(gauge)
	q := query(t, Default, `{"categories":["science"]}`)
	p := Compute(q, q.Pick(pool, noon), pool, noon)
	if p.Total != 2*computedSlots || len(p.Segments) != p.Total {
		t.Fatalf("total %d, %d segments", p.Total, len(p.Segments))
	}
	content := Segment{
		ID: q.Channel() + ":science:2933988:c", Kind: Content, Market: "701122", Lane: "science",
		Title:    "Will the Ostrava gauge read above 6 m?",
		StartsAt: time.Date(2026, 9, 18, 11, 58, 10, 0, time.UTC), EndsAt: time.Date(2026, 9, 18, 12, 8, 10, 0, time.UTC),
		MarketEnd: time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC), EndsIn: 6346800000 * time.Millisecond,
		Yes: 3150, Volume: 182000, Bucket: BucketOnAir, Status: StatusLive, Signals: 42, Tapes: 3, Takes: 6, Streams: 1,
		EventKey: "ostrava-flood", Provider: protocol.Polymarket, Slot: 2933988,
	}
	bumper := content
	bumper.ID, bumper.Kind, bumper.Title = q.Channel()+":science:2933988:b", Bumper, "NEXT · "+content.Title
	bumper.StartsAt, bumper.EndsAt = time.Date(2026, 9, 18, 11, 58, 0, 0, time.UTC), content.StartsAt
	bumper.Bucket = BucketToday // the bumper has already aired
	if diff := gocmp.Diff([]Segment{bumper, content}, p.Segments[:2]); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	if content.Route() != "/m/701122" {
		t.Errorf("route %q", content.Route())
	}
}

func TestStatusAndBucket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*Market)
		want   Status
	}{
		{ends(48 * time.Hour), StatusLive},
		{ends(60*time.Minute + time.Millisecond), StatusLive},
		{ends(60 * time.Minute), StatusResolving},
		{ends(-time.Hour), StatusResolving},
		{func(m *Market) { m.End = 0 }, StatusLive},
		{func(m *Market) { m.Status = protocol.MarketClosed }, StatusResolving},
		{func(m *Market) { m.Provisional = true }, StatusResolving},
		{func(m *Market) { m.Status = protocol.MarketUnknown }, StatusLive},
		{func(m *Market) { m.Status = protocol.MarketResolved }, StatusResolved},
	} {
		m := market("1", c.change)
		if got := statusOf(&m, noon); got != c.want {
			t.Errorf("status %s, want %s (%+v)", got, c.want, m)
		}
	}
	for in, want := range map[time.Duration]Bucket{
		0: BucketOnAir, -time.Minute: BucketToday, time.Second: BucketToday, 12*time.Hour - time.Second: BucketToday,
		12 * time.Hour: BucketTomorrow, 36*time.Hour - time.Second: BucketTomorrow, 36 * time.Hour: BucketThisWeek,
	} {
		s := Segment{StartsAt: noon.Add(in), EndsAt: noon.Add(in + time.Second)}
		if got := bucketOf(&s, noon); got != want {
			t.Errorf("bucket of %s: %s, want %s", in, got, want)
		}
	}
}

func TestComputedRotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		q := NewQuery(rapid.SampledFrom(Presets[:]).Draw(t, "preset"), drawSpec(t), nil, DefaultLanes())
		picks := q.Pick(pool, noon)
		now := noon.Add(time.Duration(rapid.IntRange(0, 9000).Draw(t, "seconds")) * time.Second)
		p := Compute(&q, picks, pool, now)
		running := SlotAt(now)
		for i := range p.Segments {
			s := &p.Segments[i]
			ids := picks.Lane(s.Lane)
			if want := ids[int(s.Slot)%len(ids)]; s.Market != want {
				t.Fatalf("slot %d of %s airs %s, want %s", s.Slot, s.Lane, s.Market, want)
			}
			if s.Slot < running || s.Slot >= running+computedSlots {
				t.Fatalf("slot %d at %d", s.Slot, running)
			}
		}
		if want := 2 * computedSlots * len(picks); p.Total != want {
			t.Fatalf("total %d, want %d", p.Total, want)
		}
		checkLayout(t, p)
		checkLayout(t, p.Cut(rapid.IntRange(1, MaxLimit).Draw(t, "limit")))
	})
}

// checkLayout checks invariants of a Program: the segments are sorted, and each segment belongs to exactly one lane.
func checkLayout(t *rapid.T, p *Program) {
	if !slices.IsSortedFunc(p.Segments, func(a, b Segment) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.Lane, b.Lane))
	}) {
		t.Fatal("segments are not sorted by start and lane")
	}
	seen := make(map[int32]bool)
	ids := make(map[string]bool)
	for _, l := range p.Lanes {
		if len(l.Segments) == 0 {
			t.Fatalf("lane %s is empty", l.Key)
		}
		for _, i := range l.Segments {
			if p.Segments[i].Lane != l.Key || seen[i] {
				t.Fatalf("lane %s lists segment %d, which belongs to another lane or is listed twice", l.Key, i)
			}
			seen[i] = true
		}
	}
	for _, s := range p.Segments {
		ids[s.ID] = true
	}
	if len(seen) != len(p.Segments) || len(ids) != len(p.Segments) {
		t.Fatalf("%d segments, %d in lanes, %d ids", len(p.Segments), len(seen), len(ids))
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	pool := poolOf(market("1", in("sports")), market("2", in("crypto")))
	q := query(t, Default, "")
	p := Compute(q, q.Pick(pool, noon), pool, noon)
	c := p.Cut(3)
	want := []LaneRow{{Key: "sports", Segments: []int32{1}}, {Key: "crypto", Segments: []int32{0, 2}}}
	if diff := gocmp.Diff(want, c.Lanes); diff != "" || len(c.Segments) != 3 || c.Total != 48 {
		t.Errorf("total %d, %d segments, lanes (-want +got):\n%s", c.Total, len(c.Segments), diff)
	}
	for in, want := range map[int]int{-1: 200, 0: 200, 1: 1, 400: 400, 401: 400} {
		if Limit(in) != want {
			t.Errorf("Limit(%d) = %d", in, Limit(in))
		}
	}
}

func entry(lane Lane, slot Slot, id string) Entry {
	m := market(id)
	return Entry{Lane: lane, Slot: slot, Market: m.ID, Title: m.Title, End: m.End}
}

func TestShow(t *testing.T) {
	t.Parallel()
	k := SlotAt(noon)
	entries := []Entry{
		entry("sports", k-1, "1"), entry("sports", k, "2"), entry("sports", k+1, "3"), entry("sports", k+2, "4"),
		entry("sports", k+Ahead+1, "1"), entry("nowhere", k, "1"),
	}
	pool := poolOf(market("1"), market("2", func(m *Market) { m.Status = protocol.MarketResolved }),
		market("3", ends(5*time.Minute)), market("4"))
	list := func(p *Program) (out []string) {
		for _, s := range p.Segments {
			if s.Kind == Content {
				out = append(out, fmt.Sprintf("+%d %s %s %d", s.Slot-k, s.Market, s.Status, s.Yes))
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		pool *Pool
		want []string
	}{
		"closed markets: running slot shown, future slot omitted": {pool, []string{"+0 2 resolved 3150", "+2 4 live 3150"}},
		"market not in the pool":                                  {poolOf(), []string{"+0 2 live -1"}},
		"no pool":                                                 {nil, []string{"+0 2 live -1", "+1 3 live -1", "+2 4 live -1"}},
		"stale pool":                                              {pool.Confirmed(noon.Add(-time.Hour)), []string{"+0 2 resolved -1", "+1 3 resolving -1", "+2 4 live -1"}},
	} {
		if diff := gocmp.Diff(c.want, list(Show("default", entries, c.pool, noon))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLanePriority(t *testing.T) {
	t.Parallel()
	k := SlotAt(noon)
	lanes := []Lane{"sports", "music", "film", "politics", "economy", "tv", "fashion", "culture"}
	pool := poolOf(
		market("1", func(m *Market) { m.Move = 499 }), // not a strong move
		market("2", ends(50*time.Minute)),
		market("3", ends(40*time.Minute)),
		market("4", func(m *Market) { m.Move = 500 }),
		market("5", func(m *Market) { m.Move = -900 }),
		market("6", func(m *Market) { m.Takes = 2 }),
		market("7", func(m *Market) { m.Takes = 3 }),
		market("8", func(m *Market) { m.Streams = 1 }),
	)
	var entries []Entry
	for i, l := range lanes {
		entries = append(entries, entry(l, k, fmt.Sprint(i+1)), entry(l, k+1, "1"))
	}
	entries = append(entries, entry("crypto", k+2, "1"))
	p := Show("default", entries, pool, noon)
	for i, want := range []Lane{"culture", "fashion", "tv", "economy", "politics", "film", "music", "sports"} {
		got := p.Now(lanes[:len(lanes)-i], noon)
		if got == nil || got.Lane != want || got.Kind != Content || !got.Airs(noon) {
			t.Fatalf("now among %v: %+v, want lane %s", lanes[:len(lanes)-i], got, want)
		}
		next := p.Next(lanes[:len(lanes)-i], noon)
		if next == nil || next.Lane != want || next.Slot != k+1 || next.Kind != Content {
			t.Fatalf("next: %+v", next)
		}
	}
	if got := p.Now(nil, noon); got.Lane != "culture" {
		t.Errorf("any lane: %s", got.Lane)
	}
	if got := p.Now([]Lane{"crypto"}, noon); got != nil {
		t.Errorf("crypto airs %+v", got)
	}
	if got := p.Next([]Lane{"crypto"}, noon); got == nil || got.Slot != k+2 {
		t.Errorf("next of crypto: %+v", got)
	}
	if p.Now([]Lane{"science"}, noon) != nil || p.Next([]Lane{"science"}, noon) != nil {
		t.Error("a lane without segments has a segment now or next")
	}
	during := k.Start().Add(5 * time.Second)
	if got := p.Now([]Lane{"tv"}, during); got.Kind != Bumper {
		t.Errorf("during the bumper: %+v", got)
	}
	if got := p.Next([]Lane{"tv"}, during); got.Slot != k || got.Kind != Content {
		t.Errorf("next during the bumper: %+v; want the content of the running slot", got)
	}
}
