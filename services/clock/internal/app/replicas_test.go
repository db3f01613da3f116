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

// replica is what a clock knows and shows, without its doors.
type replica struct {
	copies program.Copies
	keeper *program.Keeper
	desk   *program.Service
}

// trio is three replicas on one database with one hand-set time.
type trio struct {
	t        *testing.T
	clock    *testkit.Clock
	replicas [3]*replica
	markets  []program.Market
	aired    map[string]protocol.MarketID // by lane and slot, of what has started
	version  uint64
}

func newTrio(t *testing.T) (*trio, *postgres.Store) {
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("clock_rw")), testkit.ReadTime)
	// Ahead of the database, whose own clock therefore has no say.
	x := &trio{t: t, clock: testkit.NewClock((program.SlotAt(time.Now()) + 3).Start().Add(20 * time.Second)), aired: map[string]protocol.MarketID{}}
	for i := range x.replicas {
		r := &replica{}
		r.keeper = program.NewKeeper(store, &r.copies, program.DefaultLanes(), x.clock.Now)
		r.desk = program.NewService(&r.copies, program.DefaultLanes(), x.clock.Now)
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

// learn gives each replica a copy of its own, read at another moment and counted on its own.
func (x *trio) learn() {
	for i, r := range x.replicas {
		x.version += uint64(i) + 7
		at := x.clock.Now().Add(-time.Duration(i) * time.Second)
		r.copies.Markets.Store(program.NewPool(append([]program.Market(nil), x.markets...), at, x.version))
	}
}

// minute lets one replica fill and asks all of them.
func (x *trio) minute(filler int) *program.Program {
	x.t.Helper()
	x.learn()
	if _, err := x.replicas[filler].keeper.Fill(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	var stored *program.Program
	var first [][]byte
	for i, r := range x.replicas {
		if err := r.keeper.Load(x.t.Context()); err != nil {
			x.t.Fatal(err)
		}
		var said [][]byte
		for j, ask := range []program.Request{{}, {Preset: "hot"}, {Preset: "resolving"}, {Preset: "close"}, {Spec: `{"categories":["music","tv"]}`}} {
			p, err := r.desk.Program(ask)
			if err != nil || p.Degraded != "" || p.Total == 0 && ask.Preset != "resolving" {
				x.t.Fatalf("%+v: %+v, %v", ask, p, err)
			}
			if j == 0 {
				stored = p
			}
			b, err := httpapi.Programme(p)
			if err != nil {
				x.t.Fatal(err)
			}
			said = append(said, b)
		}
		now, next := r.desk.Now("default", ""), r.desk.Next("default", "")
		if now.Segment == nil || next.Segment == nil {
			x.t.Fatalf("nothing is on, or nothing comes: %+v %+v", now, next)
		}
		said = append(said, []byte(now.Segment.ID+" "+string(now.Segment.Market)), []byte(next.Segment.ID+" "+string(next.Segment.Market)))
		if i == 0 {
			first = said
		}
		for j := range said {
			if !bytes.Equal(said[j], first[j]) {
				x.t.Fatalf("%s: replica %d says another thing than the first to question %d", x.clock.Now(), i, j)
			}
		}
	}
	x.stands(stored)
	return stored
}

// stands holds what is on the air against what was on the air in the same slot.
func (x *trio) stands(p *program.Program) {
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

func market(p *program.Program, lane program.Lane, slot program.Slot) protocol.MarketID {
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Lane == lane && s.Slot == slot {
			return s.Market
		}
	}
	return ""
}

// TestReplicasAgree: for eight hours, in every minute, three replicas answer with the
// same bytes, whichever of them fills; a slot that began is never another one; a market
// that stops being airable leaves the slots to come, and a director's entry takes its
// slots from the boundary on.
func TestReplicasAgree(t *testing.T) {
	t.Parallel()
	x, store := newTrio(t)
	director := program.Director{
		Store: store, Copies: &x.replicas[1].copies, Refresh: func(context.Context) error { return nil }, Lanes: program.DefaultLanes(),
		Words: httpapi.Words(), Now: x.clock.Now, NewID: func() string { return "0199f0b0-0000-7000-8000-000000000001" }, Changed: func() {},
	}
	var gone protocol.MarketID
	var entry program.Preempt
	for i := range 480 {
		p := x.minute(i / 25 % 3)
		k := program.SlotAt(x.clock.Now())
		switch {
		case i == 33: // the market that airs in sports, and comes again, is stopped
			gone = market(p, "sports", k)
			for j := range x.markets {
				if x.markets[j].ID == gone {
					x.markets[j].Status = protocol.MarketClosed
				}
			}
		case i == 34:
			if market(p, "sports", k) != gone {
				t.Fatal("the slot that runs changed")
			}
		case i == 90:
			var err error
			if entry, err = director.Preempt(t.Context(), program.PreemptDraft{Market: "107", Lane: "tv", Slots: 2}); err != nil {
				t.Fatal(err)
			}
			if entry.Slot != k+1 {
				t.Fatalf("the entry begins with slot %d, want the next", entry.Slot-k)
			}
		}
		if i > 33 {
			for slot := k + 1; slot <= k+program.Ahead; slot++ {
				if market(p, "sports", slot) == gone {
					t.Fatalf("minute %d: slot %d still airs what was stopped", i, slot-k)
				}
			}
		}
		if i > 90 {
			for _, slot := range []program.Slot{entry.Slot, entry.Slot + 1} {
				if slot >= k && market(p, "tv", slot) != "107" {
					t.Fatalf("minute %d: slot %d of tv airs %s", i, slot-k, market(p, "tv", slot))
				}
			}
			if on := x.aired[fmt.Sprint("tv", entry.Slot-1)]; on == "107" {
				t.Fatal("the entry began before its boundary")
			}
		}
		x.clock.Advance(time.Minute)
	}
	if len(x.aired) < 6*45 {
		t.Errorf("%d slots aired", len(x.aired))
	}
}
