package memledger

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
)

// Decide keeps a decision about a profile; other things do not exist here.
func (l *Ledger) Decide(ctx context.Context, r *moderationv1.DecideRequest) (*moderationv1.DecideResponse, error) {
	return do(ctx, l, "Decide", func() (*moderationv1.DecideResponse, error) {
		d := r.GetDecision()
		if !l.hasProfile(d.GetKind(), d.GetId()) {
			return nil, ErrNotFound
		}
		d.At = timestamppb.New(l.Now())
		l.Decisions = append([]*moderationv1.Decision{d}, l.Decisions...)
		return &moderationv1.DecideResponse{Decision: d}, nil
	})
}

// Find returns not_found for everything but profiles.
func (l *Ledger) Find(ctx context.Context, r *moderationv1.FindRequest) (*moderationv1.FindResponse, error) {
	return do(ctx, l, "Find", func() (*moderationv1.FindResponse, error) {
		if !l.hasProfile(r.GetKind(), r.GetId()) {
			return nil, ErrNotFound
		}
		return &moderationv1.FindResponse{}, nil
	})
}

// List returns all decisions, newest first.
func (l *Ledger) List(ctx context.Context, _ *moderationv1.ListRequest) (*moderationv1.ListResponse, error) {
	return do(ctx, l, "List", func() (*moderationv1.ListResponse, error) {
		return &moderationv1.ListResponse{Decisions: l.Decisions}, nil
	})
}

func (l *Ledger) hasProfile(kind, handle string) bool {
	if kind != "profile" {
		return false
	}
	for _, o := range l.Operators {
		if o.GetHandle() == handle {
			return true
		}
	}
	return false
}
