package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// GetPulse counts the network.
func (f *Records) GetPulse(ctx context.Context, _ *recordv1.GetPulseRequest) (*recordv1.GetPulseResponse, error) {
	t, err := f.boards.Pulse(ctx)
	if err != nil {
		return nil, err
	}
	series, err := f.boards.PulseSeries(ctx)
	if err != nil {
		return nil, err
	}
	out := &recordv1.GetPulseResponse{
		Signals: t.Signals, IndependentSignals: t.Independent, HouseSignals: t.House, AutomatedSignals: t.Automated,
		Last7: t.Last7, Prev7: t.Prev7, IndependentOperators: t.IndependentOperators, IndependentActive28: t.IndependentActive28,
		HouseOperators: t.HouseOperators, Registered: t.Registered, Markets: t.Markets, Won: t.Won, Lost: t.Lost, Open: t.Open,
		ClvCount: t.CLVCount, BeatLine: t.BeatLine, Resolutions28: series.Resolutions28, GeneratedAt: timestamppb.New(f.now()),
	}
	if series.LastIndependent != nil {
		out.LastIndependentWeek = syntax.Day(*series.LastIndependent)
	}
	for _, w := range series.Weeks {
		out.Weeks = append(out.Weeks, &recordv1.Week{
			Start: syntax.Day(w.Start), Independent: w.Independent, House: w.House, Automated: w.Automated, ActiveIndependent: w.ActiveIndependent,
		})
	}
	return out, nil
}
