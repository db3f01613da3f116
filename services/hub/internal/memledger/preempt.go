package memledger

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/fault"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
)

// CreatePreempt keeps an entry; one that begins when another does finds the slot taken.
func (l *Ledger) CreatePreempt(ctx context.Context, r *programv1.CreatePreemptRequest) (*programv1.CreatePreemptResponse, error) {
	return do(ctx, l, "CreatePreempt", func() (*programv1.CreatePreemptResponse, error) {
		p := &programv1.Preempt{
			Id: fmt.Sprintf("0199f0d0-0000-7000-8000-%012d", len(l.Preempts)+1), Lane: r.GetLane(), MarketId: r.GetMarketId(), StartsAt: r.GetStartsAt(),
			Slots: max(r.GetSlots(), 1), Reason: r.GetReason(), Status: "queued", CreatedAt: timestamppb.New(l.Now()),
		}
		if p.StartsAt == nil {
			p.StartsAt = p.CreatedAt
		}
		if slices.ContainsFunc(l.Preempts, func(o *programv1.Preempt) bool { return proto.Equal(o.GetStartsAt(), p.GetStartsAt()) }) {
			return nil, fault.New(fault.Conflict, "slot_taken", "another entry has one of these slots")
		}
		l.Preempts = append(l.Preempts, p)
		return &programv1.CreatePreemptResponse{Item: proto.CloneOf(p)}, nil
	})
}

// CancelPreempt ends an entry.
func (l *Ledger) CancelPreempt(ctx context.Context, r *programv1.CancelPreemptRequest) (*programv1.CancelPreemptResponse, error) {
	return do(ctx, l, "CancelPreempt", func() (*programv1.CancelPreemptResponse, error) {
		for _, p := range l.Preempts {
			if p.GetId() == r.GetId() {
				p.Status = "cancelled"
				return &programv1.CancelPreemptResponse{Item: proto.CloneOf(p)}, nil
			}
		}
		return nil, fault.New(fault.NotFound, "not_found", "no such entry")
	})
}

// ListPreempts lists every entry.
func (l *Ledger) ListPreempts(ctx context.Context, _ *programv1.ListPreemptsRequest) (*programv1.ListPreemptsResponse, error) {
	return do(ctx, l, "ListPreempts", func() (*programv1.ListPreemptsResponse, error) {
		out := &programv1.ListPreemptsResponse{}
		for _, p := range l.Preempts {
			out.Items = append(out.Items, proto.CloneOf(p))
		}
		return out, nil
	})
}
