package memledger

import (
	"context"

	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
)

// GetDay answers what the test put there.
func (l *Ledger) GetDay(ctx context.Context, r *digestv1.GetDayRequest) (*digestv1.GetDayResponse, error) {
	return do(ctx, l, "GetDay", func() (*digestv1.GetDayResponse, error) {
		l.LastDay = r
		if l.Day == nil {
			return &digestv1.GetDayResponse{}, nil
		}
		return l.Day, nil
	})
}
