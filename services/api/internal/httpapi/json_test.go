package httpapi

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// TestQueries checks how each public list parses its query. Queries with the same meaning must have the same cache key.
func TestQueries(t *testing.T) {
	t.Parallel()
	of := func(raw string) string {
		q, err := readFeed(raw)
		return fmt.Sprintf("%v %q %v %q %d %v %d %v", q.Types, q.Lane, q.Providers, q.Handle, q.Limit, q.Forward, q.From, err)
	}
	span := func(raw string) string {
		market, d := readHistory(raw)
		return market + " " + d.String()
	}
	keyOf := func(raw string) string {
		key, ok := feedKey(raw)
		return fmt.Sprint(key, ok)
	}
	const filtered = `[market.status signal.event] "SCIENCE" [kalshi polymarket] "mara_k" 200 false 0 <nil>`
	const one, other = "types=signal.event,market.status,signal.event&lane=science&providers=kalshi,polymarket&handle=Mara_K&limit=9999",
		"limit=9999&types=market.status,signal.event&lane=SCIENCE&handle=mara_k&providers=polymarket,kalshi&x=1"
	for _, c := range []struct{ name, got, want string }{
		{"feed", of(one), filtered},
		{"feed in another order", of(other), filtered},
		{"cache key of the feed", keyOf(one), keyOf(other)},
		{"feed of an unknown lane", of("lane=OTHER"), `[] "" [] "" 50 false 0 <nil>`},
		{"cache key of an invalid query", strconv.FormatBool(strings.HasSuffix(keyOf("after=x"), "false")), "true"},
		{"board", fmt.Sprint(readBoard("operators=all&limit=500&lane=science")), "{all SCIENCE 200 }"},
		{"board without known values", fmt.Sprint(readBoard("operators=robots&lane=moon")), "{human  50 }"},
		{"board by edge", fmt.Sprint(readBoard("order=edge&operators=all&lane=crypto")), "{all CRYPTO 50 edge}"},
		{"board by an unknown order", fmt.Sprint(readBoard("order=EDGE&limit=7")), "{human  7 }"},
		{"attention", fmt.Sprint(readTop("lane=science&limit=500")), "{SCIENCE 100}"},
		{"attention without known values", fmt.Sprint(readTop("lane=moon&limit=0")), "{ 20}"},
		{"history, 15 minutes", span("marketId=7&window=15m"), "7 15m0s"},
		{"history, an unknown window", span("marketId=7&window=1y"), "7 24h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("got %s, want %s", c.got, c.want)
			}
		})
	}
}

// TestShapes compares the JSON of each public list, and of the routes for one market, with golden files.
func TestShapes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	s := &Server{Deps: Deps{Now: func() time.Time { return noon }, HubURL: "https://hub.example"}}
	events := feed.Page{More: true, Next: 88119, Events: []feed.Event{
		{
			Seq: 88120, ID: "0199f0a4-0000-7000-8000-000000000001", Type: feed.SignalEvent, At: noon, MarketID: "701122", Provider: "polymarket",
			Lane: "SCIENCE", Handle: "mara_k", PublicID: "op_c8eb353a8e49313f", Data: []byte(`{"signalId":"0199f0a4-0000-7000-8000-000000000002"}`),
		},
		{
			Seq: 88119, ID: "0199f0a4-0000-7000-8000-000000000003", Type: feed.MarketStatus, At: noon, MarketID: "native-x",
			Data: []byte(`{"from":"open","to":"closed"}`),
		},
	}}
	ranked := func(rank int, name string, kind protocol.OperatorType, tier protocol.Tier, e board.Edge) board.Row {
		return board.Row{
			Rank: rank, Score: 48, Total: 24, Won: 12, Lost: 6, Pending: 5, Accuracy: 67, Edge: e,
			Operator: operator.Operator{
				ProviderID: "did:idp:" + name, PublicID: "op_0000000000000001", Handle: name, DisplayName: "Mara K", Type: kind, Tier: tier,
			},
		}
	}
	yes, volume, usd, end := protocol.Bps(3150), 412_000.0, 182_000.0, noon.Add(48*time.Hour)
	f := attention.Fact{}
	f.ID, f.Provider, f.Title, f.Lane, f.Yes = "701122", protocol.Polymarket, "Above 6 m?", protocol.LaneScience, &yes
	f.PricedAt, f.Volume24h = noon.Add(-10*time.Minute), &volume
	stale := f
	stale.ID, stale.Provider, stale.PricedAt, stale.Volume24h = "kalshi-x", protocol.Kalshi, noon.Add(-11*time.Minute), nil
	first := attention.Row{Fact: &f, Score: 56, Rank: 1, Percentile: 97, Delta: -4, Parts: attention.Weigh(412_000, 1100, 9, 37, 3)}
	second := first
	second.Fact, second.Rank, second.Delta = &stale, 2, 0
	rows, at := []attention.Row{first, second}, noon.Add(-time.Minute)
	m := market.Market{
		ID: "701122", Provider: protocol.Polymarket, Title: "Above 6 m?", Status: protocol.MarketOpen, Lane: protocol.LaneScience, EventKey: "flood",
		Yes: &yes, VolumeUSD: &usd, EndDate: &end, UpdatedAt: noon, CrowdYes: 1, CrowdNo: 2, YesCount: 9, NoCount: 9, ClobTokenID: "7132",
	}
	no, who, decided := protocol.VerdictNo, "oracle", noon.Add(-time.Hour)
	settled := m
	settled.ID, settled.Status, settled.Verdict, settled.Yes = "2", protocol.MarketResolved, &no, nil
	settled.CrowdYes, settled.CrowdNo, settled.URL = 0, 0, "https://venue.example/x"
	outcome := &resolution.Outcome{Verdict: &no, Resolver: &who, Source: &who, ResolvedAt: &decided}
	for name, shown := range map[string]any{
		"feed.json": showFeed(feed.Query{}, events),
		"leaderboard.json": s.showBoard([]board.Row{
			ranked(1, "mara_k", protocol.Human, protocol.Independent, board.Edge{Calls: 18, EdgeBps: 260, LowBps: -140, HighBps: 655}),
			ranked(2, "bot", protocol.AIAgent, protocol.Automated, board.Edge{}),
		}),
		"external.json":   s.showExternal(rows, at),
		"aura_top.json":   showTop(rows, at),
		"aura_score.json": showScore(&first, at),
		"aura_history.json": showHistory("701122", []attention.Point{
			{At: noon.Add(-time.Hour), Score: 60}, {At: noon.Add(-time.Minute), Score: 56},
		}),
		"oracle_market.json":   s.showOracleMarket(&m, nil, &first, at),
		"oracle_resolved.json": s.showOracleMarket(&settled, outcome, nil, at),
	} {
		raw := testkit.Must(httpx.Marshal(shown))(t)
		testkit.Golden(t, name, raw)
	}
}
