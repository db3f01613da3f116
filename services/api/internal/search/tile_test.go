package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

func TestAttention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		volume                  float64
		move                    int
		signals, viewers, takes int64
		want                    int
	}{
		{412_000, 1100, 9, 37, 3, 56}, // the vector of the protocol
		{412_000, -1100, 9, 37, 3, 56},
		{0, 0, 0, 0, 0, 0},
		{-5, 0, 0, 0, 0, 0},
		{1e12, 10_000, 1 << 40, 1 << 40, 1 << 40, 100},
	} {
		if got := search.Attention(c.volume, c.move, c.signals, c.viewers, c.takes); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestTilesAreOrdered(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	tile := func(id string, volume float64, before int, signals int64, hours int) search.Tile {
		end := noon.Add(time.Duration(hours) * time.Hour)
		return search.Tile{
			MarketID: syntax.MarketID(id), EndDate: &end, Yes: ptr(syntax.Bps(5000)), PricedAt: noon.Add(-10 * time.Minute),
			Volume24h: volume, Total24h: volume, Signals: signals, Before: ptr(syntax.Bps(before)),
		}
	}
	old := tile("5", 1000, 0, 0, 1)
	old.PricedAt = noon.Add(-10*time.Minute - time.Second)
	store := &shelf{tiles: []search.Tile{tile("1", 1000, 5000, 0, 5), tile("2", 1000, 4000, 0, 4), tile("3", 10, 5000, 30, 3), tile("4", 2000, 5000, 0, 2), old}}
	for i := range 60 {
		store.tiles = append(store.tiles, tile(fmt.Sprint(100+i), 1, 5000, 0, 20))
	}
	s := search.NewService(store, func() time.Time { return noon })
	order := func(soon bool) string {
		list, err := s.Tiles(t.Context(), syntax.Polymarket, soon)
		if err != nil || len(list) != search.MostTiles {
			t.Fatal(len(list), err)
		}
		var ids []string
		for i := range list {
			if ids = append(ids, string(list[i].MarketID)); list[i].MarketID == "5" && (list[i].Yes != nil || list[i].Move != nil) {
				t.Error("an old price is shown")
			}
			if list[i].MarketID == "2" && (list[i].Move == nil || *list[i].Move != 1000) {
				t.Errorf("move %v", list[i].Move)
			}
		}
		return strings.Join(ids[:6], " ")
	}
	if got := order(false); got != "2 3 4 1 5 100" {
		t.Errorf("by attention %s", got)
	}
	if got := order(true); got != "5 4 3 2 1 100" {
		t.Errorf("by end %s", got)
	}
}

func TestTileNames(t *testing.T) {
	t.Parallel()
	full := search.Tile{MarketID: "7", EventKey: "flood", EventTitle: "River levels", Slug: "gauge", Title: "Will it?"}
	bare := search.Tile{MarketID: "7", Title: "Will it?"}
	for _, c := range []struct {
		tile   search.Tile
		single bool
		want   string
	}{{full, false, "flood River levels"}, {full, true, "gauge Will it?"}, {bare, false, "7 Will it?"}, {bare, true, "7 Will it?"}} {
		if got := c.tile.ID(c.single) + " " + c.tile.Label(c.single); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
