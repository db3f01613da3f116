package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// market returns a market that is airable for at least 100 hours after now. n determines its id and its end.
func market(n int, lane program.Lane, now time.Time) program.Market {
	id := protocol.MarketID(fmt.Sprint(n))
	return program.Market{
		ID: id, Provider: protocol.Polymarket, Title: "Will " + string(id) + "?", Lane: lane,
		End: now.Add(time.Duration(100+n) * time.Hour).UnixMilli(), Yes: 3150, Volume: 5000, DayVolume: 50, Status: protocol.MarketOpen,
	}
}

func (b *bundle) fill(t *testing.T, k *program.Planner, changed, aired int) {
	t.Helper()
	done, err := k.Fill(t.Context())
	if err != nil || done.Changed != changed {
		t.Fatalf("fill: %+v, %v; want %d changed slots", done, err, changed)
	}
	if published, err := b.Publish(t.Context(), program.Publication{Airings: done.Airings, Now: b.now}); err != nil || published.Aired != aired {
		t.Fatalf("publish: %+v, %v; want %d airings", published, err, aired)
	}
}

func TestPlannerFills(t *testing.T) {
	b := setup(t)
	clock := testkit.NewClock((b.slot + 3).Start().Add(5 * time.Second)) // in a bumper, ahead of the clock of the database
	var copies program.Copies
	k := program.NewPlanner(b.Store, &copies, program.DefaultLanes(), clock.Now)
	b.fill(t, k, 0, 0)
	if r := copies.Rundown.Load(); r == nil || len(r.Entries) != 0 {
		t.Fatalf("rundown %+v; want an empty one", r)
	}
	now := clock.Now()
	list := []program.Market{market(1, "sports", now), market(2, "sports", now), market(3, "crypto", now), market(4, "science", now)}
	copies.Markets.Store(program.NewPool(list, now.Add(-time.Minute), 1))
	b.fill(t, k, 0, 0) // this copy is too old to plan from
	copies.Markets.Store(program.NewPool(list, now, 1))
	const all = 2 * (program.Ahead + 1) // sports and crypto; science is not on the default channel
	b.fill(t, k, all, 0)
	b.fill(t, k, 0, 0)
	if n := len(copies.Rundown.Load().Entries); n != all {
		t.Fatalf("%d entries, want %d", n, all)
	}
	if got := fmt.Sprint(k.Needed()); got != "[1 2 3]" {
		t.Errorf("needed %s", got)
	}

	clock.Advance(10 * time.Second) // the content starts
	b.fill(t, k, 0, 2)
	b.fill(t, k, 0, 0)
	clock.Advance(program.SlotLength + 2*time.Minute) // no planner runs when the next content starts
	copies.Markets.Store(program.NewPool(list, clock.Now(), 1))
	b.fill(t, k, 2, 2)
	var seen, unseen int
	err := b.pool.QueryRow(t.Context(), `SELECT count(yes_bps_start), count(*) - count(yes_bps_start) FROM airings`).Scan(&seen, &unseen)
	if err != nil || seen != 2 || unseen != 2 {
		t.Errorf("%d airings with and %d without a price, %v", seen, unseen, err)
	}

	// A replica that starts now loads the same rundown and changes nothing.
	var others program.Copies
	others.Markets.Store(copies.Markets.Load())
	other := program.NewPlanner(New(b.pool, testkit.ReadTime), &others, program.DefaultLanes(), clock.Now)
	b.fill(t, other, 0, 0)
	if a, o := copies.Rundown.Load(), others.Rundown.Load(); a.Version != o.Version {
		t.Errorf("two replicas have rundown versions %d and %d; want the same", a.Version, o.Version)
	}

	list[0].Status = protocol.MarketClosed
	others.Markets.Store(program.NewPool(list, clock.Now(), 2))
	if done, err := other.Fill(t.Context()); err != nil || done.Changed < program.Ahead/2 {
		t.Errorf("refill: %+v, %v", done, err)
	}
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range copies.Rundown.Load().Entries {
		if e.Market == "1" && e.Slot > program.SlotAt(clock.Now()) {
			t.Errorf("slot %d still airs the closed market", e.Slot)
		}
	}
}

func TestPlannerKeepsLastCopy(t *testing.T) {
	b := setup(t)
	b.apply(t, 1, put("sports", b.slot+2, "1", ""))
	pool, err := pg.Open(t.Context(), pg.Config{URL: b.pool.Config().ConnString()})
	if err != nil {
		t.Fatal(err)
	}
	var copies program.Copies
	k := program.NewPlanner(New(pool, testkit.ReadTime), &copies, program.DefaultLanes(), func() time.Time { return b.now })
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	pool.Close()
	if err := k.Load(t.Context()); err == nil {
		t.Fatal("Load succeeds with a closed connection pool")
	}
	if _, err := k.Fill(t.Context()); err == nil {
		t.Fatal("Fill succeeds with a closed connection pool")
	}
	if r := copies.Rundown.Load(); r == nil || len(r.Entries) != 1 {
		t.Errorf("rundown after a failed load: %+v; want the last copy", r)
	}
}
