package program

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of the entries that directors add.
const (
	MaxPreemptSlots  = 6
	MaxPreemptReason = 180
	// preemptAhead is the maximum time between now and the requested start of an entry.
	preemptAhead = 7 * 24 * time.Hour
	// preemptMargin is the minimum time before the start of a slot at which a director may still change the slot. Without this
	// margin, the slot could start during the write, and the database would reject the write.
	preemptMargin = 2 * time.Second
	// MaxPreempts is the maximum number of entries that List returns.
	MaxPreempts = 100
)

// Errors of Director that the client can correct.
var (
	ErrLane = apperr.New(apperr.Invalid, "invalid_lane", "lane must name one lane of the default channel").
		With("field", "lane")
	ErrStartsAt = apperr.New(apperr.Invalid, "invalid_starts_at", "startsAt must be at most seven days ahead").
			With("field", "startsAt")
	ErrSlots = apperr.New(apperr.Invalid, "invalid_slots", "slots must be an integer from 1 to 6").
			With("field", "slots")
	ErrReason = apperr.New(apperr.Invalid, "invalid_reason", "reason must be at most 180 characters on one line").
			With("field", "reason")
	ErrNotAirable = apperr.New(apperr.Conflict, "market_not_airable",
		"the market cannot air in these slots; it must accept calls, have a price, and end over 10 minutes after each slot starts")
	ErrSlotTaken = apperr.New(apperr.Conflict, "slot_taken",
		"another entry already has one of these slots; choose other slots or cancel that entry")
	ErrNoPreempt = apperr.New(apperr.NotFound, "not_found", "no programme entry has this id")
)

// Preempt is an entry that a director has added. It schedules one market in consecutive slots of one lane of the default
// channel. This market replaces the planned markets of the slots.
type Preempt struct {
	ID          string
	Lane        Lane
	Market      protocol.MarketID
	Slot        Slot // the first slot
	Slots       int
	Reason      string // empty: none
	CreatedAt   time.Time
	CancelledAt time.Time // zero: the entry is not cancelled
}

// Status returns the status of the entry at the time now: queued, airing, done or cancelled.
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

// PreemptDraft is a request of a director to add an entry. Zero values select the defaults.
type PreemptDraft struct {
	Market   protocol.MarketID
	Lane     string    // empty: the lane of the market
	StartsAt time.Time // rounded up to the start of a slot; zero or past: the next slot
	Slots    int       // number of slots; zero: 1
	Reason   string
}

// Fact is an event of a programme channel in the feed.
type Fact struct {
	Type    string
	Channel string
	Slot    Slot
	Market  protocol.MarketID
	At      time.Time
	Data    []byte
}

// Director adds, cancels and lists entries of directors. A director is a person who changes the rundown of the default channel
// manually.
type Director struct {
	Store   Store
	Copies  *Copies
	Refresh func(context.Context) error // refreshes the copy of the markets
	Lanes   []Lane                      // lanes of the default channel
	Encoder Encoder
	Now     func() time.Time
	NewID   func() string
	Changed func() // called after each change of the rundown
}

// Preempt adds an entry of a director and publishes it. Errors: ErrLane, ErrStartsAt, ErrSlots, ErrReason, ErrNotAirable,
// ErrSlotTaken, db_unavailable; signal_service_unavailable if the state of the markets is unknown.
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
	for tries := 0; m == nil && tries < 2; tries++ { // the market may be newer than the copy
		if err := d.Refresh(ctx); err != nil {
			return p, err
		}
		pool = d.Copies.Markets.Load()
		if m = pool.Find(draft.Market); !pool.FetchedAt.Before(now) {
			break // otherwise the refresh had started before this request, and may lack the market too
		}
	}
	if m == nil || !m.Airable(now) || !airableAt(m, last) {
		return p, ErrNotAirable.With("marketId", string(draft.Market))
	}
	if p.Lane, err = d.lane(draft.Lane, m); err != nil {
		return p, err
	}
	entry := Entry{Lane: p.Lane, Market: m.ID, Title: m.Title, EventKey: m.EventKey, End: m.End}
	err = d.Store.AddPreempt(ctx, DefaultChannel, p, entry, func(before []Entry) []Fact { return d.facts(&p, m, before, now) })
	if err == nil {
		d.Changed()
	}
	return p, err
}

// plan validates the draft and returns an entry without a lane. The lane depends on the market, so the caller sets it. Errors:
// ErrSlots, ErrReason, ErrStartsAt.
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

// lane returns the requested programme lane, or the lane of the market if requested is empty. Error: ErrLane unless this is
// exactly one lane of the default channel.
func (d *Director) lane(requested string, m *Market) (Lane, error) {
	list := []Lane{m.Lane}
	if requested != "" {
		list = ParseLanes(requested)
	}
	list = slices.DeleteFunc(list, func(l Lane) bool { return !slices.Contains(d.Lanes, l) })
	if len(list) != 1 {
		return "", ErrLane.WithText("lane must name one lane of the default channel: %s", protocol.LaneNames(d.Lanes))
	}
	return list[0], nil
}

// facts returns the feed events of a new entry. For each slot, there is one event on the channel of the default preset and one
// on the channel of the content lane. The parameter before contains the replaced entries.
func (d *Director) facts(p *Preempt, m *Market, before []Entry, now time.Time) []Fact {
	var out []Fact
	for k := p.Slot; k < p.Slot+Slot(p.Slots); k++ {
		var old *Entry
		if i := slices.IndexFunc(before, func(e Entry) bool { return e.Slot == k }); i >= 0 {
			old = &before[i]
		}
		s := newSegment(DefaultChannel, p.Lane, k, Content, m, now)
		data := d.Encoder.Preempted(&s, old, p.ID)
		for _, channel := range [...]string{Default.feed(), p.Lane.feed(Default)} {
			out = append(out, Fact{Type: SegmentPreempted, Channel: channel, Slot: k, Market: m.ID, At: now, Data: data})
		}
	}
	return out
}

// Cancel cancels an entry of a director and returns it. The slot that airs now does not change; the planner refills the future
// slots. An entry whose slots have all ended is returned unchanged. Errors: ErrNoPreempt, db_unavailable.
func (d *Director) Cancel(ctx context.Context, id string) (Preempt, error) {
	now := d.Now()
	p, err := d.Store.CancelPreempt(ctx, id, SlotAt(now), now.Add(preemptMargin))
	if err == nil {
		d.Changed()
	}
	return p, err
}

// List returns the entries of directors, the latest slot first, at most MaxPreempts. Error: db_unavailable.
func (d *Director) List(ctx context.Context) ([]Preempt, error) {
	return d.Store.ListPreempts(ctx, MaxPreempts)
}
