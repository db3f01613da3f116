package rpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
)

// facts is a store that reads open markets and keeps nothing.
type facts struct {
	oracle.Store
	list []oracle.Fact
	seen map[oracle.Sighting]time.Time
}

func (f facts) ListFacts(context.Context, time.Time) ([]oracle.Fact, error) { return f.list, nil }

func (f facts) ListSightings(context.Context) (map[oracle.Sighting]time.Time, error) {
	return f.seen, nil
}

func (f facts) ListAttention(context.Context, []syntax.MarketID, time.Time) (map[syntax.MarketID]int, error) {
	return nil, nil
}

// openFact is an open market of the primary venue at 50.00 that ends in two days.
func openFact(id string, volume float64, change ...func(*oracle.Fact)) oracle.Fact {
	var f oracle.Fact
	f.ID, f.Provider, f.Title, f.Outcome, f.Lane = syntax.MarketID(id), syntax.Polymarket, "Market "+id, "Yes", syntax.LaneScience
	f.Yes, f.PricedAt, f.Volume, f.Volume24h = ptr(syntax.Bps(5000)), time.Now(), &volume, &volume
	f.Callable, f.EndDate = true, ptr(time.Now().Add(48*time.Hour))
	for _, do := range change {
		do(&f)
	}
	return f
}

func readOracle(t *testing.T, list ...oracle.Fact) *oracle.Service {
	t.Helper()
	o := oracle.NewService(facts{list: list}, time.Now)
	if err := o.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return o
}

func dialWire(t *testing.T, o *oracle.Service) wirev1.WireReadServiceClient {
	t.Helper()
	return wirev1.NewWireReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		wirev1.RegisterWireReadServiceServer(r, rpc.NewWire(o))
	}))
}

func TestMovementTravelsWhole(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	store := facts{seen: map[oracle.Sighting]time.Time{
		{Kind: oracle.OfMove, Window: syntax.Window1h, Key: "7"}:                           since,
		{Kind: oracle.OfSituation, Window: syntax.Window1h, Key: "polymarket:event:flood"}: since.Add(-time.Minute),
	}}
	moved := func(from int, event string) func(*oracle.Fact) {
		return func(f *oracle.Fact) {
			f.From[1], f.EventKey, f.EventTitle, f.Outcome, f.Signals = ptr(syntax.Bps(from)), event, "River levels", "Over", 42
		}
	}
	store.list = []oracle.Fact{
		openFact("7", 5000, moved(3600, "flood")), openFact("8", 4000, moved(4800, "flood")),
		openFact("kalshi-x", 3000, moved(5500, ""), func(f *oracle.Fact) { f.Provider, f.Volume24h, f.Lane = syntax.Kalshi, nil, syntax.LaneTech }),
	}
	o := oracle.NewService(store, time.Now)
	if err := o.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := dialWire(t, o)
	moves, err := client.ListMoves(t.Context(), &wirev1.ListMovesRequest{Window: "1h"})
	if err != nil || len(moves.GetMoves()) != 3 || time.Since(moves.GetGeneratedAt().AsTime()) > time.Minute {
		t.Fatal(moves, err)
	}
	m := moves.GetMoves()[0]
	if m.GetMarketId() != "7" || m.GetProvider() != "polymarket" || m.GetTitle() != "Market 7" || m.GetOutcome() != "Over" || m.GetLane() != "SCIENCE" || m.GetEventKey() != "flood" ||
		m.GetFromBps() != 3600 || m.GetToBps() != 5000 || m.GetVolume() != 5000 || m.GetVolume24H() != 5000 || m.GetSignals() != 42 || !m.GetDetectedAt().AsTime().Equal(since) {
		t.Errorf("%v", m)
	}
	if m := moves.GetMoves()[1]; m.GetMarketId() != "kalshi-x" || m.Volume24H != nil || m.GetEventKey() != "" {
		t.Errorf("%v", m)
	}
	stories, err := client.ListSituations(t.Context(), &wirev1.ListSituationsRequest{Window: "1h"})
	if err != nil || len(stories.GetSituations()) != 2 || stories.GetGeneratedAt() == nil {
		t.Fatal(stories, err)
	}
	s := stories.GetSituations()[0]
	if s.GetEventKey() != "flood" || s.GetProvider() != "polymarket" || s.GetHeadline() != "River levels rises 14 points" || s.GetLane() != "SCIENCE" || s.GetMarketCount() != 2 ||
		s.GetVolume() != 9000 || s.GetScore() != 14 || s.GetCriticality() != "Elevated" || !s.GetDetectedAt().AsTime().Equal(since.Add(-time.Minute)) ||
		len(s.GetMarkets()) != 2 || s.GetMarkets()[1].GetMarketId() != "8" {
		t.Errorf("%v", s)
	}
	if s := stories.GetSituations()[1]; s.GetEventKey() != "" || s.GetLane() != "TECH" || s.GetProvider() != "kalshi" {
		t.Errorf("%v", s)
	}
	for _, c := range []struct {
		window, lane string
		limit        int32
		want         string
	}{
		{"1h", "tech", 0, "1 1"},
		{"1h", "moon", 0, "3 2"},
		{"1h", "", 1, "1 1"},
		{"1h", "", -1, "3 2"},
		{"24h", "", 0, "0 0"},
		{"nonsense", "", 0, "0 0"},
	} {
		moves, err := client.ListMoves(t.Context(), &wirev1.ListMovesRequest{Window: c.window, Lane: c.lane, Limit: c.limit})
		stories, err2 := client.ListSituations(t.Context(), &wirev1.ListSituationsRequest{Window: c.window, Lane: c.lane, Limit: c.limit})
		if got := fmt.Sprint(len(moves.GetMoves()), len(stories.GetSituations())); err != nil || err2 != nil || got != c.want {
			t.Errorf("%+v: %s (%v, %v)", c, got, err, err2)
		}
	}
}

