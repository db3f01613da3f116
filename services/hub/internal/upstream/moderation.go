package upstream

import (
	"context"

	"google.golang.org/grpc"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

// Moderation is the ledger's store of decisions about text.
type Moderation struct {
	client moderationv1.ModerationServiceClient
}

// NewModeration uses a connection to the ledger.
func NewModeration(cc grpc.ClientConnInterface) *Moderation {
	return &Moderation{moderationv1.NewModerationServiceClient(cc)}
}

// Decide implements moderation.Store.
func (m *Moderation) Decide(ctx context.Context, d moderation.Decision) (moderation.Decision, error) {
	r, err := m.client.Decide(ctx, &moderationv1.DecideRequest{Decision: &moderationv1.Decision{
		Kind: d.Kind, Id: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By,
	}})
	if err != nil {
		return moderation.Decision{}, err
	}
	return decisionFrom(r.GetDecision()), nil
}

// Find implements moderation.Store.
func (m *Moderation) Find(ctx context.Context, kind, id string) error {
	_, err := m.client.Find(ctx, &moderationv1.FindRequest{Kind: kind, Id: id})
	return err
}

// List implements moderation.Store.
func (m *Moderation) List(ctx context.Context, limit int) ([]moderation.Decision, error) {
	r, err := m.client.List(ctx, &moderationv1.ListRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]moderation.Decision, 0, len(r.GetDecisions()))
	for _, d := range r.GetDecisions() {
		out = append(out, decisionFrom(d))
	}
	return out, nil
}

// Hidden implements message.Moderation.
func (m *Moderation) Hidden(ctx context.Context, things []message.Thing) ([]bool, error) {
	q := &moderationv1.HiddenRequest{}
	for _, t := range things {
		q.Things = append(q.Things, &moderationv1.Thing{Kind: t.Kind, Id: t.ID})
	}
	r, err := m.client.Hidden(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.GetHidden(), nil
}

func decisionFrom(d *moderationv1.Decision) moderation.Decision {
	return moderation.Decision{Kind: d.GetKind(), ID: d.GetId(), Hidden: d.GetHidden(), Reason: d.GetReason(), By: d.GetBy(), At: at(d.GetAt())}
}
