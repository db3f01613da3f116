package program

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// fixture is a Service whose copies and time the test sets.
type fixture struct {
	*Service
	clock *testkit.Clock
}

func newFixture() *fixture {
	clock := testkit.NewClock(noon)
	return &fixture{NewService(&Copies{}, DefaultLanes(), clock.Now), clock}
}

func (d *fixture) read(t *testing.T, preset, spec string, providers ...string) *Program {
	t.Helper()
	p, err := d.Program(Request{Preset: preset, Spec: spec, Providers: providers})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestServiceDegrades(t *testing.T) {
	t.Parallel()
	d := newFixture()
	if p := d.read(t, "", ""); p.Degraded != SourceDatabase || p.Total != 0 || d.Ready() {
		t.Errorf("without copies: %q, %d segments, ready %v", p.Degraded, p.Total, d.Ready())
	}
	if p := d.read(t, "hot", ""); p.Degraded != SourceLedger || p.Total != 0 {
		t.Errorf("hot without copies: %q, %d segments", p.Degraded, p.Total)
	}
	d.copies.Markets.Store(NewPool([]Market{market("1", in("sports"))}, noon, 1))
	d.copies.Rundown.Store(&Rundown{Entries: []Entry{entry("sports", SlotAt(noon), "1")}, LoadedAt: noon, Version: 1})
	if p := d.read(t, "", ""); p.Degraded != "" || p.Total != 2 || p.Segments[0].Yes != 3150 || p.Spec != "" || !d.Ready() {
		t.Errorf("with copies: %+v", p)
	}
	if p := d.read(t, "hot", ""); p.Degraded != "" || p.Total != 24 || p.Channel != "hot" || p.Spec != `{"minVolume":10000,"topPerCategory":12}` {
		t.Errorf("hot with copies: %+v", p)
	}
	d.clock.Set(noon.Add(2 * time.Minute))
	if p := d.read(t, "", ""); p.Degraded != SourceLedger || p.Total != 2 || p.Segments[0].Yes != 3150 {
		t.Errorf("two minutes without the ledger: %+v", p)
	}
	d.clock.Set(noon.Add(11 * time.Minute))
	if p := d.read(t, "hot", ""); p.Degraded != SourceLedger || p.Total != 0 {
		t.Errorf("hot, eleven minutes without the ledger: %+v", p)
	}
}

func TestServiceKeepsWhatHolds(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.copies.Markets.Store(NewPool([]Market{market("1", in("sports"))}, noon, 1))
	d.copies.Rundown.Store(&Rundown{})
	first := d.read(t, "hot", "")
	for _, c := range []struct {
		name   string
		change func()
		same   bool
	}{
		{"a second later", func() { d.clock.Advance(time.Second) }, true},
		{"the same markets fetched again", func() { d.copies.Markets.Store(d.copies.Markets.Load().Confirmed(d.now())) }, true},
		{"other markets", func() { d.copies.Markets.Store(NewPool([]Market{market("2", in("sports"))}, d.now(), 2)) }, false},
		{"older than rebuildAfter", func() { d.clock.Advance(rebuildAfter) }, false},
		{"shortly before a boundary", func() { d.clock.Set(Boundary(d.now()).Add(-2 * time.Second)) }, false},
		{"one second before the boundary", func() { d.clock.Advance(time.Second) }, true},
		{"at the boundary", func() { d.clock.Advance(time.Second) }, false},
		{"a clock set back", func() { d.clock.Advance(-time.Hour) }, false},
	} {
		c.change()
		p := d.read(t, "hot", "")
		if (p == first) != c.same {
			t.Errorf("%s: same programme %v, want %v", c.name, p == first, c.same)
		}
		if on := d.Now("hot", "sports"); on.Segment == nil || !on.Segment.Airs(d.now()) || !on.Until.Equal(Boundary(d.now())) {
			t.Errorf("%s: now %+v", c.name, on)
		}
		first = p
	}
}

// TestPicksAreStable checks that a changed order of markets takes effect only in the next period of 30 seconds. The removal of a
// market takes effect at once.
func TestPicksAreStable(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.copies.Rundown.Store(&Rundown{})
	hot := func(first, second float64) []Market {
		return []Market{market("1", volume(first)), market("2", volume(second))}
	}
	d.copies.Markets.Store(NewPool(hot(50000, 40000), noon, 1))
	order := func() (out [2]protocol.MarketID) {
		s := d.read(t, "hot", "").Segments
		k := SlotAt(d.now())
		for i := range s {
			if at := s[i].Slot - k; s[i].Kind == Content && at < 2 {
				out[(int64(k)+int64(at))%2] = s[i].Market
			}
		}
		return out
	}
	if got := order(); got != [2]protocol.MarketID{"1", "2"} {
		t.Fatalf("order %v", got)
	}
	d.copies.Markets.Store(NewPool(hot(30000, 40000), noon, 2))
	if got := order(); got != [2]protocol.MarketID{"1", "2"} {
		t.Errorf("order %v in the same window; want [1 2]", got)
	}
	d.clock.Set(noon.Add(pickEvery))
	if got := order(); got != [2]protocol.MarketID{"2", "1"} {
		t.Errorf("order %v in the next window; want [2 1]", got)
	}
	d.copies.Markets.Store(NewPool(hot(30000, 40000)[:1], noon, 3))
	if got := order(); got != [2]protocol.MarketID{"1", "1"} {
		t.Errorf("order %v without market 2; want [1 1]", got)
	}
}

func TestServiceSpecs(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.copies.Markets.Store(NewPool([]Market{market("1", in("sports")), market("kalshi-2", in("sports"))}, noon, 1))
	d.copies.Rundown.Store(&Rundown{})
	if _, err := d.Program(Request{Spec: "[]"}); !errors.Is(err, ErrSpec) {
		t.Errorf("error %v", err)
	}
	a := d.read(t, "", `{"categories":["sports","crypto"]}`)
	if b := d.read(t, "nonsense", ` {"categories":["crypto","SPORT"]}`); a != b {
		t.Error("two texts of the same spec are cached separately")
	}
	if d.read(t, "hot", "") != d.read(t, "hot", `{"minVolume":10000}`) {
		t.Error("a preset and the same spec written in full are cached separately")
	}
	if p := d.read(t, "", "", "kalshi"); p.Channel == DefaultChannel || p.Segments[0].Provider != protocol.Kalshi || p.Total != 24 {
		t.Errorf("providers: %s, %+v", p.Channel, p.Segments[0])
	}
	if p := d.read(t, "", "", "unknown"); p.Channel != DefaultChannel {
		t.Errorf("unknown providers select channel %s; want the default channel", p.Channel)
	}
	channels := make(map[string]bool)
	for i := range 3 * maxSpecs {
		d.clock.Advance(time.Millisecond)
		channels[d.read(t, "", fmt.Sprintf(`{"minVolume":%d}`, i)).Channel] = true
	}
	if len(d.specs) != maxSpecs || len(channels) != 3*maxSpecs {
		t.Errorf("%d specs cached, %d channels", len(d.specs), len(channels))
	}
	if _, cached := d.specs[query(t, Default, fmt.Sprintf(`{"minVolume":%d}`, 3*maxSpecs-1)).Key()]; !cached {
		t.Error("the newest spec was evicted")
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	list := Channels()
	if len(list) != 44 {
		t.Fatalf("%d channels; want 44", len(list))
	}
	names := make(map[string][]Lane)
	for _, c := range list {
		names[c.Name] = c.Lanes
	}
	for name, lanes := range map[string]string{
		"program:default": "[]", "program:close": "[]", "program:hot:ENTERTAINMENT": "[film tv]", "program:hot:CULTURE": "[fashion culture]",
		"program:resolving:ECONOMY": "[economy]", "program:default:WORLD": "[news]",
	} {
		if got, ok := names[name]; !ok || fmt.Sprint(got) != lanes {
			t.Errorf("%s: %v %v", name, got, ok)
		}
	}
}

func TestPreemptStatus(t *testing.T) {
	t.Parallel()
	p := Preempt{Slot: 100, Slots: 2, Market: protocol.MarketID("1")}
	for at, want := range map[Slot]string{99: "queued", 100: "airing", 101: "airing", 102: "done"} {
		if got := p.Status(at.Start()); got != want {
			t.Errorf("in slot %d: %s", at, got)
		}
	}
	p.CancelledAt = noon
	if got := p.Status(Slot(100).Start()); got != "cancelled" {
		t.Errorf("cancelled: %s", got)
	}
}

func TestServiceConcurrentReads(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.copies.Rundown.Store(&Rundown{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				if w == 0 {
					d.clock.Advance(7 * time.Second)
					d.copies.Markets.Store(NewPool([]Market{market("1", in("sports"))}, d.now(), uint64(i+1)))
					d.Refresh()
				}
				d.Now("hot", "")
				d.Next("", "")
				if _, err := d.Program(Request{Spec: fmt.Sprintf(`{"minYes":%d}`, i%7)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestDegradedProgrammeIsNotReused checks that a reader waits for a programme that another reader builds, if the previous one is
// degraded because nothing was loaded yet.
func TestDegradedProgrammeIsNotReused(t *testing.T) {
	t.Parallel()
	v := &view{}
	if first := v.program(nil, nil, noon); first.Degraded != SourceDatabase {
		t.Fatalf("without a rundown: %+v", first)
	}
	v.mu.Lock() // another reader builds the programme
	read, started := make(chan *Program), make(chan struct{})
	go func() {
		close(started)
		read <- v.program(poolOf(), &Rundown{LoadedAt: noon}, noon)
	}()
	<-started
	select {
	case p := <-read:
		t.Errorf("the reader got the degraded programme %+v", p)
		v.mu.Unlock()
	case <-time.After(50 * time.Millisecond):
		v.mu.Unlock()
		if p := <-read; p.Degraded != "" {
			t.Errorf("degraded by %s; want the new programme", p.Degraded)
		}
	}
}
