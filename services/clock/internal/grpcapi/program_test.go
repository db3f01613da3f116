package grpcapi

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T, copies *program.Copies) programv1.ProgramReadServiceClient {
	t.Helper()
	t.Parallel()
	programs := program.NewService(copies, program.DefaultLanes(), func() time.Time { return noon })
	return programv1.NewProgramReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		programv1.RegisterProgramReadServiceServer(r, NewProgram(programs, nil, nil, func() time.Time { return noon }))
	}))
}

// onAir returns copies of the markets and of the rundown in which two markets air.
func onAir() *program.Copies {
	gauge := program.Market{
		ID: "701122", Provider: protocol.Polymarket, Title: "Will it rise?", EventKey: "ostrava-flood", Lane: "crypto",
		End: time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC).UnixMilli(), Yes: 3150, Volume: 182000, DayVolume: 9100,
		Signals: 42, Tapes: 3, Takes: 6, Streams: 1, Status: protocol.MarketOpen,
	}
	bare := program.Market{
		ID: "kalshi-A", Provider: protocol.Kalshi, Title: "Who knows?", Lane: "sports", Yes: program.NoPrice, Sides: [2]string{"Ochre Rovers", "Slate City"},
		Volume: program.Unknown, DayVolume: program.Unknown, Status: protocol.MarketClosed,
	}
	k := program.SlotAt(noon)
	entries := []program.Entry{
		{Lane: "sports", Slot: k, Market: bare.ID, Title: bare.Title},
		{Lane: "crypto", Slot: k, Market: gauge.ID, Title: gauge.Title},
		{Lane: "crypto", Slot: k + 1, Market: gauge.ID, Title: gauge.Title},
	}
	var copies program.Copies
	copies.Markets.Store(program.NewPool([]program.Market{gauge, bare}, noon, 1))
	copies.Rundown.Store(&program.Rundown{Entries: entries, LoadedAt: noon, Version: 1})
	return &copies
}

func at(h, m, s int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2026, 9, 18, h, m, s, 0, time.UTC))
}

func TestGetProgram(t *testing.T) {
	c := setup(t, onAir())
	got, err := c.GetProgram(t.Context(), &programv1.GetProgramRequest{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	crypto := &programv1.Segment{
		SegmentId: "default:crypto:2933988:c", Kind: "content", MarketId: "701122", Category: "crypto", Title: "Will it rise?",
		StartsAt: at(11, 58, 10), EndsAt: at(12, 8, 10), MarketEndDate: timestamppb.New(time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)),
		YesPrice: proto.Float64(31.5), NoPrice: proto.Float64(68.5), Volume: proto.Float64(182000), Bucket: "ON AIR", Status: "live",
		Signals: 42, Tapes: 3, Takes: 6, Streams: 1, EventKey: "ostrava-flood", Provider: "polymarket", Route: "/m/701122",
		EndsInMs: proto.Int64(6346800000),
	}
	sports := &programv1.Segment{
		SegmentId: "default:sports:2933988:c", Kind: "content", MarketId: "kalshi-A", Category: "sports", Title: "Who knows?",
		StartsAt: at(11, 58, 10), EndsAt: at(12, 8, 10), Bucket: "ON AIR", Status: "resolving", Provider: "kalshi", Route: "/m/kalshi-A",
		Outcomes: []string{"Ochre Rovers", "Slate City"},
	}
	want := &programv1.GetProgramResponse{Program: &programv1.Program{
		GeneratedAt: at(12, 0, 0), Total: 6,
		Segments: []*programv1.Segment{bumper(crypto), bumper(sports), crypto, sports},
		Lanes: []*programv1.Lane{
			{Key: "sports", Label: "SPORTS", Segments: []int32{1, 3}},
			{Key: "crypto", Label: "CRYPTO", Segments: []int32{0, 2}},
		},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("program (-want +got):\n%s", diff)
	}
}

// bumper returns the bumper that precedes a content segment of the running slot.
func bumper(content *programv1.Segment) *programv1.Segment {
	b := proto.CloneOf(content)
	b.SegmentId = content.GetSegmentId()[:len(content.GetSegmentId())-1] + "b"
	b.Kind, b.Title, b.Bucket = "bumper", "NEXT · "+content.GetTitle(), "TODAY"
	b.StartsAt, b.EndsAt = at(11, 58, 0), at(11, 58, 10)
	return b
}

func TestGetComputed(t *testing.T) {
	c := setup(t, onAir())
	for _, r := range []struct {
		request *programv1.GetProgramRequest
		total   int32
		spec    string
	}{
		{&programv1.GetProgramRequest{Preset: "nonsense"}, 6, ""},
		{&programv1.GetProgramRequest{Preset: "hot"}, 24, `{"minVolume":10000,"topPerCategory":12}`},
		{&programv1.GetProgramRequest{Preset: "hot", Spec: `{"minVolume":1e6}`}, 0, `{"minVolume":1000000,"topPerCategory":12}`},
		{&programv1.GetProgramRequest{Preset: "hot", Providers: []string{"kalshi"}}, 0, `{"minVolume":10000,"topPerCategory":12}`},
	} {
		got, err := c.GetProgram(t.Context(), r.request)
		if err != nil || got.GetProgram().GetTotal() != r.total || got.GetProgram().GetSpec() != r.spec {
			t.Errorf("%v: %d %q, %v, want %d %q", r.request, got.GetProgram().GetTotal(), got.GetProgram().GetSpec(), err, r.total, r.spec)
		}
	}
	if _, err := c.GetProgram(t.Context(), &programv1.GetProgramRequest{Spec: `{"minYes":"x"}`}); !errors.Is(err, program.ErrSpec) {
		t.Errorf("bad spec: %v", err)
	}
}

// TestNoData checks that the service returns an error, not an empty programme, while it has no data. The caller then uses its
// last copy.
func TestNoData(t *testing.T) {
	c := setup(t, &program.Copies{})
	_, err := c.GetProgram(t.Context(), &programv1.GetProgramRequest{})
	_, errHot := c.GetProgram(t.Context(), &programv1.GetProgramRequest{Preset: "hot"})
	for _, err := range []error{err, errHot} {
		if !errors.Is(err, program.ErrNoProgram) {
			t.Errorf("error %v", err)
		}
	}
}

// TestDegraded checks that a programme that is built from old data names the failed source, so that the hub can mark its answer
// as degraded.
func TestDegraded(t *testing.T) {
	f := onAir()
	gauge := *f.Markets.Load().Find("701122")
	f.Markets.Store(program.NewPool([]program.Market{gauge}, noon.Add(-2*time.Minute), 2))
	c := setup(t, f)
	got, err := c.GetProgram(t.Context(), &programv1.GetProgramRequest{})
	if err != nil || got.GetProgram().GetDegraded() != "api" || got.GetProgram().GetTotal() == 0 {
		t.Errorf("program: %v, %v", got, err)
	}
}
