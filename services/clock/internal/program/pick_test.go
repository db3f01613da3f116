package program

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// market returns an airable market of the lane science, changed by the functions in change.
func market(id string, change ...func(*Market)) Market {
	m := Market{
		ID: protocol.MarketID(id), Provider: protocol.MarketID(id).Provider(), Title: "Will " + id + " happen?", Lane: "science",
		End: noon.Add(48 * time.Hour).UnixMilli(), Yes: 3150, Volume: 182000, DayVolume: 9100, Status: protocol.MarketOpen,
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func ends(in time.Duration) func(*Market) {
	return func(m *Market) { m.End = noon.Add(in).UnixMilli() }
}

func volume(v float64) func(*Market) { return func(m *Market) { m.Volume, m.DayVolume = v, v } }

func yes(b protocol.Bps) func(*Market) { return func(m *Market) { m.Yes = b } }

func in(l Lane) func(*Market) { return func(m *Market) { m.Lane = l } }

func poolOf(markets ...Market) *Pool { return NewPool(markets, noon, 1) }

func query(t *testing.T, preset Preset, spec string, providers ...string) *Query {
	t.Helper()
	s, err := ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	q := NewQuery(preset, s, providers, DefaultLanes())
	return &q
}

func TestPickOrders(t *testing.T) {
	t.Parallel()
	const all = `{"categories":["science"]}`
	pool := poolOf(
		market("1", ends(5*time.Hour), volume(20000), yes(5200)),
		market("2", ends(4*time.Hour), volume(90000), yes(9000)),
		market("3", ends(72*time.Hour), volume(50000), yes(4800), func(m *Market) { m.Streams = 1 }),
		market("4", ends(60*time.Hour), volume(60000), yes(5000), func(m *Market) { m.Takes = 2 }),
		market("kalshi-5", ends(3*time.Hour), volume(Unknown), yes(5100)),
		market("6", ends(2*time.Hour), volume(500), yes(5000)),
		market("7", ends(9*time.Minute), volume(90000), yes(5000)),
		market("8", func(m *Market) { m.Yes = NoPrice }),
		market("9", func(m *Market) { m.Status = protocol.MarketClosed }),
		market("10", func(m *Market) { m.Provisional = true }),
		market("11", in("")),
		market("12", func(m *Market) { m.End = 0 }),
	)
	for _, c := range []struct {
		preset Preset
		spec   string
		prov   []string
		want   []protocol.MarketID
	}{
		{Default, all, nil, []protocol.MarketID{"3", "4", "2", "1"}},
		{Hot, `{}`, nil, []protocol.MarketID{"2", "4", "3", "1"}},
		{Hot, `{"minVolume":0}`, nil, []protocol.MarketID{"2", "4", "3", "1", "6", "kalshi-5"}},
		{Resolving, `{}`, nil, []protocol.MarketID{"6", "kalshi-5", "2", "1"}},
		{Close, `{}`, nil, []protocol.MarketID{"4", "3", "1"}},
		{Close, `{"minVolume":0}`, nil, []protocol.MarketID{"4", "6", "kalshi-5", "3", "1"}},
		{Resolving, `{"topPerCategory":2}`, nil, []protocol.MarketID{"6", "kalshi-5"}},
		{Resolving, `{"maxVolume":600}`, nil, []protocol.MarketID{"6", "kalshi-5"}},
		{Resolving, `{}`, []string{"kalshi", "unknown"}, []protocol.MarketID{"kalshi-5"}},
		{Resolving, `{}`, []string{"unknown"}, []protocol.MarketID{"6", "kalshi-5", "2", "1"}},
		{Resolving, `{"maxResolveHours":3}`, nil, []protocol.MarketID{"6", "kalshi-5"}},
		{Default, ``, nil, nil},
	} {
		got := query(t, c.preset, c.spec, c.prov...).Pick(pool, noon).Lane("science")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s %v (-want +got):\n%s", c.preset, c.spec, c.prov, diff)
		}
	}
}

func drawPool(t *rapid.T) *Pool {
	n := rapid.IntRange(0, 60).Draw(t, "markets")
	markets := make([]Market, n)
	for i := range markets {
		markets[i] = market(fmt.Sprint(i+1),
			in(rapid.SampledFrom([]Lane{"sports", "crypto", "music", ""}).Draw(t, "lane")),
			ends(time.Duration(rapid.IntRange(1, 900).Draw(t, "end"))*time.Minute),
			volume(rapid.SampledFrom([]float64{Unknown, 0, 900, 1000, 5000, 20000}).Draw(t, "volume")),
			yes(protocol.Bps(rapid.IntRange(-1, 10000).Draw(t, "yes"))),
			func(m *Market) {
				m.Streams = int32(rapid.IntRange(0, 1).Draw(t, "streams"))
				m.Takes = int64(rapid.IntRange(0, 1).Draw(t, "takes"))
			})
	}
	return poolOf(markets...)
}

// TestPickEqualsSort checks that Pick returns the same markets as sorting all matching markets.
func TestPickEqualsSort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		q := NewQuery(rapid.SampledFrom(Presets[:]).Draw(t, "preset"), drawSpec(t), nil, DefaultLanes())
		picks := q.Pick(pool, noon)
		limits := q.limits(noon.UnixMilli())
		for _, lane := range Lanes() {
			var all []*Market
			for i := range pool.Markets {
				if m := &pool.Markets[i]; m.Lane == lane && limits.admits(m) && m.Airable(noon) {
					all = append(all, m)
				}
			}
			slices.SortFunc(all, q.Preset.compare)
			var want []protocol.MarketID
			for _, m := range all[:min(len(all), q.Spec.top)] {
				want = append(want, m.ID)
			}
			if diff := cmp.Diff(want, picks.Lane(lane)); diff != "" {
				t.Fatalf("lane %s (-want +got):\n%s", lane, diff)
			}
		}
	})
}
