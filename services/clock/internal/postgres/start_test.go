package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

func start(channel string, slot program.Slot, market string) program.Start {
	return program.Start{Channel: channel, Slot: slot, Lane: "sports", Market: "1", Data: fmt.Appendf(nil, `{"market":%q}`, market)}
}

// waiting returns the unsent facts of the outbox. out has the type, channel and data of each fact as text.
func (b *bundle) waiting(t *testing.T) (out []string, facts []outbox.Fact) {
	t.Helper()
	facts, err := b.Waiting(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		out = append(out, f.Type+" "+f.Topic+" "+f.Data)
	}
	return out, facts
}

// TestPublish checks that a start is stored and published once for each channel and slot; a second start is ignored. Copies
// precede the facts that they contain, and the outbox has only the newest copy of a channel.
func TestPublish(t *testing.T) {
	b := setup(t)
	publish := func(started int, n program.Publication) {
		t.Helper()
		n.Now = b.now
		if published, err := b.Publish(t.Context(), n); err != nil || published.Started != started {
			t.Fatalf("published %+v, %v; want %d starts", published, err, started)
		}
	}
	publish(0, program.Publication{Copies: []program.Copy{{Channel: "program:hot", Data: []byte(`{"n":1}`)}, {Channel: "program:close", Data: []byte(`{"n":2}`)}}})
	publish(2, program.Publication{
		Starts: []program.Start{start("program:hot", b.slot, "1"), start("program:hot:SPORT", b.slot, "1")},
		Copies: []program.Copy{{Channel: "program:hot", Data: []byte(`{"n":3}`)}},
	})
	publish(1, program.Publication{Starts: []program.Start{start("program:hot", b.slot, "2"), start("program:hot", b.slot+1, "2")}})
	got, facts := b.waiting(t)
	want := []string{
		`copy program:close {"n":2}`, `copy program:hot {"n":3}`,
		`segment.started program:hot {"market":"1"}`, `segment.started program:hot:SPORT {"market":"1"}`, `segment.started program:hot {"market":"2"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("waiting (-want +got):\n%s", diff)
	}
	if f := facts[2]; !f.At.Equal(b.slot.Content()) || f.MarketID != "1" || f.ID != eventID("segment.started", "program:hot", b.slot, "") {
		t.Errorf("%+v", f)
	}
	list, err := b.ListStarts(t.Context(), b.slot)
	if err != nil || len(list) != 2 || list[0].Lane != "sports" || list[0].Market != "1" {
		t.Errorf("starts %+v, %v", list, err)
	}
	var places []int64
	for _, f := range facts {
		places = append(places, f.RowID)
	}
	if err := b.Sent(t.Context(), places); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.waiting(t); len(got) != 0 {
		t.Errorf("the outbox contains %v; want nothing", got)
	}
	b.now = (b.slot + keptStarts + 1).Start()
	publish(1, program.Publication{Starts: []program.Start{start("program:hot", b.slot+keptStarts+1, "1")}})
	if list, err := b.ListStarts(t.Context(), b.slot); err != nil || len(list) != 0 {
		t.Errorf("starts older than keptStarts slots: %v, %v; want none", list, err)
	}
}

// TestConcurrentPublish checks that if 20 replicas publish the same starts at the same time, each start is published once.
func TestConcurrentPublish(t *testing.T) {
	b := setup(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			starts := []program.Start{start("program:hot", b.slot, fmt.Sprint(i)), start("program:close", b.slot, fmt.Sprint(i))}
			if _, err := b.Publish(t.Context(), program.Publication{Starts: starts, Now: b.now}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, _ := b.waiting(t); len(got) != 2 {
		t.Errorf("waiting: %v", got)
	}
}

// TestPublishIsAtomic checks that a failed publication stores nothing.
func TestPublishIsAtomic(t *testing.T) {
	b := setup(t)
	bad := start("program:hot", b.slot, "1")
	bad.Channel = "nonsense"
	_, err := b.Publish(t.Context(), program.Publication{
		Copies: []program.Copy{{Channel: "program:hot", Data: []byte(`{}`)}}, Starts: []program.Start{bad}, Now: b.now,
	})
	if err == nil {
		t.Fatal("a start on an invalid channel was published")
	}
	if got, _ := b.waiting(t); len(got) != 0 {
		t.Errorf("waiting: %v", got)
	}
}

// director returns a Director that uses the store, with markets of two lanes.
func (b *bundle) director() *program.Director {
	b.copies.Markets.Store(program.NewPool([]program.Market{market(1, "sports", b.now), market(2, "crypto", b.now)}, b.now, 1))
	return &program.Director{
		Store: b.Store, Copies: &b.copies, Refresh: b.refresh, Lanes: program.DefaultLanes(), Encoder: encoder,
		Now: func() time.Time { return b.now }, NewID: uuid.NewString, Changed: func() { b.changed.Add(1) },
	}
}

// TestPreempt checks that an entry of a director gets its slots and is published in one transaction. Another entry cannot get
// these slots. When the entry is cancelled, its slots that have not started are cleared.
func TestPreempt(t *testing.T) {
	b := setup(t)
	d := b.director()
	b.apply(t, 1, put("sports", b.slot+3, "9", ""))
	p, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1", StartsAt: (b.slot + 3).Start(), Slots: 2, Reason: "flood"})
	if err != nil || p.Slot != b.slot+3 {
		t.Fatalf("%+v, %v", p, err)
	}
	id := func(k program.Slot) string { return program.SegmentID("default", "sports", k, program.Content) }
	want := []string{
		`segment.preempted program:default {"` + id(b.slot+3) + `":"9"}`, `segment.preempted program:default:SPORT {"` + id(b.slot+3) + `":"9"}`,
		`segment.preempted program:default {"` + id(b.slot+4) + `":null}`, `segment.preempted program:default:SPORT {"` + id(b.slot+4) + `":null}`,
	}
	got, facts := b.waiting(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("waiting (-want +got):\n%s", diff)
	}
	if f := facts[0]; f.MarketID != "1" || !f.At.Equal(b.now) || f.Type != program.SegmentPreempted {
		t.Errorf("%+v", f)
	}
	slices.SortFunc(facts, func(a, b outbox.Fact) int { return strings.Compare(a.ID, b.ID) })
	if n := len(slices.CompactFunc(facts, func(a, b outbox.Fact) bool { return a.ID == b.ID })); n != 4 {
		t.Errorf("%d ids", n)
	}
	if list := b.list(t); len(list) != 2 || list[0].Market != "1" || list[1].Market != "1" || list[1].Title != "Will 1?" {
		t.Errorf("rundown %+v", list)
	}
	for _, k := range []program.Slot{b.slot + 2, b.slot + 4} {
		_, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1", StartsAt: k.Start(), Slots: 2})
		if !errors.Is(err, program.ErrSlotTaken) {
			t.Errorf("slots from %d: %v", k, err)
		}
	}
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "2", StartsAt: (b.slot + 3).Start()}); err != nil {
		t.Errorf("another lane: %v", err)
	}
	b.apply(t, 1, put("sports", b.slot+4, "7", "1")) // as if the planner refilled the slot of the entry
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1", StartsAt: (b.slot + 4).Start()}); err != nil {
		t.Errorf("a slot that the planner refilled: %v", err)
	}

	// The entry is cancelled before its first slot starts, so that slot is cleared.
	b.now = (b.slot + 3).Start().Add(-time.Minute)
	if c, err := d.Cancel(t.Context(), p.ID); err != nil || c.Status(b.now) != "cancelled" || c.Reason != "flood" || c.Market != "1" || c.Slots != 2 {
		t.Errorf("cancel: %+v, %v", c, err)
	}
	if list := b.list(t); len(list) != 2 || list[1].Lane != "sports" || list[1].Slot != b.slot+4 {
		t.Errorf("rundown %+v", list)
	}
	if _, err := d.Cancel(t.Context(), "0199f0b0-0000-7000-8000-00000000ffff"); !errors.Is(err, program.ErrNoPreempt) {
		t.Errorf("an unknown entry: %v", err)
	}
	list, err := d.List(t.Context())
	if err != nil || len(list) != 3 || list[0].Slot != b.slot+4 {
		t.Errorf("entries %+v, %v", list, err)
	}
	b.now = (b.slot + 30).Start()
	if c, err := d.Cancel(t.Context(), list[0].ID); err != nil || c.Status(b.now) != "done" {
		t.Errorf("cancel of an entry that is over: %+v, %v", c, err)
	}
}

// TestConcurrentPreempts checks that if 20 directors request overlapping slots at the same time, exactly one request succeeds.
func TestConcurrentPreempts(t *testing.T) {
	b := setup(t)
	d := b.director()
	var wg sync.WaitGroup
	var mu sync.Mutex
	results := map[string]int{} // number of requests by error text
	for i := range 20 {
		wg.Go(func() {
			_, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1", StartsAt: (b.slot + 3 + program.Slot(i%2)).Start(), Slots: 2})
			mu.Lock()
			defer mu.Unlock()
			results[fmt.Sprint(err)]++
		})
	}
	wg.Wait()
	if results["<nil>"] != 1 || results[program.ErrSlotTaken.Error()] != 19 {
		t.Errorf("results %v; want 1 success and 19 of ErrSlotTaken", results)
	}
	if got, _ := b.waiting(t); len(got) != 4 {
		t.Errorf("waiting: %v", got)
	}
}
