package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// ledger is a fake ledger. It serves the markets that the test sets and records the requests.
type ledger struct {
	marketv1.UnimplementedMarketReadServiceServer

	mu      sync.Mutex
	airable []*marketv1.Market
	others  map[string]*marketv1.Market
	fail    error
	wait    chan struct{} // if not nil, ListAirable waits until it is closed
	calls   int
	asked   [][]string          // ids of each ListMarkets request
	needed  []protocol.MarketID // markets of stored slots
}

func (l *ledger) ListAirable(context.Context, *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	l.mu.Lock()
	l.calls++
	wait := l.wait
	l.mu.Unlock()
	if wait != nil {
		<-wait
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &marketv1.ListAirableResponse{Markets: l.airable}, l.fail
}

func (l *ledger) ListMarkets(_ context.Context, r *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, r.GetIds())
	out := &marketv1.ListMarketsResponse{}
	for _, id := range r.GetIds() {
		if m := l.others[id]; m != nil {
			out.Markets = append(out.Markets, m)
		}
	}
	return out, nil
}

func (l *ledger) set(change func()) { l.mu.Lock(); defer l.mu.Unlock(); change() }

func setup(t *testing.T) (*ledger, *Markets, *testkit.Clock) {
	t.Helper()
	t.Parallel()
	l := &ledger{others: make(map[string]*marketv1.Market)}
	clock := testkit.NewClock(noon)
	conn := testkit.Link(t, func(r grpc.ServiceRegistrar) { marketv1.RegisterMarketReadServiceServer(r, l) })
	var copies program.Copies
	needed := func() []protocol.MarketID { return l.needed }
	return l, New(marketv1.NewMarketReadServiceClient(conn), &copies, needed, slog.New(slog.DiscardHandler), clock.Now), clock
}

func raw(id string) *marketv1.Market {
	return &marketv1.Market{Id: id, Provider: "polymarket", Title: "Will " + id + "?", Status: "open", Category: "sports", YesBps: proto.Int32(3150)}
}

func TestFromProto(t *testing.T) {
	t.Parallel()
	full := &marketv1.Market{
		Id: "701122", Provider: "polymarket", Title: "Will it?", EndDate: timestamppb.New(noon), Status: "open", YesBps: proto.Int32(0),
		Volume: proto.Float64(5), VolumeUsd: proto.Float64(182000), Volume24H: proto.Float64(9100), VolumeUnit: "usd", Category: "science",
		EventKey: "flood", Signals: 42, Tapes: 3, Takes: 6, Streams: 1,
	}
	bare := program.Market{ID: "kalshi-A", Provider: protocol.Kalshi, Yes: program.NoPrice, Volume: program.Unknown, DayVolume: program.Unknown, Status: protocol.MarketUnknown}
	with := func(change func(*program.Market)) program.Market { m := bare; change(&m); return m }
	for name, c := range map[string]struct {
		in   *marketv1.Market
		want program.Market
	}{
		"full": {full, program.Market{
			ID: "701122", Provider: protocol.Polymarket, Title: "Will it?", EventKey: "flood", Lane: "science", End: noon.UnixMilli(),
			Yes: 0, Volume: 182000, DayVolume: 9100, Signals: 42, Tapes: 3, Takes: 6, Streams: 1, Status: protocol.MarketOpen,
		}},
		"bare":          {&marketv1.Market{Id: "kalshi-A"}, bare},
		"unknown names": {&marketv1.Market{Id: "kalshi-A", Provider: "x", Status: "x", Category: "weather"}, bare},
		"no dollars":    {&marketv1.Market{Id: "kalshi-A", Volume: proto.Float64(9), Volume24H: proto.Float64(9)}, bare},
		"bad figures":   {&marketv1.Market{Id: "kalshi-A", YesBps: proto.Int32(10001), VolumeUsd: proto.Float64(math.NaN())}, bare},
		"negative":      {&marketv1.Market{Id: "kalshi-A", YesBps: proto.Int32(-1), VolumeUsd: proto.Float64(-5)}, bare},
		"infinite":      {&marketv1.Market{Id: "kalshi-A", VolumeUsd: proto.Float64(math.Inf(1)), Volume24H: proto.Float64(math.Inf(1))}, bare},
		"disputed":      {&marketv1.Market{Id: "kalshi-A", Disputed: true}, with(func(m *program.Market) { m.Provisional = true })},
		"provisional":   {&marketv1.Market{Id: "kalshi-A", Provisional: true}, with(func(m *program.Market) { m.Provisional = true })},
		"contracts": {&marketv1.Market{
			Id: "kalshi-A", VolumeUnit: "contracts", Volume: proto.Float64(900), VolumeUsd: proto.Float64(900), Volume24H: proto.Float64(90),
			Move1HBps: -700,
		}, with(func(m *program.Market) { m.Volume, m.DayVolume, m.Move = 900, 90, -700 })},
		"two names":  {&marketv1.Market{Id: "kalshi-A", Outcomes: []string{"Up", "No"}}, with(func(m *program.Market) { m.Sides = [2]string{"Up", "No"} })},
		"yes and no": {&marketv1.Market{Id: "kalshi-A", Outcomes: []string{"YES", "no"}}, bare},
		"one name":   {&marketv1.Market{Id: "kalshi-A", Outcomes: []string{"Up"}}, bare},
		"mana": {&marketv1.Market{
			Id: "kalshi-A", VolumeUnit: "mana", Volume: proto.Float64(50_000), VolumeUsd: proto.Float64(500), Volume24H: proto.Float64(1000),
		}, with(func(m *program.Market) { m.Volume, m.DayVolume = 500, 10 })},
		"dollars alone": {&marketv1.Market{Id: "kalshi-A", VolumeUsd: proto.Float64(0)}, with(func(m *program.Market) { m.Volume = 0 })},
	} {
		got, ok := fromProto(c.in)
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(program.Market{})); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
	for _, id := range []string{"", "abc", "../x", "kalshi-"} {
		if _, ok := fromProto(&marketv1.Market{Id: id}); ok {
			t.Errorf("%q was accepted as a market id", id)
		}
	}
}

