package upstream

import (
	"context"

	"google.golang.org/grpc"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"

	"github.com/signalcast/signalcast/services/hub/internal/network"
)

// Field is the ledger's ranking of people with a decided call.
type Field struct {
	records recordv1.RecordServiceClient
}

// NewField uses a connection to the ledger.
func NewField(cc grpc.ClientConnInterface) *Field {
	return &Field{recordv1.NewRecordServiceClient(cc)}
}

// Ranked implements network.Field.
func (f *Field) Ranked(ctx context.Context, limit int) ([]network.Operator, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := f.records.ListOperators(ctx, &recordv1.ListOperatorsRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]network.Operator, 0, len(r.GetOperators()))
	for _, row := range r.GetOperators() {
		o, st := operatorOf(row.GetOperator()), row.GetStats()
		one := network.Operator{
			ID: o.ID, Handle: string(o.Handle), DisplayName: o.DisplayName, Score: st.GetScore(), Accuracy: int64(st.GetAccuracy()),
			Total: st.GetTotal(), Won: st.GetWon(), Lost: st.GetLost(), Pending: st.GetTotal() - st.GetWon() - st.GetLost() - st.GetVoid(),
			Resolved: st.GetWon() + st.GetLost(), Streak: st.GetStreak(), Tier: string(o.Tier), OperatorType: string(o.Type),
		}
		if o.AvatarURL != "" {
			one.AvatarURL = &o.AvatarURL
		}
		if st.AvgClvBps != nil {
			clv := int64(st.GetAvgClvBps())
			one.AvgClv = &clv
		}
		out = append(out, one)
	}
	return out, nil
}
