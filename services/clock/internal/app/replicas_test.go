package app

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/httpapi"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// replica is a clock without servers: copies, a planner and a Service.
type replica struct {
	copies   program.Copies
	planner  *program.Planner
	programs *program.Service
}

// cluster is a fixture: three replicas that share a database, and a clock that the test sets.
type cluster struct {
	t        *testing.T
	clock    *testkit.Clock
	replicas [3]*replica
	markets  []program.Market
	aired    map[string]protocol.MarketID // markets that have aired, by lane and slot
	version  uint64
}

func newCluster(t *testing.T) (*cluster, *postgres.Store) {
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("clock_rw")), testkit.ReadTime)
	// The clock is ahead of the clock of the database, so the database rejects no change.
	start := (program.SlotAt(time.Now()) + 3).Start().Add(20 * time.Second)
	x := &cluster{t: t, clock: testkit.NewClock(start), aired: map[string]protocol.MarketID{}}
	for i := range x.replicas {
		r := &replica{}
		r.planner = program.NewPlanner(store, &r.copies, program.DefaultLanes(), x.clock.Now)
		r.programs = program.NewService(&r.copies, program.DefaultLanes(), x.clock.Now)
		x.replicas[i] = r
	}
	for i := range 24 {
		x.markets = append(x.markets, program.Market{
			ID: protocol.MarketID(fmt.Sprint(100 + i)), Provider: protocol.Polymarket, Title: fmt.Sprintf("Will %d happen?", i),
			Lane: program.DefaultLanes()[i%6], End: x.clock.Now().Add(time.Duration(30+i) * time.Hour).UnixMilli(), Yes: protocol.Bps(4000 + 80*i),
			Volume: 50000, DayVolume: float64(1000 * i), Status: protocol.MarketOpen,
		})
	}
	return x, store
}

// refresh gives each replica a separate copy of the markets, with a different fetch time and version.
func (x *cluster) refresh() {
	for i, r := range x.replicas {
		x.version += uint64(i) + 7
		at := x.clock.Now().Add(-time.Duration(i) * time.Second)
		r.copies.Markets.Store(program.NewPool(append([]program.Market(nil), x.markets...), at, x.version))
	}
}

// fillAndCompare lets one replica fill the rundown and fails the test unless all replicas give the same answers. It returns the
// program of the stored channel.
func (x *cluster) fillAndCompare(filler int) *program.Program {
	x.t.Helper()
	x.refresh()
	if _, err := x.replicas[filler].planner.Fill(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	var stored *program.Program
	var first [][]byte
	for i, r := range x.replicas {
		if err := r.planner.Load(x.t.Context()); err != nil {
			x.t.Fatal(err)
		}
		var answers [][]byte
		for j, request := range []program.Request{
			{}, {Preset: "hot"}, {Preset: "resolving"}, {Preset: "close"}, {Spec: `{"categories":["music","tv"]}`},
		} {
			p, err := r.programs.Program(request)
			if err != nil || p.Degraded != "" || p.Total == 0 && request.Preset != "resolving" {
				x.t.Fatalf("%+v: %+v, %v", request, p, err)
			}
			if j == 0 {
				stored = p
			}
			b, err := httpapi.EncodeProgram(p)
			if err != nil {
				x.t.Fatal(err)
			}
			answers = append(answers, b)
		}
		now, next := r.programs.Now("default", ""), r.programs.Next("default", "")
		if now.Segment == nil || next.Segment == nil {
			x.t.Fatalf("now %+v, next %+v; want a segment in both", now, next)
		}
		for _, s := range []*program.Segment{now.Segment, next.Segment} {
			answers = append(answers, []byte(s.ID+" "+string(s.Market)))
		}
		if i == 0 {
			first = answers
		}
		for j := range answers {
			if !bytes.Equal(answers[j], first[j]) {
				x.t.Fatalf("%s: replica %d and replica 0 answer request %d differently", x.clock.Now(), i, j)
			}
		}
	}
	x.requireSameAirings(stored)
	return stored
}

// requireSameAirings fails the test if a started slot airs another market than in an earlier call.
func (x *cluster) requireSameAirings(p *program.Program) {
	x.t.Helper()
	for i := range p.Segments {
		s := &p.Segments[i]
		if s.StartsAt.After(x.clock.Now()) {
			continue
		}
		key := fmt.Sprint(s.Lane, s.Slot)
		if was, known := x.aired[key]; known && was != s.Market {
			x.t.Fatalf("%s: slot %d of %s aired %s and now airs %s", x.clock.Now(), s.Slot, s.Lane, was, s.Market)
		}
		x.aired[key] = s.Market
	}
}

// market returns the market of a lane in a slot, or an empty id.
func market(p *program.Program, lane program.Lane, slot program.Slot) protocol.MarketID {
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Lane == lane && s.Slot == slot {
			return s.Market
		}
	}
	return ""
}

// TestReplicasAgree compares three replicas in every minute of eight hours. They give the same answers, whichever replica fills
// the rundown. A started slot never changes. A market that is no longer airable is removed from future slots. An entry of a
// director airs exactly in its slots.
func TestReplicasAgree(t *testing.T) {
	t.Parallel()
	x, store := newCluster(t)
	director := program.Director{
		Store: store, Copies: &x.replicas[1].copies, Refresh: func(context.Context) error { return nil }, Lanes: program.DefaultLanes(),
		Encoder: httpapi.Encoder(), Now: x.clock.Now, NewID: func() string { return "0199f0b0-0000-7000-8000-000000000001" }, Changed: func() {},
	}
	var closed protocol.MarketID
	var entry program.Preempt
	for i := range 480 {
		p := x.fillAndCompare(i / 25 % 3)
		k := program.SlotAt(x.clock.Now())
		switch {
		case i == 33: // the market that airs in the lane sports closes
			closed = market(p, "sports", k)
			for j := range x.markets {
				if x.markets[j].ID == closed {
					x.markets[j].Status = protocol.MarketClosed
				}
			}
		case i == 34:
			if market(p, "sports", k) != closed {
				t.Fatal("the running slot changed after its market closed")
			}
		case i == 90:
			var err error
			if entry, err = director.Preempt(t.Context(), program.PreemptDraft{Market: "107", Lane: "tv", Slots: 2}); err != nil {
				t.Fatal(err)
			}
			if entry.Slot != k+1 {
				t.Fatalf("the entry starts %d slots after the running one; want 1", entry.Slot-k)
			}
		}
		if i > 33 {
			for slot := k + 1; slot <= k+program.Ahead; slot++ {
				if market(p, "sports", slot) == closed {
					t.Fatalf("minute %d: slot +%d contains the closed market", i, slot-k)
				}
			}
		}
		if i > 90 {
			for _, slot := range []program.Slot{entry.Slot, entry.Slot + 1} {
				if slot >= k && market(p, "tv", slot) != "107" {
					t.Fatalf("minute %d: slot +%d of tv airs %s; want 107", i, slot-k, market(p, "tv", slot))
				}
			}
			if on := x.aired[fmt.Sprint("tv", entry.Slot-1)]; on == "107" {
				t.Fatal("the market of the entry aired before its first slot")
			}
		}
		x.clock.Advance(time.Minute)
	}
	if len(x.aired) < 6*45 {
		t.Errorf("%d slots aired", len(x.aired))
	}
}
