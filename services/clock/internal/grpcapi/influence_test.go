package grpcapi

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// serveInfluence serves the gRPC interface with a Store of the database at url. It returns the Store and a client.
func serveInfluence(t *testing.T, url string, now time.Time) (*postgres.Store, programv1.ProgramReadServiceClient) {
	t.Helper()
	store := postgres.New(testkit.Pool(t, url), testkit.ReadTime)
	surveyor := program.NewSurveyor(store, &program.Copies{}, nil, func() time.Time { return now })
	return store, programv1.NewProgramReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		programv1.RegisterProgramReadServiceServer(r, NewProgram(nil, nil, surveyor, func() time.Time { return now }))
	}))
}

func TestGetInfluence(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	store, c := serveInfluence(t, testkit.Postgres(t, postgres.Schema("")).URL("clock_rw"), now)
	got, err := c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{})
	if diff := cmp.Diff(&programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(now)}, got, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("without airings: %v\n%s", err, diff)
	}

	// 36 airings of the last hour, 168 earlier airings of today, and 12 of last week. Each lane has one airing in each slot.
	var slots []program.Change
	var airings []program.Airing
	var measured []program.Measured
	add := func(n int, last program.Slot) {
		for i := range 12 * n {
			k, lane := last-program.Slot(i/12), program.Lanes()[i%12]
			id := protocol.MarketID(fmt.Sprint(len(slots) + 1))
			a := program.Airing{
				SegmentID: program.SegmentID("default", lane, k, program.Content), Channel: "default", Lane: lane, Slot: k, Market: id,
				Title: "Will it?", StartedAt: k.Content(), EndedAt: k.End(), Yes: 3150,
			}
			slots = append(slots, program.Change{Entry: program.Entry{Lane: lane, Slot: k, Market: id, Title: a.Title}})
			airings = append(airings, a)
			measured = append(measured, program.Measured{SegmentID: a.SegmentID, After: 3150, Signals: -1})
		}
	}
	running := program.SlotAt(now)
	add(3, running-2)
	add(14, running-10)
	add(1, running-700)
	measured[7].After, measured[7].Signals = 3000, 7
	if _, err := store.ApplySlots(t.Context(), "default", slots, now); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Publish(t.Context(), program.Publication{Airings: airings, Now: now}); err != nil {
		t.Fatal(err)
	}
	if err := store.RaiseViewers(t.Context(), map[string]int32{airings[7].SegmentID: 61}); err != nil {
		t.Fatal(err)
	}
	if err := store.MeasureAirings(t.Context(), measured, now); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		window  string
		limit   int32
		airings int64
		items   int
	}{
		{"", 0, 204, 50}, {"1h", 7, 36, 7}, {"7d", 1000, 216, 200}, {"8d", -1, 204, 50},
	} {
		got, err := c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{Window: tc.window, Limit: tc.limit})
		if err != nil || got.GetAirings() != tc.airings || len(got.GetItems()) != tc.items {
			t.Errorf("%+v: %d of %d airings, %v", tc, len(got.GetItems()), got.GetAirings(), err)
		}
	}
	got, err = c.GetInfluence(t.Context(), &programv1.GetInfluenceRequest{Window: "1h", Limit: 1})
	a := &airings[7]
	want := &programv1.GetInfluenceResponse{
		Airings: 36, MeanAbsMoveBps: proto.Float64(150. / 36), UpdatedAt: timestamppb.New(now), Items: []*programv1.Moved{{
			SegmentId: a.SegmentID, MarketId: string(a.Market), Title: a.Title, Lane: string(a.Lane), AiredAt: timestamppb.New(a.StartedAt),
			EndedAt: timestamppb.New(a.EndedAt), YesBpsBefore: 3150, YesBpsAfter: 3000, SignalsDuring: proto.Int64(7), ViewersPeak: 61,
			MeasuredAt: timestamppb.New(now),
		}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, down := serveInfluence(t, "postgres://clock_rw@127.0.0.1:1/nowhere", now)
	if _, err := down.GetInfluence(context.Background(), &programv1.GetInfluenceRequest{}); apperr.Of(err).Code != "db_unavailable" {
		t.Errorf("without the database: %v", err)
	}
}
