package program

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// refreshEvery is the minimum time between two publications of a channel copy if only figures have changed, such as prices
	// and counts.
	refreshEvery = time.Minute
	// maxMarketWait is the maximum time for which a new Publisher waits for the markets of the ledger. After that, it publishes
	// the stored channel from the rundown alone.
	maxMarketWait = 30 * time.Second
)

// Types of the facts that the clock service publishes.
const (
	SegmentStarted   = "segment.started"
	SegmentPreempted = "segment.preempted"
	// ChannelCopy is not the type of an event. It is the type of the copy of a channel that a new subscriber receives first.
	ChannelCopy = "copy"
)

// Start is the published start of a content segment on a channel of the feed.
type Start struct {
	Channel string
	Slot    Slot
	Lane    Lane
	Market  protocol.MarketID
	Data    []byte // the segment as it was published
}

// Copy is the current state of a channel of the feed. A new subscriber receives it before the events of the channel.
type Copy struct {
	Channel string
	Data    []byte
}

// Publication contains the airings, starts and copies that Store.Publish stores and publishes in one transaction.
type Publication struct {
	Airings []Airing
	Starts  []Start // starts of segments; the store ignores a second start of a channel in the same slot
	Copies  []Copy
	Now     time.Time
}

// Published contains the numbers of airings and starts of a Publication that were not stored before.
type Published struct{ Aired, Started int }

// Encoder encodes segments as JSON objects. Each object is on one line.
type Encoder struct {
	Segment func(*Segment) []byte
	// Preempted encodes the segment s that an entry of a director added. before is the replaced entry of the slot, or nil if the
	// slot was empty. preempt is the id of the entry.
	Preempted func(s *Segment, before *Entry, preempt string) []byte
}

// Publisher publishes the starts of segments and the copies of channels. Only the leader may use a Publisher, and a replica
// creates a new one when it becomes the leader. Only one goroutine may call Publish.
type Publisher struct {
	programs *Service
	store    Store
	encoder  Encoder
	now      func() time.Time
	channels []Channel
	since    time.Time // when the Publisher was created

	slot   Slot
	starts map[string]Start        // published starts of the slot, by channel; nil: not loaded
	states map[string]channelState // last published copies, by channel
	logged map[string]bool         // ids of airings that are stored
}

// channelState describes the last published copy of a channel.
type channelState struct {
	key  string // changes if the published start or the result of segmentKey for a segment changes
	body []byte // JSON of the copy without the members that change only because time passes
	at   time.Time
}

// NewPublisher returns a Publisher. The first call of Publish loads the starts that are already published.
func NewPublisher(programs *Service, store Store, encoder Encoder, now func() time.Time) *Publisher {
	return &Publisher{
		programs: programs, store: store, encoder: encoder, now: now, channels: Channels(), since: now(),
		states: make(map[string]channelState),
	}
}

// Publish publishes the start of each content segment that airs now and whose start is not yet published. Segments that started
// and ended since the last call are not published. Publish also stores airings and publishes changed copies of channels, all in
// one transaction.
func (pub *Publisher) Publish(ctx context.Context, airings []Airing) (Published, error) {
	now := pub.now()
	if slot := SlotAt(now); pub.starts == nil || pub.slot != slot {
		if err := pub.loadStarts(ctx, slot); err != nil {
			return Published{}, err
		}
	}
	t := Publication{Airings: pub.unlogged(airings), Now: now}
	changed := make(map[string]channelState)
	for i := range pub.channels {
		c := &pub.channels[i]
		p := pub.programs.build(pub.programs.preset(c.Preset), now)
		if !pub.publishable(p, now) {
			continue
		}
		start, starts := pub.starts[c.Name], false
		if start.Slot == 0 {
			if start, starts = pub.start(c, p, now); starts {
				t.Starts = append(t.Starts, start)
			}
		}
		state, data := pub.state(c, p, start, now)
		if last, ok := pub.states[c.Name]; ok && last.key == state.key &&
			(bytes.Equal(last.body, state.body) || now.Sub(last.at) < refreshEvery) {
			continue
		}
		changed[c.Name] = state
		t.Copies = append(t.Copies, Copy{Channel: c.Name, Data: data})
	}
	if len(t.Airings)+len(t.Starts)+len(t.Copies) == 0 {
		return Published{}, nil
	}
	published, err := pub.store.Publish(ctx, t)
	if err != nil {
		return published, fmt.Errorf("publish: %w", err)
	}
	pub.record(t, changed, published.Started == len(t.Starts))
	return published, nil
}

