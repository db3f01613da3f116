package attention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

const (
	// MostTiles is the size of a heatmap.
	MostTiles = 40
	// spareTiles are kept behind the last one, for those that pins take or that end.
	spareTiles = 2 * MostTiles
	// soonFor is how far ahead the markets end that have tiles of their own.
	soonFor = 24 * time.Hour
	// soonSpare is what is kept behind it, for as long as a reading lasts.
	soonSpare = movement.LiveFor
)

// Tile is one field of the heatmap: an event, or one market, and the market
// that stands for it.
type Tile struct {
	*Fact
	Markets   int     // of the event
	Total24h  float64 // volume of all of them, USD
	Attention int
	Yes       *protocol.Bps // nil: no price that may be shown
	Move      *int          // bps in the last day
}

// Key is the slug of what the tile shows.
func (t *Tile) Key(single bool) string {
	if !single && t.EventKey != "" {
		return t.EventKey
	}
	return cmp.Or(t.Slug, string(t.ID))
}

// Label is its name.
func (t *Tile) Label(single bool) string {
	if single {
		return t.Title
	}
	return cmp.Or(t.EventTitle, t.Title)
}

// show is the tile as it reads at now: without a price that has grown old.
func (t *Tile) show(now time.Time) Tile {
	out := *t
	out.Yes = t.Price(now)
	if move, known := t.Delta(protocol.Window24h, now); known {
		out.Move = &move
	}
	return out
}

// heatmap is what tiles are taken from. A pin is looked for among all markets.
type heatmap struct {
	tiles []Tile // of events, by attention
	soon  []Tile // of markets that end within a day, the soonest first
	pins  map[protocol.MarketID]Tile
}

// onTile tells whether a market of the primary venue may be shown at now.
func (f *Fact) onTile(now time.Time) bool {
	return f.Provider == protocol.Polymarket && f.Callable && !f.PricedAt.IsZero() && (f.EndDate == nil || f.EndDate.After(now))
}

// place is what a market's tile is known by.
func (f *Fact) place() string { return cmp.Or(f.EventKey, "\x00"+string(f.ID)) }

func volume24h(f *Fact) float64 {
	if f.Volume24h == nil {
		return 0
	}
	return *f.Volume24h
}

// newHeatmap puts the scored markets of the primary venue together.
func newHeatmap(rows []Row, now time.Time) heatmap {
	h := heatmap{pins: make(map[protocol.MarketID]Tile)}
	type event struct {
		lead    *Row
		markets int
		total   float64
	}
	events := make(map[string]*event)
	for i := range rows {
		r := &rows[i]
		if !r.onTile(now) {
			continue
		}
		e := events[r.place()]
		if e == nil {
			e = &event{lead: r}
			events[r.place()] = e
		}
		e.markets++
		e.total += volume24h(r.Fact)
		if leads(r.Fact, e.lead.Fact) {
			e.lead = r
		}
		if r.EndDate != nil && !r.EndDate.After(now.Add(soonFor+soonSpare)) {
			h.soon = append(h.soon, Tile{Fact: r.Fact, Markets: 1, Total24h: volume24h(r.Fact), Attention: r.Score})
		}
	}
	for i := range rows {
		r := &rows[i]
		if !r.onTile(now) {
			continue
		}
		e := events[r.place()]
		t := Tile{Fact: r.Fact, Markets: e.markets, Total24h: e.total, Attention: r.Score}
		h.pins[r.ID] = t
		if e.lead == r {
			h.tiles = append(h.tiles, t)
		}
	}
	slices.SortFunc(h.tiles, func(a, b Tile) int {
		return cmp.Or(cmp.Compare(b.Attention, a.Attention), cmp.Compare(b.Total24h, a.Total24h), strings.Compare(string(a.ID), string(b.ID)))
	})
	slices.SortFunc(h.soon, func(a, b Tile) int {
		return cmp.Or(a.EndDate.Compare(*b.EndDate), strings.Compare(string(a.ID), string(b.ID)))
	})
	h.tiles = slices.Clip(slices.Clone(h.tiles[:min(len(h.tiles), spareTiles)]))
	return h
}

// leads tells whether a stands for their event rather than b: a volume that is
// known before one that is not, then the larger one.
func leads(a, b *Fact) bool {
	if (a.Volume24h == nil) != (b.Volume24h == nil) {
		return a.Volume24h != nil
	}
	return cmp.Or(cmp.Compare(volume24h(b), volume24h(a)), strings.Compare(string(a.ID), string(b.ID))) < 0
}

// take gives the heatmap at now, with the pinned markets in front of the others.
// Of one event there is one tile.
func (h *heatmap) take(pinned []protocol.MarketID, now time.Time) []Tile {
	out := make([]Tile, 0, MostTiles)
	taken := make(map[string]bool, MostTiles)
	add := func(t *Tile) {
		if len(out) < MostTiles && !taken[t.place()] && t.onTile(now) {
			taken[t.place()] = true
			out = append(out, t.show(now))
		}
	}
	for _, id := range pinned {
		if t, known := h.pins[id]; known {
			add(&t)
		}
	}
	for i := range h.tiles {
		add(&h.tiles[i])
	}
	return out
}

// takeSoon gives the markets that end within a day of now.
func (h *heatmap) takeSoon(now time.Time) []Tile {
	out := make([]Tile, 0, MostTiles)
	for i := range h.soon {
		t := &h.soon[i]
		if len(out) == MostTiles || t.EndDate.After(now.Add(soonFor)) {
			break
		}
		if t.EndDate.After(now) {
			out = append(out, t.show(now))
		}
	}
	return out
}
