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
	// MostTiles is the largest number of tiles in a heatmap.
	MostTiles = 40
	// spareTiles is the number of event tiles that one reading computes. It is greater than MostTiles, because pinned
	// markets replace some tiles and other markets end before the next reading.
	spareTiles = 2 * MostTiles
	// soonFor is the longest time until the end of a market in the heatmap of markets that end soon.
	soonFor = 24 * time.Hour
	// soonSpare is added to soonFor when tiles are computed, because a result is used until the next reading.
	soonSpare = movement.LiveFor
)

// Tile is one field of the heatmap. It represents a market, or an event by one of its markets.
type Tile struct {
	*Fact
	Markets   int     // number of open markets of the event
	Total24h  float64 // volume of all open markets of the event in 24 hours, USD
	Attention int
	Yes       *protocol.Bps // nil if no price may be shown
	Move      *int          // price change in the last 24 hours, bps; nil if unknown
}

// Key returns the slug of the event. If single is true, or if the market has no event, it returns the slug of the market. If
// that slug is empty, it returns the market id.
func (t *Tile) Key(single bool) string {
	if !single && t.EventKey != "" {
		return t.EventKey
	}
	return cmp.Or(t.Slug, string(t.ID))
}

// Label returns the title of the event. If single is true, or if the event title is empty, it returns the title of the market.
func (t *Tile) Label(single bool) string {
	if single {
		return t.Title
	}
	return cmp.Or(t.EventTitle, t.Title)
}

// show returns the tile as it is served at the time now. It omits a price that is too old.
func (t *Tile) show(now time.Time) Tile {
	out := *t
	out.Yes = t.Price(now)
	if move, known := t.Delta(protocol.Window24h, now); known {
		out.Move = &move
	}
	return out
}

// heatmap contains the tiles from which Service.Tiles selects a heatmap. pins contains a tile for every market that can be
// shown.
type heatmap struct {
	tiles []Tile // of events, the greatest attention score first
	soon  []Tile // of markets that end soon, earliest end first
	pins  map[protocol.MarketID]Tile
}

// isShown reports whether a heatmap may show the market at the time now: a market of the primary venue that accepts calls,
// has a price and has not ended.
func (f *Fact) isShown(now time.Time) bool {
	return f.Provider == protocol.Polymarket && f.Callable && !f.PricedAt.IsZero() && (f.EndDate == nil || f.EndDate.After(now))
}

// tileKey returns a key that is equal for all markets of one tile: the event key, or for a market without an event, its id.
func (f *Fact) tileKey() string { return cmp.Or(f.EventKey, "\x00"+string(f.ID)) }

func volume24h(f *Fact) float64 {
	if f.Volume24h == nil {
		return 0
	}
	return *f.Volume24h
}

// newHeatmap returns a heatmap with tiles of the events with the greatest scores, of the markets that end soon, and of all
// markets that can be pinned. It includes only markets that a heatmap may show at the time now.
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
		if !r.isShown(now) {
			continue
		}
		e := events[r.tileKey()]
		if e == nil {
			e = &event{lead: r}
			events[r.tileKey()] = e
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
		if !r.isShown(now) {
			continue
		}
		e := events[r.tileKey()]
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

// leads reports whether a, and not b, represents the event of these two markets. A market with a known volume precedes one
// without. Then the greater volume precedes, then the smaller id.
func leads(a, b *Fact) bool {
	if (a.Volume24h == nil) != (b.Volume24h == nil) {
		return a.Volume24h != nil
	}
	return cmp.Or(cmp.Compare(volume24h(b), volume24h(a)), strings.Compare(string(a.ID), string(b.ID))) < 0
}

// take returns the heatmap at the time now, at most MostTiles tiles. The pinned markets come first, then the events by score.
// Each event has only one tile.
func (h *heatmap) take(pinned []protocol.MarketID, now time.Time) []Tile {
	out := make([]Tile, 0, MostTiles)
	taken := make(map[string]bool, MostTiles)
	add := func(t *Tile) {
		if len(out) < MostTiles && !taken[t.tileKey()] && t.isShown(now) {
			taken[t.tileKey()] = true
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

// takeSoon returns the tiles of the markets that end within soonFor after now, earliest end first, at most MostTiles.
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
