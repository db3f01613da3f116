package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// encoder encodes segments as short JSON objects.
var encoder = program.Encoder{
	Segment: func(s *program.Segment) []byte {
		b, err := json.Marshal(map[string]any{"id": s.ID, "market": s.Market, "yes": s.Yes, "in": s.EndsIn.Milliseconds()})
		if err != nil {
			panic(err)
		}
		return b
	},
	Preempted: func(s *program.Segment, before *program.Entry, _ string) []byte {
		if before == nil {
			return fmt.Appendf(nil, `{"%s":null}`, s.ID)
		}
		return fmt.Appendf(nil, `{"%s":"%s"}`, s.ID, before.Market)
	},
}

// channels is a fixture: a default channel with three lanes, and the facts that its Publisher has published.
type channels struct {
	*bundle
	slot    program.Slot // slot whose bumper airs when a test starts
	markets []program.Market
	service *program.Service
	starts  []string          // channel and market of each start that the last call of publish published
	copies  map[string]string // newest published copies by channel
}

func newChannels(t *testing.T) *channels {
	t.Helper()
	b := setup(t)
	c := &channels{bundle: b, slot: b.slot + 3, copies: map[string]string{}}
	now := func() time.Time { return b.now }
	for i, lane := range []program.Lane{"film", "tv", "crypto"} {
		m := market(i+1, lane, b.now)
		m.Volume, m.DayVolume = 182000, 9100
		c.markets = append(c.markets, m)
		for k := c.slot; k < c.slot+2; k++ {
			e := program.Entry{Lane: lane, Slot: k, Market: m.ID, Title: m.Title, End: m.End}
			b.apply(t, 1, program.Change{Entry: e})
		}
	}
	c.service = program.NewService(&b.copies, program.DefaultLanes(), now)
	c.at(t, c.slot.Start().Add(5*time.Second))
	return c
}

// at sets the time and reloads the markets and the rundown.
func (c *channels) at(t *testing.T, at time.Time) {
	t.Helper()
	c.now = at
	c.bundle.copies.Markets.Store(program.NewPool(slices.Clone(c.markets), at, uint64(at.UnixNano())))
	planner := program.NewPlanner(c.Store, &c.bundle.copies, program.DefaultLanes(), func() time.Time { return at })
	if err := planner.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *channels) publisher() *program.Publisher {
	return program.NewPublisher(c.service, c.Store, encoder, func() time.Time { return c.now })
}

// publish calls Publish once and requires that it publishes the number of starts in started. It then empties the outbox. It
// returns the number of entries that the outbox contained.
func (c *channels) publish(t *testing.T, h *program.Publisher, started int) int {
	t.Helper()
	published, err := h.Publish(t.Context(), nil)
	if err != nil || published.Started != started {
		t.Fatalf("published %+v, %v; want %d starts", published, err, started)
	}
	_, facts := c.waiting(t)
	var rowIDs []int64
	c.starts = nil
	for _, f := range facts {
		rowIDs = append(rowIDs, f.RowID)
		if f.Type == program.ChannelCopy {
			c.copies[f.Topic] = f.Data
		} else {
			c.starts = append(c.starts, f.Topic+" "+f.MarketID)
		}
	}
	if err := c.Sent(t.Context(), rowIDs); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.starts)
	return len(facts)
}