// loadStarts loads the published starts of a slot from the store.
func (pub *Publisher) loadStarts(ctx context.Context, slot Slot) error {
	list, err := pub.store.ListStarts(ctx, slot)
	if err != nil {
		return fmt.Errorf("list starts: %w", err)
	}
	pub.slot, pub.starts = slot, make(map[string]Start, len(list))
	for _, s := range list {
		pub.starts[s.Channel] = s
	}
	return nil
}

// record updates the state of the Publisher after a publication. complete is false if another replica published a start first. In
// this case record discards the state, and the next call of Publish loads the starts again.
func (pub *Publisher) record(t Publication, changed map[string]channelState, complete bool) {
	for name, state := range changed {
		pub.states[name] = state
	}
	for _, a := range t.Airings {
		pub.logged[a.SegmentID] = true
	}
	for _, s := range t.Starts {
		pub.starts[s.Channel] = s
	}
	if !complete {
		pub.starts, pub.states = nil, make(map[string]channelState)
	}
}

// unlogged returns the airings in started that this Publisher has not stored yet. It also removes the IDs of all other airings
// from pub.logged.
func (pub *Publisher) unlogged(started []Airing) []Airing {
	logged := make(map[string]bool, len(started))
	var out []Airing
	for _, a := range started {
		if pub.logged[a.SegmentID] {
			logged[a.SegmentID] = true
		} else {
			out = append(out, a)
		}
	}
	pub.logged = logged
	return out
}

// publishable reports whether a programme is complete enough to be published. A computed channel requires the cached markets. The
// stored channel requires the rundown, and waits at most maxMarketWait for the markets, which provide prices and counts.
func (pub *Publisher) publishable(p *Program, now time.Time) bool {
	if p.Spec != "" {
		return p.Degraded == ""
	}
	return p.Degraded != SourceDatabase && (pub.programs.copies.Markets.Load() != nil || now.Sub(pub.since) >= maxMarketWait)
}

// start returns the Start of the content segment that airs on a channel now. It returns false if no content airs.
func (pub *Publisher) start(c *Channel, p *Program, now time.Time) (Start, bool) {
	s := p.Now(c.Lanes, now)
	if s == nil || s.Kind != Content {
		return Start{}, false
	}
	return Start{Channel: c.Name, Slot: s.Slot, Lane: s.Lane, Market: s.Market, Data: pub.encoder.Segment(s)}, true
}

// state returns the channelState and the JSON of a channel. The JSON contains the segment whose start was published, and the next
// content segment of the same lane. Before the content starts, the first segment is the bumper.
func (pub *Publisher) state(c *Channel, p *Program, start Start, now time.Time) (channelState, []byte) {
	lanes := c.Lanes
	if start.Slot != 0 {
		lanes = []Lane{start.Lane}
	}
	on, next := p.Now(lanes, now), p.Next(lanes, now)
	var published []byte
	if start.Slot != 0 && (on == nil || on.Market != start.Market) {
		on, published = nil, start.Data // the channel now computes another market, but subscribers have received the published one
	}
	key := fmt.Sprintf("%s|%s|%s", segmentKey(on), published, segmentKey(next))
	write := func(s *Segment, timeless bool) []byte {
		switch {
		case s == nil:
			return []byte("null")
		case timeless:
			c := *s
			c.EndsIn = 0
			return pub.encoder.Segment(&c)
		}
		return pub.encoder.Segment(s)
	}
	compose := func(timeless bool) []byte {
		b := append([]byte(`{"now":`), published...)
		if published == nil {
			b = append(b, write(on, timeless)...)
		}
		b = append(append(b, `,"next":`...), write(next, timeless)...)
		if !timeless {
			b = append(append(append(b, `,"generatedAt":"`...), protocol.Stamp(p.GeneratedAt)...), '"')
		}
		return append(b, '}')
	}
	return channelState{key: key, body: compose(true), at: now}, compose(false)
}

// segmentKey returns a text that changes if the ID, market, status, number of streams or title of the segment changes. It returns
// "" for nil.
func segmentKey(s *Segment) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s %d %q", s.ID, s.Market, s.Status, s.Streams, s.Title)
}
