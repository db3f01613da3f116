package grpcapi

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// CreatePreempt adds an entry that replaces the markets of planned slots with another market. It returns the errors of
// program.Director.Preempt, and market_not_airable for an invalid market ID.
func (s *Program) CreatePreempt(ctx context.Context, r *programv1.CreatePreemptRequest) (*programv1.CreatePreemptResponse, error) {
	id, err := protocol.ParseMarketID(r.GetMarketId())
	if err != nil {
		return nil, program.ErrNotAirable
	}
	d := program.PreemptDraft{Market: id, Lane: r.GetLane(), Slots: int(r.GetSlots()), Reason: r.GetReason()}
	if r.StartsAt != nil {
		d.StartsAt = r.GetStartsAt().AsTime()
	}
	p, err := s.director.Preempt(ctx, d)
	if err != nil {
		return nil, err
	}
	return &programv1.CreatePreemptResponse{Item: s.preempt(&p)}, nil
}

// CancelPreempt cancels an entry that a director has added. Errors: not_found, db_unavailable.
func (s *Program) CancelPreempt(ctx context.Context, r *programv1.CancelPreemptRequest) (*programv1.CancelPreemptResponse, error) {
	if uuid.Validate(r.GetId()) != nil {
		return nil, program.ErrNoPreempt
	}
	p, err := s.director.Cancel(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return &programv1.CancelPreemptResponse{Item: s.preempt(&p)}, nil
}

// ListPreempts returns the entries that directors have added, at most program.MaxPreempts. Error: db_unavailable.
func (s *Program) ListPreempts(ctx context.Context, _ *programv1.ListPreemptsRequest) (*programv1.ListPreemptsResponse, error) {
	list, err := s.director.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &programv1.ListPreemptsResponse{Items: make([]*programv1.Preempt, len(list))}
	for i := range list {
		out.Items[i] = s.preempt(&list[i])
	}
	return out, nil
}

func (s *Program) preempt(p *program.Preempt) *programv1.Preempt {
	return &programv1.Preempt{
		Id: p.ID, Lane: string(p.Lane), MarketId: string(p.Market), StartsAt: timestamppb.New(p.Slot.Start()), Slots: int32(p.Slots),
		Reason: p.Reason, Status: p.Status(s.now()), CreatedAt: timestamppb.New(p.CreatedAt),
	}
}
