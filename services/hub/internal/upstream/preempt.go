package upstream

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// Preempt implements program.Director.
func (p *Programs) Preempt(ctx context.Context, d program.Draft) (program.Preempt, error) {
	r := &programv1.CreatePreemptRequest{MarketId: string(d.MarketID), Lane: d.Lane, Slots: d.Slots, Reason: d.Reason}
	if !d.StartsAt.IsZero() {
		r.StartsAt = timestamppb.New(d.StartsAt)
	}
	got, err := p.write.CreatePreempt(ctx, r)
	return preemptOf(got.GetItem()), away(err)
}

// Cancel implements program.Director.
func (p *Programs) Cancel(ctx context.Context, id string) (program.Preempt, error) {
	got, err := p.write.CancelPreempt(ctx, &programv1.CancelPreemptRequest{Id: id})
	return preemptOf(got.GetItem()), away(err)
}

// Preempts implements program.Director.
func (p *Programs) Preempts(ctx context.Context) ([]program.Preempt, error) {
	got, err := p.read.ListPreempts(ctx, &programv1.ListPreemptsRequest{})
	if err != nil {
		return nil, away(err)
	}
	out := make([]program.Preempt, 0, len(got.GetItems()))
	for _, item := range got.GetItems() {
		out = append(out, preemptOf(item))
	}
	return out, nil
}

// away makes a clock that does not answer the fault of a write.
func away(err error) error {
	if f := fault.Of(err); f != nil && f.Kind == fault.Unavailable && f.Code != "db_unavailable" {
		return program.ErrAway.Wrap(err)
	}
	return err
}

func preemptOf(p *programv1.Preempt) program.Preempt {
	return program.Preempt{
		ID: p.GetId(), Lane: p.GetLane(), MarketID: p.GetMarketId(), StartsAt: at(p.GetStartsAt()), Slots: p.GetSlots(),
		Reason: p.GetReason(), Status: p.GetStatus(), CreatedAt: at(p.GetCreatedAt()),
	}
}
