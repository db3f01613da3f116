package network

import (
	"context"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// partners lists the active stations of the ledger.
func partners(ctx context.Context, ledger *ledgerclient.Client) ([]Partner, error) {
	r, err := ledger.Stations.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]Partner, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		out = append(out, Partner{
			Origin: st.GetStationId(), OriginURL: st.GetOriginUrl(), TapesURL: st.GetTapesUrl(), OperatorsURL: st.GetOperatorsUrl(),
		})
	}
	return out, nil
}

// ranked lists the people of this station with a decided call, the best first.
func ranked(ctx context.Context, ledger *ledgerclient.Client, limit int) ([]Operator, error) {
	r, err := ledger.Records.ListOperators(ctx, &recordv1.ListOperatorsRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]Operator, 0, len(r.GetOperators()))
	for _, row := range r.GetOperators() {
		out = append(out, operatorOf(row.GetOperator(), row.GetStats()))
	}
	return out, nil
}

func operatorOf(o *operatorv1.Operator, st *recordv1.Stats) Operator {
	one := Operator{
		ID: operator.ID(o.GetId()), Handle: o.GetHandle(), DisplayName: o.GetDisplayName(), Score: st.GetScore(), Accuracy: int64(st.GetAccuracy()),
		Total: st.GetTotal(), Won: st.GetWon(), Lost: st.GetLost(), Pending: st.GetTotal() - st.GetWon() - st.GetLost() - st.GetVoid(),
		Resolved: st.GetWon() + st.GetLost(), Streak: st.GetStreak(), Tier: o.GetTier(), OperatorType: o.GetOperatorType(),
	}
	if avatar := o.GetAvatarUrl(); avatar != "" {
		one.AvatarURL = &avatar
	}
	if st != nil && st.AvgClvBps != nil {
		one.AvgClv = new(int64(st.GetAvgClvBps()))
	}
	return one
}
