package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/testkit"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// influences answers what it holds and notes what it was asked.
type influences struct {
	answer program.Influence
	fail   error
	since  time.Time
	limit  int
}

func (f *influences) Influence(_ context.Context, since time.Time, limit int) (program.Influence, error) {
	f.since, f.limit = since, limit
	return f.answer, f.fail
}

func TestGetInfluence(t *testing.T) {
	t.Parallel()
	f := &influences{}
	c := programv1.NewProgramReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		programv1.RegisterProgramReadServiceServer(r, NewProgram(nil, nil, f, func() time.Time { return noon }))
	}))
	got, err := c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{})
	if diff := cmp.Diff(&programv1.GetInfluenceResponse{UpdatedAt: at(12, 0, 0)}, got, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("nothing aired: %v\n%s", err, diff)
	}
	for _, ask := range []struct {
		window string
		limit  int32
		length time.Duration
		most   int
	}{
		{"", 0, 24 * time.Hour, 50}, {"1h", 7, time.Hour, 7}, {"7d", 1000, 7 * 24 * time.Hour, 200}, {"8d", -1, 24 * time.Hour, 50},
	} {
		if _, err := c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{Window: ask.window, Limit: ask.limit}); err != nil || noon.Sub(f.since) != ask.length || f.limit != ask.most {
			t.Errorf("%+v asks for %d since %s, %v", ask, f.limit, f.since, err)
		}
	}
	seven, mean := int64(7), 42.5
	f.answer = program.Influence{Airings: 130, MeanMove: &mean, Items: []program.Moved{
		{
			SegmentID: "default:crypto:2933986:c", Market: "701122", Title: "Will it rise?", Lane: "crypto", AiredAt: at(11, 37, 50).AsTime(), EndedAt: at(11, 47, 50).AsTime(),
			Before: 3150, After: 3000, Signals: &seven, ViewersPeak: 61, MeasuredAt: at(11, 57, 52).AsTime(),
		},
		{SegmentID: "x", Market: "1", AiredAt: noon, EndedAt: noon, MeasuredAt: noon},
	}}
	got, err = c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{})
	want := &programv1.GetInfluenceResponse{Airings: 130, MeanAbsMoveBps: &mean, UpdatedAt: at(12, 0, 0), Items: []*programv1.Moved{
		{
			SegmentId: "default:crypto:2933986:c", MarketId: "701122", Title: "Will it rise?", Lane: "crypto", AiredAt: at(11, 37, 50), EndedAt: at(11, 47, 50),
			YesBpsBefore: 3150, YesBpsAfter: 3000, SignalsDuring: proto.Int64(7), ViewersPeak: 61, MeasuredAt: at(11, 57, 52),
		},
		{SegmentId: "x", MarketId: "1", AiredAt: at(12, 0, 0), EndedAt: at(12, 0, 0), MeasuredAt: at(12, 0, 0)},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	f.fail = fault.New(fault.Unavailable, "db_unavailable", "")
	if _, err := c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{}); fault.Of(err).Code != "db_unavailable" {
		t.Errorf("without the database: %v", err)
	}
}
