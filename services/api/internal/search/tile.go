package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

const (
	// MostTiles is the size of a heatmap.
	MostTiles = 40
	// liveFor is how long a price is shown after it was read.
	liveFor = 10 * time.Minute
)

// Tile is one field of the heatmap: an event, or one market, and the market
// that stands for it. Nil members are unknown.
type Tile struct {
	MarketID   syntax.MarketID
	EventKey   string
	EventTitle string
	Slug       string
	Title      string
	Lane       syntax.Lane
	ImageURL   string
	EndDate    *time.Time
	Yes        *syntax.Bps
	PricedAt   time.Time
	Volume24h  float64 // of the market, USD
	Markets    int     // of the event
	Total24h   float64 // of all of them
	Signals    int64   // calls on the market in the last day
	Takes      int64   // takes in the last day
	Before     *syntax.Bps
	Attention  int
	Move       *int // bps in the last day
}

// ID is the slug of what the tile shows.
func (t *Tile) ID(single bool) string {
	if !single && t.EventKey != "" {
		return t.EventKey
	}
	return cmp.Or(t.Slug, string(t.MarketID))
}

// Label is its name.
func (t *Tile) Label(single bool) string {
	if single {
		return t.Title
	}
	return cmp.Or(t.EventTitle, t.Title)
}

// Attention weighs what happens around an open market, 0 to 100: its volume, the
// change of its price and the calls and takes of a day, and who watches it now.
func Attention(volume24h float64, move int, signals, viewers, takes int64) int {
	x := func(v, full float64) float64 { return min(1, v/full) }
	sum := .30*x(math.Log10(1+max(volume24h, 0)), 7) +
		.25*x(math.Abs(float64(move))/10_000, .25) +
		.20*x(math.Log2(1+float64(signals)), 6) +
		.15*x(math.Log10(1+float64(viewers)), 4) +
		.10*x(math.Log2(1+float64(takes)), 5)
	return int(math.Round(100 * sum))
}

// Tiles gives the heatmap of a provider, at most MostTiles: by attention, or with
// soon the markets that end within a day, the soonest first. Nobody's view is
// known to the ledger, so attention goes by the other four facts. Fault:
// db_unavailable.
func (s *Service) Tiles(ctx context.Context, p syntax.Provider, soon bool) ([]Tile, error) {
	now := s.now()
	list, err := s.store.ListTiles(ctx, p, now, soon)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].weigh(now)
	}
	slices.SortFunc(list, func(a, b Tile) int {
		if soon {
			return cmp.Or(a.EndDate.Compare(*b.EndDate), strings.Compare(string(a.MarketID), string(b.MarketID)))
		}
		return cmp.Or(cmp.Compare(b.Attention, a.Attention), cmp.Compare(b.Total24h, a.Total24h), strings.Compare(string(a.MarketID), string(b.MarketID)))
	})
	return list[:min(len(list), MostTiles)], nil
}

func (t *Tile) weigh(now time.Time) {
	if now.Sub(t.PricedAt) > liveFor {
		t.Yes = nil
	}
	move := 0
	if t.Yes != nil && t.Before != nil {
		move = int(*t.Yes - *t.Before)
		t.Move = &move
	}
	t.Attention = Attention(t.Volume24h, move, t.Signals, 0, t.Takes)
}
