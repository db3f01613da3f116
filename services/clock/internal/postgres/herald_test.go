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

var words = program.Words{
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

// channels is a default channel with three lanes, and what was published on its channels.
type channels struct {
	*bundle
	slot    program.Slot // its bumper airs at the beginning
	markets []program.Market
	desk    *program.Service
	starts  []string          // channel and market of the starts that the last tell published
	copies  map[string]string // by channel
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
	c.desk = program.NewService(&b.copies, program.DefaultLanes(), now)
	c.at(t, c.slot.Start().Add(5*time.Second))
	return c
}

// at sets the time and renews the copies.
func (c *channels) at(t *testing.T, at time.Time) {
	t.Helper()
	c.now = at
	c.bundle.copies.Markets.Store(program.NewPool(slices.Clone(c.markets), at, uint64(at.UnixNano())))
	keeper := program.NewKeeper(c.Store, &c.bundle.copies, program.DefaultLanes(), func() time.Time { return at })
	if err := keeper.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *channels) herald() *program.Herald {
	return program.NewHerald(c.desk, c.Store, words, func() time.Time { return c.now })
}

// tell runs a herald once and reads what it published from the outbox. It returns the number of facts and copies.
func (c *channels) tell(t *testing.T, h *program.Herald, started int) int {
	t.Helper()
	told, err := h.Tell(t.Context(), nil)
	if err != nil || told.Started != started {
		t.Fatalf("told %+v, %v, want %d", told, err, started)
	}
	_, facts := c.waiting(t)
	var places []int64
	c.starts = nil
	for _, f := range facts {
		places = append(places, f.Place)
		if f.Type == program.ChannelCopy {
			c.copies[f.Topic] = f.Data
		} else {
			c.starts = append(c.starts, f.Topic+" "+f.MarketID)
		}
	}
	if err := c.Sent(t.Context(), places); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.starts)
	return len(facts)
}

// A start is published once on each channel, when the content begins, and the copy of the channel contains it.
func TestHeraldTells(t *testing.T) {
	c := newChannels(t)
	h := c.herald()
	c.tell(t, h, 0) // a bumper is in the copy and is no start
	id := func(kind string) string { return fmt.Sprintf(`{"id":"default:crypto:%d:%s"`, c.slot, kind) }
	if got := c.copies["program:default:CRYPTO"]; !strings.Contains(got, `"now":`+id("b")) ||
		!strings.Contains(got, `"next":`+id("c")) || !strings.Contains(got, `"generatedAt":"`) {
		t.Errorf("in the bumper crypto begins with %s", got)
	}
	if len(c.copies) != 44 || c.copies["program:hot:TECH"] != `{"now":null,"next":null,"generatedAt":"`+protocol.Stamp(c.now)+`"}` {
		t.Errorf("%d copies, hot tech %s", len(c.copies), c.copies["program:hot:TECH"])
	}
	c.at(t, c.slot.Content())
	c.tell(t, h, 6)
	want := []string{"program:default 1", "program:default:CRYPTO 3", "program:default:ENTERTAINMENT 1"}
	got := slices.DeleteFunc(slices.Clone(c.starts), func(s string) bool { return !strings.HasPrefix(s, "program:default") })
	if !slices.Equal(got, want) {
		t.Errorf("published %v, want %v", got, want)
	}
	c.tell(t, h, 0)
	c.tell(t, c.herald(), 0) // another term, or another replica
	starts, err := c.ListStarts(t.Context(), c.slot)
	i := slices.IndexFunc(starts, func(s program.Start) bool { return s.Channel == "program:default:CRYPTO" })
	if err != nil || i < 0 || !strings.Contains(string(starts[i].Data), id("c")[1:]) {
		t.Errorf("starts %+v, %v", starts, err)
	}

	// What ranks highest becomes another lane: the channel remains with what it published.
	c.markets[1].Streams = 1
	c.at(t, c.now.Add(time.Minute))
	c.tell(t, h, 0)
	if s := c.desk.Now("", ""); s.Segment.Market != "2" {
		t.Fatalf("%s is on", s.Segment.Market)
	}
	if got := c.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("after the start of market 1 the channel begins with %s", got)
	}
	c.at(t, (c.slot + 1).Content())
	c.tell(t, h, 6)
	if !slices.Contains(c.starts, "program:default 2") {
		t.Errorf("published %v", c.starts)
	}
}

// A start that was missed is published while its segment airs.
func TestHeraldIsLate(t *testing.T) {
	c := newChannels(t)
	c.at(t, (c.slot + 1).End().Add(-time.Minute))
	c.tell(t, c.herald(), 6)
	if list, err := c.ListStarts(t.Context(), c.slot); err != nil || len(list) != 0 {
		t.Errorf("starts of the slot before: %+v, %v", list, err)
	}
}

// Without the markets nothing is published on computed channels. The stored channel waits for them half a minute.
func TestHeraldWithoutMarkets(t *testing.T) {
	c := newChannels(t)
	h := c.herald()
	c.bundle.copies.Markets.Store(nil)
	c.now = c.slot.Content()
	if n := c.tell(t, h, 0); n != 0 {
		t.Errorf("%d copies without markets", n)
	}
	c.now = c.now.Add(30 * time.Second)
	c.tell(t, h, 3)
	c.markets = c.markets[:1]
	c.at(t, c.now)
	c.tell(t, h, 2) // hot and its lane; the other channels require more than this market has
}

// Figures are shown again once a minute, another state at once. A failed step is repeated.
func TestHeraldCopies(t *testing.T) {
	c := newChannels(t)
	h := c.herald()
	c.at(t, c.slot.Content())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Tell(ended, nil); err == nil {
		t.Fatal("a step without the database succeeded")
	}
	c.tell(t, h, 6)
	price := func(yes protocol.Bps, after time.Duration) int {
		c.markets[2].Yes = yes
		c.at(t, c.now.Add(after))
		return c.tell(t, h, 0)
	}
	crypto := func() string { return c.copies["program:default:CRYPTO"] }
	price(3500, time.Second)
	if !strings.Contains(crypto(), `"yes":3150`) {
		t.Errorf("a second later %s", crypto())
	}
	price(3500, time.Minute)
	if !strings.Contains(crypto(), `"yes":3500`) {
		t.Errorf("a minute later %s", crypto())
	}
	c.markets[2].Status = protocol.MarketResolved
	price(3600, time.Second)
	if !strings.Contains(crypto(), `"yes":3600`) {
		t.Errorf("resolved %s", crypto())
	}
	if n := price(3600, time.Second); n != 0 {
		t.Errorf("nothing changed and %d copies were written", n)
	}
}

// Of two heralds that tell at once the first start is stored, and the other continues from it.
func TestHeraldsMeet(t *testing.T) {
	c := newChannels(t)
	one, other := c.herald(), c.herald()
	c.tell(t, one, 0)
	c.tell(t, other, 0)
	c.at(t, c.slot.Content())
	c.tell(t, one, 6)
	c.markets[1].Streams = 1
	c.at(t, c.now)
	c.tell(t, other, 0)
	c.tell(t, other, 0)
	if got := c.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("the other says %s", got)
	}
}
