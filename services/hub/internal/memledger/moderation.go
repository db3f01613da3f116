package memledger

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
)

// Decide keeps a decision about a profile, a call or a market; other things do not exist here.
func (l *Ledger) Decide(ctx context.Context, r *moderationv1.DecideRequest) (*moderationv1.DecideResponse, error) {
	return do(ctx, l, "Decide", func() (*moderationv1.DecideResponse, error) {
		d := r.GetDecision()
		if !l.exists(d.GetKind(), d.GetId()) {
			return nil, ErrNotFound
		}
		d.At = timestamppb.New(l.Now())
		l.Decisions = append([]*moderationv1.Decision{d}, l.Decisions...)
		return &moderationv1.DecideResponse{Decision: d}, nil
	})
}

// Find returns not_found for what Decide does not find.
func (l *Ledger) Find(ctx context.Context, r *moderationv1.FindRequest) (*moderationv1.FindResponse, error) {
	return do(ctx, l, "Find", func() (*moderationv1.FindResponse, error) {
		if !l.exists(r.GetKind(), r.GetId()) {
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

// Hidden reports what the newest decision about each thing is. The id of a profile is that of
// its operator.
func (l *Ledger) Hidden(ctx context.Context, r *moderationv1.HiddenRequest) (*moderationv1.HiddenResponse, error) {
	return do(ctx, l, "Hidden", func() (*moderationv1.HiddenResponse, error) {
		out := &moderationv1.HiddenResponse{}
		for _, t := range r.GetThings() {
			id := t.GetId()
			if t.GetKind() == "profile" {
				id = l.Operators[id].GetHandle()
			}
			newest := slices.IndexFunc(l.Decisions, func(d *moderationv1.Decision) bool { return d.GetKind() == t.GetKind() && d.GetId() == id })
			out.Hidden = append(out.Hidden, newest >= 0 && l.Decisions[newest].GetHidden())
		}
		return out, nil
	})
}

func (l *Ledger) exists(kind, id string) bool {
	switch kind {
	case "profile":
		for _, o := range l.Operators {
			if o.GetHandle() == id {
				return true
			}
		}
	case "signal":
		return slices.ContainsFunc(l.Signals, func(f *Filed) bool { return f.Signal.GetId() == id })
	case "market":
		return l.Markets[id] != nil
	}
	return false
}