func TestLongMovement(t *testing.T) {
	t.Parallel()
	var list []oracle.Fact
	for i := range 230 {
		list = append(list, openFact(fmt.Sprint(1000+i), 5000, func(f *oracle.Fact) { f.From[3] = ptr(syntax.Bps(3000)) }))
	}
	client := dialWire(t, readOracle(t, list...))
	for limit, want := range map[int32]string{0: "50 30", 1000: "200 100"} {
		moves, err := client.ListMoves(t.Context(), &wirev1.ListMovesRequest{Limit: limit})
		stories, err2 := client.ListSituations(t.Context(), &wirev1.ListSituationsRequest{Limit: limit})
		if got := fmt.Sprint(len(moves.GetMoves()), " ", len(stories.GetSituations())); err != nil || err2 != nil || got != want {
			t.Errorf("%d: %s (%v, %v)", limit, got, err, err2)
		}
	}
}

// What is talked about most comes first, of equal ones what has more attention; what
// nobody talks about is left out.
func TestTaken(t *testing.T) {
	t.Parallel()
	takes := func(n int64) func(*oracle.Fact) { return func(f *oracle.Fact) { f.Takes24h = n } }
	c := dialWire(t, readOracle(t, openFact("1", 10, takes(2)), openFact("2", 1e6, takes(2)), openFact("3", 10), openFact("4", 10, takes(9))))
	for limit, want := range map[int32]string{0: "4:9 2:2 1:2", 2: "4:9 2:2"} {
		got, err := c.ListTaken(t.Context(), &wirev1.ListTakenRequest{Limit: limit})
		var said []string
		for _, m := range got.GetMarkets() {
			said = append(said, fmt.Sprintf("%s:%d", m.GetMarketId(), m.GetTakes()))
		}
		if err != nil || strings.Join(said, " ") != want {
			t.Errorf("%d: %v, %v", limit, said, err)
		}
	}
}
