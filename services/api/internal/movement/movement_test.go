package movement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// market returns a market with the live price to, and with the price from at the start of every window, both in bps.
func market(id string, from, to int, volume float64) *movement.Market {
	m := &movement.Market{
		ID: protocol.MarketID(id), Provider: protocol.Polymarket, Title: "Will " + id + " hold?", Outcome: "Yes", Lane: protocol.LaneScience,
		Yes: ptr(protocol.Bps(to)), PricedAt: noon, Volume: &volume,
	}
	for i := range m.From {
		m.From[i] = ptr(protocol.Bps(from))
	}
	return m
}

func ids(moves []movement.Move) string {
	var out []string
	for _, m := range moves {
		out = append(out, fmt.Sprintf("%s%+d", m.Market.ID, m.Delta()))
	}
	return strings.Join(out, " ")
}

func TestMoves(t *testing.T) {
	t.Parallel()
	change := func(do func(*movement.Market)) *movement.Market {
		m := market("1", 3600, 3150, 182_000)
		do(m)
		return m
	}
	for name, c := range map[string]struct {
		m    *movement.Market
		want string
	}{
		"all prices known":                       {change(func(*movement.Market) {}), "1-450"},
		"least volume":                           {change(func(m *movement.Market) { m.Volume = ptr(1000.0) }), "1-450"},
		"below the least volume":                 {change(func(m *movement.Market) { m.Volume = ptr(999.99) }), ""},
		"volume not in USD":                      {change(func(m *movement.Market) { m.Volume = nil }), ""},
		"least change":                           {change(func(m *movement.Market) { m.Yes = ptr(protocol.Bps(3700)) }), "1+100"},
		"below the least change, up":             {change(func(m *movement.Market) { m.Yes = ptr(protocol.Bps(3699)) }), ""},
		"below the least change, down":           {change(func(m *movement.Market) { m.Yes = ptr(protocol.Bps(3501)) }), ""},
		"oldest live price":                      {change(func(m *movement.Market) { m.PricedAt = noon.Add(-10 * time.Minute) }), "1-450"},
		"price too old":                          {change(func(m *movement.Market) { m.PricedAt = noon.Add(-10*time.Minute - 1) }), ""},
		"no price now":                           {change(func(m *movement.Market) { m.Yes = nil }), ""},
		"no price at the start":                  {change(func(m *movement.Market) { m.From[3] = nil }), ""},
		"no price at the start of other windows": {change(func(m *movement.Market) { m.From[0], m.From[1], m.From[2] = nil, nil, nil }), "1-450"},
		"from 0 to 10000 bps":                    {change(func(m *movement.Market) { m.From[3], m.Yes = ptr(protocol.Bps(0)), ptr(protocol.Bps(10_000)) }), "1+10000"},
	} {
		if got := ids(movement.Moves([]*movement.Market{c.m}, protocol.Window24h, noon)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	windows := market("1", 0, 5000, 5000)
	for i := range windows.From {
		windows.From[i] = ptr(protocol.Bps(1000 * (i + 1)))
	}
	for i, w := range protocol.Windows {
		moves := movement.Moves([]*movement.Market{windows}, w, noon)
		if len(moves) != 1 || moves[0].From != protocol.Bps(1000*(i+1)) || moves[0].To != 5000 {
			t.Errorf("moves in window %s: %+v", w, moves)
		}
	}
}

// TestOrderOfMoves checks that moves are sorted by descending change, then by descending volume, then by id.
func TestOrderOfMoves(t *testing.T) {
	t.Parallel()
	list := []*movement.Market{
		market("4", 5000, 5200, 9e9), market("9", 5000, 4700, 2000), market("2", 5000, 5300, 2000), market("3", 5000, 4700, 3000), market("1", 5000, 5500, 1000),
	}
	const want = "1+500 3-300 2+300 9-300 4+200"
	for range 2 {
		if got := ids(movement.Moves(list, protocol.Window24h, noon)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		slices.Reverse(list)
	}
}

// TestScore checks the score of a situation against the test vectors of the protocol.
func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peak    int
		volume  float64
		markets int
		want    string
	}{
		{-1400, 1_830_000, 4, "19 Elevated"},
		{2100, 90_000, 1, "19 Critical"},
		{500, 5_000_000, 12, "15 Routine"},
		{10_000, 1e12, 12, "100 Critical"},
		{-10_000, 0, 1, "60 Critical"},
		{2000, 0, 1, "12 Critical"},
		{-1999, 0, 1, "12 Elevated"},
		{800, 0, 1, "5 Elevated"},
		{799, 0, 1, "5 Routine"},
		{100, 1e7, 5, "9 Routine"},
		{100, 1e7, 6, "11 Routine"},
		{100, 1e7, 7, "11 Routine"},
	} {
		if got := fmt.Sprint(movement.Score(c.peak, c.volume, c.markets), " ", movement.CriticalityOf(c.peak)); got != c.want {
			t.Errorf("case %+v: %s", c, got)
		}
	}
}

func TestSituations(t *testing.T) {
	t.Parallel()
	event := func(m *movement.Market, key string) *movement.Market {
		m.EventKey, m.EventTitle = key, "River levels"
		return m
	}
	var list []*movement.Market
	for i := range 14 { // one event with more markets than a situation contains
		list = append(list, event(market(fmt.Sprint(100+i), 5000, 5200+10*i, 1000), "flood"))
	}
	lead := event(market("7", 5000, 4000, 5000), "flood")
	lead.Lane = protocol.LaneTech
	elsewhere := event(market("kalshi-x", 5000, 5400, 2000), "flood") // another provider's event with the same name
	elsewhere.Provider = protocol.Kalshi
	bare, other := market("8", 5000, 7900, 1000), market("9", 5000, 2100, 1000)
	list = append(list, lead, elsewhere, bare, other)
	got := movement.Situations(movement.Moves(list, protocol.Window24h, noon))
	if len(got) != 4 {
		t.Fatalf("%d situations", len(got))
	}
	var lines []string
	for i := range got {
		s := &got[i]
		lines = append(lines, fmt.Sprintf("%d %s %s %d %d %.0f %s %s", s.Score, s.Key(), s.Headline(), s.Count, len(s.Moves), s.Volume, s.Criticality(), s.Lead().Lane))
	}
	want := []string{
		"22 polymarket:market:8 Will 8 hold? rises 29 points 1 1 1000 Critical SCIENCE",
		"22 polymarket:market:9 Will 9 hold? falls 29 points 1 1 1000 Critical SCIENCE",
		"18 polymarket:event:flood River levels falls 10 points 15 12 19000 Elevated TECH",
		"3 kalshi:event:flood River levels rises 4 points 1 1 2000 Routine SCIENCE",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if m := got[2].Moves; m[0].Market.ID != "7" || m[1].Market.ID != "113" || m[11].Market.ID != "103" {
		t.Errorf("markets of the situation: %s", ids(m))
	}
	for points, want := range map[int]string{149: "1", 150: "2", 100: "1"} {
		s := movement.Situations(movement.Moves([]*movement.Market{market("1", 5000, 5000-points, 1000)}, protocol.Window1h, noon))
		if got := s[0].Headline(); got != "Will 1 hold? falls "+want+" points" {
			t.Errorf("%d bps: %s", points, got)
		}
	}
	if got := movement.Situations(nil); len(got) != 0 {
		t.Errorf("situations without moves: %v", got)
	}
}

// TestOrderOfSituations checks that situations with equal scores are sorted by descending change, then by descending volume.
func TestOrderOfSituations(t *testing.T) {
	t.Parallel()
	list := []*movement.Market{market("1", 5000, 5610, 1000), market("2", 5000, 5620, 1000), market("3", 5000, 5610, 1001), market("4", 5000, 4390, 1000)}
	var got []string
	for _, s := range movement.Situations(movement.Moves(list, protocol.Window24h, noon)) {
		got = append(got, fmt.Sprintf("%s:%d", s.Lead().ID, s.Score))
	}
	if want := "2:5 3:5 1:5 4:5"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestInLane(t *testing.T) {
	t.Parallel()
	list := []protocol.Lane{protocol.LaneTech, protocol.LaneSport, protocol.LaneTech, protocol.LaneOther}
	self := func(l *protocol.Lane) protocol.Lane { return *l }
	for _, c := range []struct {
		lane        protocol.Lane
		limit, want int
	}{{"", 9, 4}, {"", 3, 3}, {"", 0, 0}, {"", -1, 0}, {protocol.LaneTech, 9, 2}, {protocol.LaneTech, 1, 1}, {protocol.LaneMusic, 9, 0}} {
		if got := movement.InLane(list, c.lane, self, c.limit); len(got) != c.want {
			t.Errorf("case %+v: %v", c, got)
		}
	}
}
