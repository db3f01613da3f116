package broadcast_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// facts is a fake of all sources of the spotlight, with the store of a test database.
type facts struct {
	store *postgres.Store
	wirev1.WireReadServiceClient
	now     time.Time
	shows   []livestream.Show
	taken   []protocol.MarketID
	moves   []*wirev1.Move
	program *programv1.Program
	fail    error // error of all sources except the database
}

func (f *facts) Live(context.Context) ([]livestream.Show, error) {
	return slices.Clone(f.shows), f.fail
}

func (f *facts) ListTaken(context.Context, *wirev1.ListTakenRequest, ...grpc.CallOption) (*wirev1.ListTakenResponse, error) {
	out := &wirev1.ListTakenResponse{}
	for _, id := range f.taken {
		out.Markets = append(out.Markets, &wirev1.Taken{MarketId: string(id)})
	}
	return out, f.fail
}

func (f *facts) ListMoves(context.Context, *wirev1.ListMovesRequest, ...grpc.CallOption) (*wirev1.ListMovesResponse, error) {
	return &wirev1.ListMovesResponse{Moves: f.moves}, f.fail
}

// clock is a fake of the clock service that returns the programme in f.
type clock struct {
	programv1.ProgramReadServiceClient
	f *facts
}

func (c clock) GetProgram(context.Context, *programv1.GetProgramRequest, ...grpc.CallOption) (*programv1.GetProgramResponse, error) {
	return &programv1.GetProgramResponse{Program: c.f.program}, c.f.fail
}

// noMarkets is a fake of a ledger without markets.
type noMarkets struct {
	marketv1.MarketReadServiceClient
	f *facts
}

func (n noMarkets) ListMarkets(
	context.Context, *marketv1.ListMarketsRequest, ...grpc.CallOption,
) (*marketv1.ListMarketsResponse, error) {
	return nil, n.f.fail
}

// newStore returns the store of an empty database, and an administrator connection.
func newStore(t *testing.T) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	return postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), testkit.Pool(t, db.Admin)
}

func (f *facts) ask(t *testing.T) broadcast.Shown {
	t.Helper()
	s := broadcast.New(broadcast.Deps{
		Ledger: &ledgerclient.Client{Wire: f, Markets: noMarkets{f: f}}, Live: f.Live, Store: f.store, Programs: clock{f: f},
		Now: func() time.Time { return f.now },
	})
	shown, err := s.Spotlight(t.Context())
	if err != nil && f.fail == nil {
		t.Fatal(err)
	}
	return shown
}

func segment(id string, from, to time.Duration, end time.Duration) *programv1.Segment {
	g := &programv1.Segment{
		SegmentId: id, Kind: "content", MarketId: id, Category: "science",
		StartsAt: timestamppb.New(noon.Add(from)), EndsAt: timestamppb.New(noon.Add(to)),
	}
	if end != 0 {
		g.MarketEndDate = timestamppb.New(noon.Add(end))
	}
	return g
}

