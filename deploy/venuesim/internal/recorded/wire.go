package recorded

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Wire is what was loaded of a venue whose markets are known by a text. It
// never changes once it is finished.
type Wire struct {
	markets []world.Market // index = number - 1; those of one event stand together
	keys    map[string]int64

	order  []string // events in the order of their coming
	events map[string]world.Event
	groups map[string][]world.Market
	seen   map[string]bool
}

func newWire() *Wire {
	return &Wire{keys: map[string]int64{}, events: map[string]world.Event{}, groups: map[string][]world.Market{}, seen: map[string]bool{}}
}

// add takes a market of an event; the first one with a key wins. What is told
// of the event with it counts where nothing better was told before.
func (w *Wire) add(m world.Market, e world.Event) {
	if w.seen[m.Key] {
		return
	}
	w.seen[m.Key] = true
	if _, known := w.groups[e.Slug]; !known {
		w.order = append(w.order, e.Slug)
	}
	if _, known := w.events[e.Slug]; !known {
		w.events[e.Slug] = e
	}
	m.Outcomes = []string{"Yes", "No"}
	w.groups[e.Slug] = append(w.groups[e.Slug], m)
}

// finish numbers the markets; nil when there are none.
func (w *Wire) finish() *Wire {
	for _, slug := range w.order {
		e, list := w.events[slug], w.groups[slug]
		e.Head, e.Children = int64(len(w.markets))+1, len(list)
		w.keys["event "+slug] = e.Head
		if _, known := w.keys["series "+e.ID]; !known && e.ID != "" {
			w.keys["series "+e.ID] = e.Head
		}
		for i, m := range list {
			m.ID, m.Event, m.GroupIndex = int64(len(w.markets))+1, e, i
			w.keys[m.Key] = m.ID
			w.markets = append(w.markets, m)
		}
	}
	if len(w.markets) == 0 {
		return nil
	}
	return w
}

// Get implements world.Source.
func (w *Wire) Get(id int64, _ time.Time) (world.Market, bool) {
	if id < 1 || id > int64(len(w.markets)) {
		return world.Market{}, false
	}
	return w.markets[id-1], true
}

// Range implements world.Source.
func (w *Wire) Range(_ time.Time, yield func(world.Market) bool) {
	for _, m := range w.markets {
		if !yield(m) {
			return
		}
	}
}

// Lookup implements world.Source: keys of markets, and with a word before them
// those of events and series, for the first market of each.
func (w *Wire) Lookup(key string) (int64, bool) {
	id, ok := w.keys[key]
	return id, ok
}

// millis reads a time in milliseconds; zero for none, and for one that no
// calendar holds.
func millis(n json.Number) time.Time {
	ms, err := strconv.ParseFloat(string(n), 64)
	if err != nil || ms <= 0 || ms > 253_402_300_799_000 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

func amount(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0
	}
	return f
}