// TestPublisherPublishesStarts checks that a start is published once on each channel, when the content starts, and that the copy
// of the channel contains it.
func TestPublisherPublishesStarts(t *testing.T) {
	c := newChannels(t)
	h := c.publisher()
	c.publish(t, h, 0) // during the bumper, the copy contains the bumper and no start is published
	id := func(kind string) string { return fmt.Sprintf(`{"id":"default:crypto:%d:%s"`, c.slot, kind) }
	if got := c.copies["program:default:CRYPTO"]; !strings.Contains(got, `"now":`+id("b")) ||
		!strings.Contains(got, `"next":`+id("c")) || !strings.Contains(got, `"generatedAt":"`) {
		t.Errorf("copy of crypto during the bumper: %s", got)
	}
	if len(c.copies) != 44 || c.copies["program:hot:TECH"] != `{"now":null,"next":null,"generatedAt":"`+protocol.Stamp(c.now)+`"}` {
		t.Errorf("%d copies, hot tech %s", len(c.copies), c.copies["program:hot:TECH"])
	}
	c.at(t, c.slot.Content())
	c.publish(t, h, 6)
	want := []string{"program:default 1", "program:default:CRYPTO 3", "program:default:ENTERTAINMENT 1"}
	got := slices.DeleteFunc(slices.Clone(c.starts), func(s string) bool { return !strings.HasPrefix(s, "program:default") })
	if !slices.Equal(got, want) {
		t.Errorf("published %v, want %v", got, want)
	}
	c.publish(t, h, 0)
	c.publish(t, c.publisher(), 0) // a new leader
	starts, err := c.ListStarts(t.Context(), c.slot)
	i := slices.IndexFunc(starts, func(s program.Start) bool { return s.Channel == "program:default:CRYPTO" })
	if err != nil || i < 0 || !strings.Contains(string(starts[i].Data), id("c")[1:]) {
		t.Errorf("starts %+v, %v", starts, err)
	}

	// Another lane now has the highest priority, but the channel keeps the published segment.
	c.markets[1].Streams = 1
	c.at(t, c.now.Add(time.Minute))
	c.publish(t, h, 0)
	if s := c.service.Now("", ""); s.Segment.Market != "2" {
		t.Fatalf("market %s airs; want 2", s.Segment.Market)
	}
	if got := c.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("copy after the start of market 1: %s", got)
	}
	c.at(t, (c.slot + 1).Content())
	c.publish(t, h, 6)
	if !slices.Contains(c.starts, "program:default 2") {
		t.Errorf("published %v", c.starts)
	}
}

// TestPublisherPublishesLateStart checks that a missed start is still published while its segment airs.
func TestPublisherPublishesLateStart(t *testing.T) {
	c := newChannels(t)
	c.at(t, (c.slot + 1).End().Add(-time.Minute))
	c.publish(t, c.publisher(), 6)
	if list, err := c.ListStarts(t.Context(), c.slot); err != nil || len(list) != 0 {
		t.Errorf("starts of the slot before: %+v, %v", list, err)
	}
}

// TestPublisherWithoutMarkets checks that without the markets, nothing is published on computed channels. The stored channel
// waits 30 seconds for the markets.
func TestPublisherWithoutMarkets(t *testing.T) {
	c := newChannels(t)
	h := c.publisher()
	c.bundle.copies.Markets.Store(nil)
	c.now = c.slot.Content()
	if n := c.publish(t, h, 0); n != 0 {
		t.Errorf("%d facts and copies without markets; want 0", n)
	}
	c.now = c.now.Add(30 * time.Second)
	c.publish(t, h, 3)
	c.markets = c.markets[:1]
	c.at(t, c.now)
	c.publish(t, h, 2) // only on the channel of hot and its lane; the market matches no other preset
}

// TestPublisherCopies checks that a copy that differs only in figures is published after one minute, and a copy with another
// state at once. A failed publication is repeated.
func TestPublisherCopies(t *testing.T) {
	c := newChannels(t)
	h := c.publisher()
	c.at(t, c.slot.Content())
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Publish(cancelled, nil); err == nil {
		t.Fatal("a publication without the database succeeded")
	}
	c.publish(t, h, 6)
	price := func(yes protocol.Bps, after time.Duration) int {
		c.markets[2].Yes = yes
		c.at(t, c.now.Add(after))
		return c.publish(t, h, 0)
	}
	crypto := func() string { return c.copies["program:default:CRYPTO"] }
	price(3500, time.Second)
	if !strings.Contains(crypto(), `"yes":3150`) {
		t.Errorf("copy after one second: %s; want the old price", crypto())
	}
	price(3500, time.Minute)
	if !strings.Contains(crypto(), `"yes":3500`) {
		t.Errorf("copy after one minute: %s; want the new price", crypto())
	}
	c.markets[2].Status = protocol.MarketResolved
	price(3600, time.Second)
	if !strings.Contains(crypto(), `"yes":3600`) {
		t.Errorf("copy after the resolution: %s; want the new price", crypto())
	}
	if n := price(3600, time.Second); n != 0 {
		t.Errorf("%d copies without a change; want 0", n)
	}
}

// TestConcurrentPublishers checks two publishers that run at the same time. The first start is stored, and the other publisher
// continues with that start.
func TestConcurrentPublishers(t *testing.T) {
	c := newChannels(t)
	one, other := c.publisher(), c.publisher()
	c.publish(t, one, 0)
	c.publish(t, other, 0)
	c.at(t, c.slot.Content())
	c.publish(t, one, 6)
	c.markets[1].Streams = 1
	c.at(t, c.now)
	c.publish(t, other, 0)
	c.publish(t, other, 0)
	if got := c.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("copy of the other publisher: %s; want market 1", got)
	}
}
