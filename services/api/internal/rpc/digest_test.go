package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	"github.com/signalcast/signalcast/services/api/internal/digest"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
)

type oneDay struct{ asked digest.Window }

func (d *oneDay) Day(_ context.Context, w digest.Window) (digest.Day, error) {
	d.asked = w
	return digest.Day{
		Signals: 27, Won: 11, Lost: 8, Void: 1, NewOperators: 2, Disputed: []string{"7"},
		TopCalls: []digest.Call{{SignalID: "s", Handle: "mara_k", MarketTitle: "Rain?", Side: syntax.No, Odds: 1200, Score: 88}},
		Pulse:    digest.Pulse{Last7: 9, Prev7: 14, WeekSignals: 14, WeekOperators: 5},
	}, nil
}

func TestGetDay(t *testing.T) {
	t.Parallel()
	store := &oneDay{}
	client := digestv1.NewDigestReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		digestv1.RegisterDigestReadServiceServer(r, rpc.NewDigests(store))
	}))
	from := time.Date(2026, 9, 17, 0, 0, 0, 0, time.UTC)
	r, err := client.GetDay(t.Context(), &digestv1.GetDayRequest{From: timestamppb.New(from), To: timestamppb.New(from.AddDate(0, 0, 1))})
	if err != nil || !store.asked.From.Equal(from) || store.asked.Week.Format(time.DateOnly) != "2026-09-07" {
		t.Fatal(store.asked, err)
	}
	top := r.GetTopCalls()[0]
	got := fmt.Sprint(r.GetSignals(), r.GetWon(), r.GetLost(), r.GetVoid(), r.GetNewOperators(), r.GetDisputed(),
		top.GetSignalId(), top.GetHandle(), top.GetMarketTitle(), top.GetDirection(), top.GetOddsBps(), top.GetScore(),
		r.GetPulse().GetLast7(), r.GetPulse().GetPrev7(), r.GetPulse().GetWeekSignals(), r.GetPulse().GetWeekOperators())
	if got != "27 11 8 1 2 [7]smara_kRain?NO1200 88 9 14 14 5" {
		t.Error(got)
	}
	for _, bad := range []*digestv1.GetDayRequest{
		{},
		{From: timestamppb.New(from)},
		{From: timestamppb.New(from), To: timestamppb.New(from)},
		{From: timestamppb.New(from), To: timestamppb.New(from.AddDate(0, 0, 3))},
	} {
		if _, err := client.GetDay(t.Context(), bad); !errors.Is(err, digest.ErrWindow) || fault.Of(err).Code != "invalid_window" {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
