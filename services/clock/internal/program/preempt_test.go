package program

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// queue is what a director has written.
type queue struct {
	preempts []Preempt
	entry    Entry
	facts    []Fact
	before   []Entry
	fail     error
}

func (q *queue) AddPreempt(_ context.Context, _ string, p Preempt, e Entry, tell func([]Entry) []Fact) error {
	if q.fail == nil {
		q.preempts, q.entry, q.facts = append(q.preempts, p), e, tell(q.before)
	}
	return q.fail
}

func (q *queue) CancelPreempt(context.Context, string, Slot, time.Time) (Preempt, error) {
	return Preempt{}, q.fail
}

func (q *queue) ListPreempts(context.Context, int) ([]Preempt, error) { return q.preempts, q.fail }

// ledger has markets that the copy lacks until it is made anew.
type ledger struct {
	*desk
	added []Market
	err   error
}

// Refresh implements Renewed.
func (l *ledger) Refresh(context.Context) error {
	if l.err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pool = NewPool(append(slices.Clone(l.pool.Markets), l.added...), l.now, l.pool.Version+1)
	}
	return l.err
}

// TestDirectorAsksTheLedger: a market that is younger than the copy can be put on the
// air, and nothing is said of one while the ledger is away.
func TestDirectorAsksTheLedger(t *testing.T) {
	t.Parallel()
	d, _ := onDefault()
	d.pool = NewPool([]Market{market("1", in("film"))}, d.now, 1)
	l := &ledger{desk: d, added: []Market{market("2", in("film"))}, err: ErrNoProgram}
	director := NewDirector(&queue{}, l, DefaultLanes(), words, d.Service.now, func() string { return "p" }, func() {})
	if _, err := director.Preempt(t.Context(), PreemptDraft{Market: "2"}); !errors.Is(err, ErrNoProgram) {
		t.Errorf("with the ledger away: %v", err)
	}
	l.err = nil
	if p, err := director.Preempt(t.Context(), PreemptDraft{Market: "2"}); err != nil || p.Lane != "film" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := director.Preempt(t.Context(), PreemptDraft{Market: "3"}); !errors.Is(err, ErrNotAirable) {
		t.Errorf("nobody knows it: %v", err)
	}
}

func TestDirector(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	d.pool = NewPool([]Market{market("1", in("film")), market("7", in("news")), market("8", in("crypto"), ends(20*time.Minute))}, d.now, 1)
	q := &queue{before: []Entry{entry("film", k+2, "9")}}
	woken := 0
	director := NewDirector(q, &ledger{desk: d}, DefaultLanes(), words, d.Service.now, func() string { return "p" }, func() { woken++ })
	far := (k + 100).Start()
	for _, c := range []struct {
		name  string
		draft PreemptDraft
		first Slot
		lane  Lane
		err   error
	}{
		{"the next slot", PreemptDraft{Market: "1"}, k + 1, "film", nil},
		{"two of them", PreemptDraft{Market: "1", Slots: 2}, k + 1, "film", nil},
		{"at a boundary", PreemptDraft{Market: "7", Lane: "sports", StartsAt: far}, k + 100, "sports", nil},
		{"behind a boundary", PreemptDraft{Market: "7", Lane: "SPORT", StartsAt: far.Add(time.Millisecond)}, k + 101, "sports", nil},
		{"in the past", PreemptDraft{Market: "1", StartsAt: noon.Add(-time.Hour)}, k + 1, "film", nil},
		{"too far", PreemptDraft{Market: "1", StartsAt: d.now.Add(preemptAhead + 1)}, 0, "", ErrStartsAt},
		{"too long", PreemptDraft{Market: "1", Slots: 7}, 0, "", ErrSlots},
		{"too many words", PreemptDraft{Market: "1", Reason: strings.Repeat("ä", 181)}, 0, "", ErrReason},
		{"nobody knows it", PreemptDraft{Market: "5"}, 0, "", ErrNotAirable},
		{"it ends before", PreemptDraft{Market: "8", Slots: 2}, 0, "", ErrNotAirable},
		{"no lane of the channel", PreemptDraft{Market: "7"}, 0, "", ErrLane},
		{"two lanes", PreemptDraft{Market: "7", Lane: "ENTERTAINMENT"}, 0, "", ErrLane},
		{"no lane at all", PreemptDraft{Market: "1", Lane: "x"}, 0, "", ErrLane},
	} {
		woken = 0
		p, err := director.Preempt(t.Context(), c.draft)
		if !errors.Is(err, c.err) || c.err == nil && (p.Slot != c.first || p.Lane != c.lane || woken != 1) {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
	if _, err := director.Preempt(t.Context(), PreemptDraft{Market: "1", Slots: 2, Reason: "news"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`default:film:2933989:c 1 was "" by p`, `default:film:2933989:c 1 was "" by p`,
		`default:film:2933990:c 1 was "9" by p`, `default:film:2933990:c 1 was "9" by p`,
	}
	for i, f := range q.facts {
		channel := [...]string{"program:default", "program:default:ENTERTAINMENT"}[i%2]
		if f.Type != SegmentPreempted || f.Channel != channel || string(f.Data) != want[i] || f.Market != "1" || !f.At.Equal(d.now) {
			t.Errorf("%+v %s", f, f.Data)
		}
	}
	if len(q.facts) != len(want) || q.entry.Title == "" || q.entry.End == 0 {
		t.Errorf("%d facts, %+v", len(q.facts), q.entry)
	}

	// Two seconds before a slot, it is the one after; without fresh markets, none.
	d.set(func() { d.now = (k + 1).Start().Add(-time.Second) })
	d.pool = d.pool.Confirmed(d.now)
	if p, err := director.Preempt(t.Context(), PreemptDraft{Market: "1"}); err != nil || p.Slot != k+2 {
		t.Errorf("a second before: %+v, %v", p, err)
	}
	d.set(func() { d.now = d.now.Add(planFresh + time.Second) })
	if _, err := director.Preempt(t.Context(), PreemptDraft{Market: "1"}); fault.Of(err).Code != "signal_service_unavailable" {
		t.Errorf("without markets: %v", err)
	}
}

func TestPreemptStatus(t *testing.T) {
	t.Parallel()
	p := Preempt{Slot: 100, Slots: 2, Market: syntax.MarketID("1")}
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
