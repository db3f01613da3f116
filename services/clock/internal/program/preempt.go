package program

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of what a director may ask for.
const (
	MaxPreemptSlots  = 6
	MaxPreemptReason = 180
	// preemptAhead is how far ahead the first slot may lie.
	preemptAhead = 7 * 24 * time.Hour
	// preemptMargin keeps hands off a slot that starts while it is being written.
	preemptMargin = 2 * time.Second
	// MaxPreempts is how many entries are listed.
	MaxPreempts = 100
)

// Expected failures of a director's acts.
var (
	ErrLane       = apperr.New(apperr.Invalid, "invalid_lane", "lane is not one of the default channel").With("field", "lane")
	ErrStartsAt   = apperr.New(apperr.Invalid, "invalid_starts_at", "startsAt is at most seven days ahead").With("field", "startsAt")
	ErrSlots      = apperr.New(apperr.Invalid, "invalid_slots", "slots is a whole number from 1 to 6").With("field", "slots")
	ErrReason     = apperr.New(apperr.Invalid, "invalid_reason", "reason has at most 180 characters").With("field", "reason")
	ErrNotAirable = apperr.New(apperr.Conflict, "market_not_airable", "the market may not be aired in these slots")
	ErrSlotTaken  = apperr.New(apperr.Conflict, "slot_taken", "another entry has one of these slots")
	ErrNoPreempt  = apperr.New(apperr.NotFound, "not_found", "no such entry")
)

// Preempt is an entry of a director: a market takes slots of a lane of the stored
// channel, whatever the rundown had there.
type Preempt struct {
	ID          string
	Lane        Lane
	Market      protocol.MarketID
	Slot        Slot // the first one
	Slots       int
	Reason      string // empty: none
	CreatedAt   time.Time
	CancelledAt time.Time // zero: it stands
}

// Status of an entry: queued, airing, done or cancelled.
func (p *Preempt) Status(now time.Time) string {
	switch running := SlotAt(now); {
	case !p.CancelledAt.IsZero():
		return "cancelled"
	case running < p.Slot:
		return "queued"
	case running < p.Slot+Slot(p.Slots):
		return "airing"
	}
	return "done"
}

// PreemptDraft is what a director asks for. Members that are zero are chosen.
type PreemptDraft struct {
	Market   protocol.MarketID
	Lane     string    // empty: the market's own
	StartsAt time.Time // rounded up to a slot; zero, or past: the next one
	Slots    int       // zero: 1
	Reason   string
}

// Fact is an event of a programme channel on its way to the feed.
type Fact struct {
	Type    string
	Channel string
	Slot    Slot
	Market  protocol.MarketID
	At      time.Time
	Data    []byte
}

// Director changes the default channel by hand.
type Director struct {
	Store   Store
	Copies  *Copies
	Refresh func(context.Context) error // renews the copy of the markets
	Lanes   []Lane                      // of the channel
	Words   Words
	Now     func() time.Time
	NewID   func() string
	Changed func() // called after the rundown has changed
}

// Preempt puts a market on the air. Faults: the ones above, signal_service_unavailable
// while it is not known what may be aired, db_unavailable.
func (d *Director) Preempt(ctx context.Context, draft PreemptDraft) (Preempt, error) {
	now := d.Now()
	p, err := d.plan(draft, now)
	if err != nil {
		return p, err
	}
	pool := d.Copies.Markets.Load()
	if pool == nil || now.Sub(pool.FetchedAt) > planFresh {
		return p, ErrNoProgram.With("source", SourceLedger)
	}
	m, last := pool.Find(draft.Market), p.Slot+Slot(p.Slots)-1
	if m == nil { // it may be newer than the copy
		if err := d.Refresh(ctx); err != nil {
			return p, err
		}
		m = d.Copies.Markets.Load().Find(draft.Market)
	}
	if m == nil || !m.Airable(now) || !airableAt(m, last) {
		return p, ErrNotAirable.With("marketId", string(draft.Market))
	}
	if p.Lane, err = d.lane(draft.Lane, m); err != nil {
		return p, err
	}
	entry := Entry{Lane: p.Lane, Market: m.ID, Title: m.Title, EventKey: m.EventKey, End: m.End}
	err = d.Store.AddPreempt(ctx, DefaultChannel, p, entry, func(before []Entry) []Fact { return d.tell(&p, m, before, now) })
	if err == nil {
		d.Changed()
	}
	return p, err
}

// plan reads what needs no market.
func (d *Director) plan(draft PreemptDraft, now time.Time) (Preempt, error) {
	p := Preempt{ID: d.NewID(), Market: draft.Market, Slots: max(draft.Slots, 1), Reason: draft.Reason, CreatedAt: now}
	switch {
	case draft.Slots < 0 || draft.Slots > MaxPreemptSlots:
		return p, ErrSlots
	case len([]rune(draft.Reason)) > MaxPreemptReason:
		return p, ErrReason
	case draft.StartsAt.Sub(now) > preemptAhead:
		return p, ErrStartsAt
	}
	from := now.Add(preemptMargin)
	if draft.StartsAt.After(from) {
		from = draft.StartsAt
	}
	if p.Slot = SlotAt(from); p.Slot.Start().Before(from) {
		p.Slot++
	}
	return p, nil
}

// lane is the one that was asked for, or the market's own.
func (d *Director) lane(asked string, m *Market) (Lane, error) {
	list := []Lane{m.Lane}
	if asked != "" {
		list = ParseLanes(asked)
	}
	list = slices.DeleteFunc(list, func(l Lane) bool { return !slices.Contains(d.Lanes, l) })
	if len(list) != 1 {
		return "", ErrLane
	}
	return list[0], nil
}

// tell makes the facts of an entry: each of its slots, on the channel of its lane and
// on that of the preset.
func (d *Director) tell(p *Preempt, m *Market, before []Entry, now time.Time) []Fact {
	var out []Fact
	for k := p.Slot; k < p.Slot+Slot(p.Slots); k++ {
		var old *Entry
		if i := slices.IndexFunc(before, func(e Entry) bool { return e.Slot == k }); i >= 0 {
			old = &before[i]
		}
		s := newSegment(DefaultChannel, p.Lane, k, Content, m, now)
		data := d.Words.Preempted(&s, old, p.ID)
		for _, channel := range [...]string{Default.feed(), p.Lane.feed(Default)} {
			out = append(out, Fact{Type: SegmentPreempted, Channel: channel, Slot: k, Market: m.ID, At: now, Data: data})
		}
	}
	return out
}

// Cancel ends an entry. What is on the air stays on the air; what comes is filled
// anew. One that is over stays as it was. Faults: ErrNoPreempt, db_unavailable.
func (d *Director) Cancel(ctx context.Context, id string) (Preempt, error) {
	now := d.Now()
	p, err := d.Store.CancelPreempt(ctx, id, SlotAt(now), now.Add(preemptMargin))
	if err == nil {
		d.Changed()
	}
	return p, err
}

// List gives the newest entries. Fault: db_unavailable.
func (d *Director) List(ctx context.Context) ([]Preempt, error) {
	return d.Store.ListPreempts(ctx, MaxPreempts)
}