func TestLadder(t *testing.T) {
	t.Parallel()
	show := func(id string, viewers int64, since time.Duration, signal *livestream.Signal) livestream.Show {
		return livestream.Show{ShowID: id, Handle: "mara_k", Viewers: viewers, Signal: signal, Approved: true, StartedAt: noon.Add(-since)}
	}
	one := &livestream.Signal{MarketID: "1"}
	pending := show("c", 9, 9, one)
	pending.Approved = false
	minute := 60 * time.Second
	store, admin := newStore(t)
	for name, c := range map[string]struct {
		change func(*facts)
		reason broadcast.Reason
		which  string // id of the show, segment or market
		lasts  time.Duration
	}{
		"most viewers":          {func(f *facts) { f.shows = []livestream.Show{show("a", 3, 9, one), show("b", 4, 1, one), pending} }, broadcast.LiveOperator, "b", minute},
		"of equal the longest":  {func(f *facts) { f.shows = []livestream.Show{show("a", 3, 1, one), show("b", 3, 9, one)} }, broadcast.LiveOperator, "b", minute},
		"no overlay signal":     {func(f *facts) { f.shows = []livestream.Show{show("a", 3, 1, nil)} }, broadcast.Takes, "7", minute},
		"a move of five points": {func(f *facts) { f.taken = nil }, broadcast.WireMove, "8", minute},
		"a fall is a move":      {func(f *facts) { f.taken = nil; f.moves[0].FromBps, f.moves[0].ToBps = 900, 400 }, broadcast.WireMove, "8", minute},
		"a smaller move":        {func(f *facts) { f.taken = nil; f.moves[0].ToBps = 1499 }, broadcast.FinalStretch, "soonest", minute},
		"the clock":             {func(f *facts) { f.taken, f.moves, f.program.Segments = nil, nil, f.program.Segments[:2] }, broadcast.OnClock, "now", 20 * time.Second},
	} {
		if _, err := admin.Exec(t.Context(), "DELETE FROM hub.spotlight"); err != nil {
			t.Fatal(err)
		}
		f := &facts{
			store: store, now: noon, taken: []protocol.MarketID{"7"}, moves: []*wirev1.Move{{MarketId: "8", FromBps: 1000, ToBps: 1500}},
			program: &programv1.Program{
				Segments: []*programv1.Segment{
					segment("over", -time.Hour, 0, 0), segment("now", -time.Minute, 20*time.Second, time.Hour+1),
					segment("soon", -time.Minute, time.Hour, time.Hour), segment("soonest", -time.Minute, time.Hour, time.Second), segment("past", -time.Minute, time.Hour, -time.Second),
				},
				Lanes: []*programv1.Lane{{Key: "science", Segments: []int32{0, 1}}, {Key: "tv", Segments: []int32{2, 3, 4}}},
			},
		}
		c.change(f)
		if len(f.program.Segments) == 2 {
			f.program.Lanes = f.program.Lanes[:1]
		}
		got := f.ask(t).Spotlight
		if got == nil {
			t.Errorf("%s: no spotlight", name)
			continue
		}
		which := map[broadcast.Reason]string{broadcast.LiveOperator: got.ShowID, broadcast.Takes: string(got.MarketID), broadcast.WireMove: string(got.MarketID)}[got.Reason]
		if which == "" {
			which = got.SegmentID
		}
		if got.Reason != c.reason || which != c.which || got.ExpiresAt.Sub(noon) != c.lasts || !got.ChosenAt.Equal(noon) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSpotlightStart checks that a spotlight keeps its start if the same item is chosen again, and that it remains while its source is
// unavailable. Without a candidate, there must be no spotlight.
func TestSpotlightStart(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	f := &facts{store: store, now: noon, taken: []protocol.MarketID{"7"}}
	f.ask(t)
	f.now = noon.Add(61 * time.Second)
	got := f.ask(t).Spotlight
	held, err := store.Spotlight(t.Context())
	if !got.StartedAt.Equal(noon) || !got.ExpiresAt.Equal(noon.Add(121*time.Second)) || held.Version != 2 || err != nil {
		t.Errorf("a minute later: %+v, %v", held, err)
	}
	f.fail = errors.New("unavailable")
	if got := f.ask(t); got.Spotlight == nil || got.Failed != nil {
		t.Errorf("before its expiry: %+v", got)
	}
	f.now, f.taken = noon.Add(5*time.Minute), nil
	if got := f.ask(t); got.Spotlight != nil {
		t.Errorf("without a candidate: %+v", got.Spotlight)
	}
	f.fail, f.shows = nil, []livestream.Show{{ShowID: "a", Signal: &livestream.Signal{MarketID: "1"}, Approved: true, Handle: "mara_k", StartedAt: noon}}
	if got := f.ask(t).Spotlight; got.ShowID != "a" || !got.StartedAt.Equal(noon) {
		t.Errorf("live: %+v", got)
	}
	f.now, f.shows = f.now.Add(time.Second), nil
	if got := f.ask(t); got.Spotlight != nil {
		t.Errorf("an ended show: %+v", got.Spotlight)
	}
}
