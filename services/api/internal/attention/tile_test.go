package attention_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

func tiles(t *testing.T, o *attention.Service, soon bool, pinned ...protocol.MarketID) string {
	t.Helper()
	rows, at, err := o.Tiles(t.Context(), soon, pinned)
	return list(t, rows, at, err, func(tile *attention.Tile) string { return string(tile.ID) })
}

func TestTilesAreOrdered(t *testing.T) {
	t.Parallel()
	facts := []attention.Fact{
		fact("1", 1000, ends(5*time.Hour)), fact("2", 1000, from(4000), ends(4*time.Hour)), fact("3", 10, ends(3*time.Hour), func(f *attention.Fact) { f.Signals24h = 30 }),
		fact("4", 2000, ends(2*time.Hour)),
		fact("5", 1000, from(100), ends(time.Hour), func(f *attention.Fact) { f.PricedAt = noon.Add(-10*time.Minute - time.Second) }),
	}
	for i := range 60 {
		facts = append(facts, fact(fmt.Sprint(100+i), 1, ends(20*time.Hour)))
	}
	o, _, _ := setup(t, facts...)
	for soon, want := range map[bool]string{false: "2 3 4 1 5 100", true: "5 4 3 2 1 100"} {
		if got := tiles(t, o, soon); got[:len(want)] != want {
			t.Errorf("soon %v: %s", soon, got)
		}
		rows, _, _ := o.Tiles(t.Context(), soon, nil)
		if len(rows) != attention.MostTiles {
			t.Errorf("soon %v: %d tiles", soon, len(rows))
		}
		for _, tile := range rows {
			switch {
			case tile.ID == "5" && (tile.Yes != nil || tile.Move != nil):
				t.Error("an old price is shown")
			case tile.ID == "2" && (tile.Yes == nil || *tile.Yes != 5000 || tile.Move == nil || *tile.Move != 1000):
				t.Errorf("%v moved %v", tile.Yes, tile.Move)
			}
		}
	}
}

// TestTileLead checks that each event has one tile, which shows the market with the greatest volume among those that accept
// calls. Markets of other venues have no tile.
func TestTileLead(t *testing.T) {
	t.Parallel()
	off := func(f *attention.Fact) { f.Callable = false }
	o, _, _ := setup(t,
		fact("1", 100, inEvent("flood")), fact("2", 900, inEvent("flood")), fact("3", 900, inEvent("flood")), fact("4", 5000, inEvent("flood"), off),
		fact("5", 5000, inEvent("flood"), ends(0)), fact("6", 7, inEvent("flood"), func(f *attention.Fact) { f.Volume24h = nil }),
		fact("7", 5000, func(f *attention.Fact) { f.Yes, f.PricedAt = nil, time.Time{} }), fact("8", 1, func(f *attention.Fact) { f.EndDate = nil }),
		fact("kalshi-x", 9000, inEvent("flood"), func(f *attention.Fact) { f.Provider = protocol.Kalshi }),
		fact("native-a", 9000, func(f *attention.Fact) { f.Provider = protocol.Manual }))
	rows, at, err := o.Tiles(t.Context(), false, nil)
	show := func(tile *attention.Tile) string {
		return fmt.Sprintf("%s:%s:%s:%d:%.0f", tile.ID, tile.Key(false), tile.Label(false), tile.Markets, tile.Total24h)
	}
	if got, want := list(t, rows, at, err, show), "2:flood:Event flood:4:1900 8:8:Market 8:1:1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTileNames(t *testing.T) {
	t.Parallel()
	full := attention.Fact{Slug: "gauge"}
	full.ID, full.EventKey, full.EventTitle, full.Title = "7", "flood", "River levels", "Will it?"
	bare := attention.Fact{}
	bare.ID, bare.Title = "7", "Will it?"
	for _, c := range []struct {
		fact   *attention.Fact
		single bool
		want   string
	}{{&full, false, "flood River levels"}, {&full, true, "gauge Will it?"}, {&bare, false, "7 Will it?"}, {&bare, true, "7 Will it?"}} {
		tile := attention.Tile{Fact: c.fact}
		if got := tile.Key(c.single) + " " + tile.Label(c.single); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestPins checks that pinned markets come first in the given order, once for each event, and are not repeated. Pinned
// markets that are not open or not of the primary venue are omitted.
func TestPins(t *testing.T) {
	t.Parallel()
	facts := []attention.Fact{
		fact("1", 9000, inEvent("flood")), fact("2", 10, inEvent("flood")), fact("3", 8000), fact("4", 1), fact("5", 2, ends(time.Minute)),
		fact("native-a", 1, func(f *attention.Fact) { f.Provider = protocol.Manual }),
	}
	o, _, clock := setup(t, facts...)
	for _, c := range []struct {
		pinned []protocol.MarketID
		want   string
	}{
		{nil, "1 3 5 4"},
		{[]protocol.MarketID{"4", "3"}, "4 3 1 5"},
		{[]protocol.MarketID{"2"}, "2 3 5 4"},
		{[]protocol.MarketID{"2", "1", "2"}, "2 3 5 4"},
		{[]protocol.MarketID{"99", "native-a", "", "4"}, "4 1 3 5"},
	} {
		if got := tiles(t, o, false, c.pinned...); got != c.want {
			t.Errorf("%v: %s, want %s", c.pinned, got, c.want)
		}
	}
	if got := tiles(t, o, true, "4"); got != "5" {
		t.Errorf("markets that end soon, with a pin: %s", got)
	}
	if rows, _, _ := o.Tiles(t.Context(), false, []protocol.MarketID{"2"}); rows[0].Key(false) != "flood" || rows[0].Markets != 2 || rows[0].Total24h != 9010 {
		t.Errorf("the tile of a pin: %+v", rows[0])
	}
	clock.Advance(time.Minute)
	if got := tiles(t, o, false, "5") + "|" + tiles(t, o, true); got != "1 3 4|" {
		t.Errorf("after the end of market 5: %s", got)
	}
	many := make([]attention.Fact, 90)
	ids := make([]protocol.MarketID, 0, 45)
	for i := range many {
		many[i] = fact(fmt.Sprint(1000+i), float64(1000-i))
		if i%2 == 0 {
			ids = append(ids, many[i].ID)
		}
	}
	o, _, _ = setup(t, many...)
	rows, _, _ := o.Tiles(t.Context(), false, ids)
	if len(rows) != 40 || rows[39].ID != "1078" {
		t.Errorf("%d tiles with too many pins", len(rows))
	}
	if rows, _, _ = o.Tiles(t.Context(), false, ids[:39]); len(rows) != 40 || rows[39].ID != "1001" {
		t.Errorf("%d tiles with pins", len(rows))
	}
}

// TestSoonFollowsTheClock checks that Tiles returns the markets that end within 24 hours of the request, even if they did
// not end within 24 hours of the reading.
func TestSoonFollowsTheClock(t *testing.T) {
	t.Parallel()
	o, _, clock := setup(t, fact("1", 1, ends(24*time.Hour)), fact("2", 1, ends(24*time.Hour+30*time.Second)))
	if got := tiles(t, o, true); got != "1" {
		t.Error(got)
	}
	clock.Advance(30 * time.Second)
	if got := tiles(t, o, true); got != "1 2" {
		t.Error(got)
	}
}