func TestRefresh(t *testing.T) {
	l, m, clock := setup(t)
	if m.copies.Markets.Load() != nil {
		t.Fatal("a copy exists before the first refresh")
	}
	l.set(func() { l.airable = []*marketv1.Market{raw("1"), raw("2"), raw("2"), raw("nonsense")} })
	refresh := func() *program.Pool {
		t.Helper()
		if err := m.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m.copies.Markets.Load()
	}
	first := refresh()
	if len(first.Markets) != 2 || first.Find("1") == nil || first.Version != 1 || !first.FetchedAt.Equal(noon) {
		t.Fatalf("first copy %+v", first)
	}
	clock.Advance(5 * time.Second)
	if same := refresh(); same.Version != first.Version || !same.FetchedAt.Equal(noon.Add(5*time.Second)) {
		t.Errorf("unchanged markets: version %d, fetched at %s; want the same version and the new time", same.Version, same.FetchedAt)
	}
	l.set(func() { l.airable[0].YesBps = proto.Int32(3160) })
	changed := refresh()
	if changed.Version == first.Version || changed.Find("1").Yes != 3160 || first.Find("1").Yes != 3150 {
		t.Errorf("version %d, price %d, first copy's %d", changed.Version, changed.Find("1").Yes, first.Find("1").Yes)
	}
	l.set(func() { l.fail = apperr.New(apperr.Unavailable, "db_unavailable", "") })
	if err := m.Refresh(t.Context()); apperr.Of(err).Kind != apperr.Unavailable || m.copies.Markets.Load() != changed {
		t.Errorf("failed refresh: %v, copy unchanged: %v", err, m.copies.Markets.Load() == changed)
	}
}

func TestRefreshRequestsNeededMarkets(t *testing.T) {
	l, m, _ := setup(t)
	for i := range 1200 {
		l.needed = append(l.needed, protocol.MarketID(fmt.Sprint(i)))
	}
	l.set(func() {
		l.airable = []*marketv1.Market{raw("7")}
		l.others["8"] = &marketv1.Market{Id: "8", Status: "resolved"}
	})
	if err := m.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, ids := range l.asked {
		sizes = append(sizes, len(ids))
	}
	if diff := cmp.Diff([]int{500, 500, 199}, sizes); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if p := m.copies.Markets.Load(); len(p.Markets) != 2 || p.Find("8").Status != protocol.MarketResolved || p.Find("9") != nil {
		t.Errorf("pool %+v", p.Markets)
	}
}

// TestConcurrentRefresh checks that 20 calls of Refresh during one refresh cause at most one more refresh.
func TestConcurrentRefresh(t *testing.T) {
	l, m, _ := setup(t)
	l.set(func() { l.wait = make(chan struct{}) })
	var started, ended sync.WaitGroup
	for range 20 {
		started.Add(1)
		ended.Go(func() {
			started.Done()
			if err := m.Refresh(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	testkit.Eventually(t, 5*time.Second, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.calls > 0 })
	close(l.wait)
	ended.Wait()
	if l.calls > 2 { // a second request is for calls that came after the end of the first
		t.Errorf("%d requests for 20 concurrent refreshes; want at most 2", l.calls)
	}
}

func TestRun(t *testing.T) {
	l, m, _ := setup(t)
	l.set(func() { l.fail = apperr.New(apperr.Unavailable, "db_unavailable", "") })
	ctx, cancel := context.WithCancel(t.Context())
	refreshed := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx, func() {
			select {
			case refreshed <- struct{}{}:
			default:
			}
		})
	}()
	testkit.Eventually(t, 5*time.Second, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.calls > 0 })
	l.set(func() { l.fail = nil })
	<-refreshed
	if m.copies.Markets.Load() == nil {
		t.Error("no copy after a refresh")
	}
	cancel()
	<-done
}
