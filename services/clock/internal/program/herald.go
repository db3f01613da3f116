package program

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// refreshEvery is how long a channel's beginning stands when only figures of
	// what it shows have changed.
	refreshEvery = time.Minute
	// bareAfter is how long the first start waits for the ledger's markets before it
	// is told with what the rundown alone knows.
	bareAfter = 30 * time.Second
)

// The types of what is told.
const (
	SegmentStarted   = "segment.started"
	SegmentPreempted = "segment.preempted"
	// ChannelCopy is no event: what a channel begins with.
	ChannelCopy = "copy"
)

// Start is a content segment that went on the air on a channel.
type Start struct {
	Channel string
	Slot    Slot
	Lane    Lane
	Market  protocol.MarketID
	Data    []byte // the segment as it was told
}

// Copy is what a channel begins with for whoever comes.
type Copy struct {
	Channel string
	Data    []byte
}

// Telling is what becomes true and known in one step.
type Telling struct {
	Airings []Airing
	Starts  []Start // a channel has one in a slot: of two the first stands
	Copies  []Copy
	Now     time.Time
}

// Told is what of a Telling was new.
type Told struct{ Aired, Started int }

// Words writes what readers are shown: JSON objects on one line.
type Words struct {
	Segment func(*Segment) []byte
	// Preempted is the segment as it stands now, what stood there before (nil:
	// nothing) and the entry that changed it.
	Preempted func(s *Segment, before *Entry, preempt string) []byte
}

// Herald tells what began on the channels of the programme. One runs at a time over
// all replicas; it is made anew for each term. One goroutine calls it.
type Herald struct {
	desk     *Service
	store    Store
	words    Words
	now      func() time.Time
	channels []Channel
	since    time.Time

	slot   Slot
	held   map[string]Start // of slot, by channel; nil: not read
	shown  map[string]picture
	logged map[string]bool // airings that are stored
}

// picture is what a channel begins with.
type picture struct {
	key  string // differs when something else is on, or it stands otherwise
	body []byte // without what the passing of time changes
	at   time.Time
}

// NewHerald makes a Herald that knows nothing of what was told.
func NewHerald(desk *Service, store Store, words Words, now func() time.Time) *Herald {
	return &Herald{
		desk: desk, store: store, words: words, now: now, channels: Channels(), since: now(), shown: make(map[string]picture),
	}
}

// Tell tells what has begun since it was told last: the content segments that run on
// each channel, at their true time, also when nobody was there to see the start. What
// began and ended in between is left out. Airings are logged in the same step.
func (h *Herald) Tell(ctx context.Context, airings []Airing) (Told, error) {
	now := h.now()
	if slot := SlotAt(now); h.held == nil || h.slot != slot {
		if err := h.turn(ctx, slot); err != nil {
			return Told{}, err
		}
	}
	t := Telling{Airings: h.fresh(airings), Now: now}
	shown := make(map[string]picture)
	for i := range h.channels {
		c := &h.channels[i]
		p := h.desk.build(h.desk.preset(c.Preset), now)
		if !h.knows(p, now) {
			continue
		}
		start, starts := h.held[c.Name], false
		if start.Slot == 0 {
			if start, starts = h.start(c, p, now); starts {
				t.Starts = append(t.Starts, start)
			}
		}
		one, data := h.picture(c, p, start, now)
		if last, was := h.shown[c.Name]; was && last.key == one.key &&
			(bytes.Equal(last.body, one.body) || now.Sub(last.at) < refreshEvery) {
			continue
		}
		shown[c.Name] = one
		t.Copies = append(t.Copies, Copy{Channel: c.Name, Data: data})
	}
	if len(t.Airings)+len(t.Starts)+len(t.Copies) == 0 {
		return Told{}, nil
	}
	told, err := h.store.Tell(ctx, t)
	if err != nil {
		return told, fmt.Errorf("tell: %w", err)
	}
	h.keep(t, shown, told.Started == len(t.Starts))
	return told, nil
}

// turn goes on to a slot.
func (h *Herald) turn(ctx context.Context, slot Slot) error {
	list, err := h.store.ListStarts(ctx, slot)
	if err != nil {
		return fmt.Errorf("list starts: %w", err)
	}
	h.slot, h.held = slot, make(map[string]Start, len(list))
	for _, s := range list {
		h.held[s.Channel] = s
	}
	return nil
}

// keep notes what was told. A start that somebody else told first is read again.
func (h *Herald) keep(t Telling, shown map[string]picture, whole bool) {
	for name, p := range shown {
		h.shown[name] = p
	}
	for _, a := range t.Airings {
		h.logged[a.SegmentID] = true
	}
	for _, s := range t.Starts {
		h.held[s.Channel] = s
	}
	if !whole {
		h.held, h.shown = nil, make(map[string]picture)
	}
}

// fresh keeps the airings that this Herald has not stored, and forgets the others
// that it no longer hears of.
func (h *Herald) fresh(started []Airing) []Airing {
	logged := make(map[string]bool, len(started))
	var out []Airing
	for _, a := range started {
		if h.logged[a.SegmentID] {
			logged[a.SegmentID] = true
		} else {
			out = append(out, a)
		}
	}
	h.logged = logged
	return out
}

// knows tells whether a programme may be spoken of. What a computed channel would air
// is not known without the markets; what is stored is, but for its figures, which are
// waited for a little.
func (h *Herald) knows(p *Program, now time.Time) bool {
	if p.Spec != "" {
		return p.Degraded == ""
	}
	return p.Degraded != SourceDatabase && (h.desk.copies.Markets.Load() != nil || now.Sub(h.since) >= bareAfter)
}

// start finds what began on a channel in the running slot.
func (h *Herald) start(c *Channel, p *Program, now time.Time) (Start, bool) {
	s := p.Now(c.Lanes, now)
	if s == nil || s.Kind != Content {
		return Start{}, false
	}
	return Start{Channel: c.Name, Slot: s.Slot, Lane: s.Lane, Market: s.Market, Data: h.words.Segment(s)}, true
}

// picture is what a channel begins with: what was told to be on, as it stands, and
// what comes next in its lane. Before the content, the bumper is on.
func (h *Herald) picture(c *Channel, p *Program, start Start, now time.Time) (picture, []byte) {
	lanes := c.Lanes
	if start.Slot != 0 {
		lanes = []Lane{start.Lane}
	}
	on, next := p.Now(lanes, now), p.Next(lanes, now)
	var told []byte
	if start.Slot != 0 && (on == nil || on.Market != start.Market) {
		on, told = nil, start.Data // a computed channel has moved on, its readers have not
	}
	key := fmt.Sprintf("%s|%s|%s", standing(on), told, standing(next))
	write := func(s *Segment, timeless bool) []byte {
		switch {
		case s == nil:
			return []byte("null")
		case timeless:
			c := *s
			c.EndsIn = 0
			return h.words.Segment(&c)
		}
		return h.words.Segment(s)
	}
	compose := func(timeless bool) []byte {
		b := append([]byte(`{"now":`), told...)
		if told == nil {
			b = append(b, write(on, timeless)...)
		}
		b = append(append(b, `,"next":`...), write(next, timeless)...)
		if !timeless {
			b = append(append(append(b, `,"generatedAt":"`...), protocol.Stamp(p.GeneratedAt)...), '"')
		}
		return append(b, '}')
	}
	return picture{key: key, body: compose(true), at: now}, compose(false)
}

// standing differs when a segment is another one or stands otherwise.
func standing(s *Segment) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s %d %q", s.ID, s.Market, s.Status, s.Streams, s.Title)
}
