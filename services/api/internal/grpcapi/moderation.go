package grpcapi

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	"github.com/signalcast/signalcast/services/api/internal/moderation"
)

// Moderation implements the gRPC service ModerationService.
type Moderation struct {
	moderationv1.UnimplementedModerationServiceServer
	Store moderation.Store
	Now   func() time.Time
}

var errManyThings = apperr.New(apperr.Invalid, "invalid_request", "a request must have at most 500 objects")

// Decide stores the decision of an administrator to hide or show a text, and applies it. Errors: not_found, db_unavailable.
func (f *Moderation) Decide(ctx context.Context, r *moderationv1.DecideRequest) (*moderationv1.DecideResponse, error) {
	g := r.GetDecision()
	d := moderation.Decision{
		Kind: g.GetKind(), ID: g.GetId(), Hidden: g.GetHidden(), Reason: g.GetReason(), By: g.GetBy(),
		At: f.Now().UTC().Truncate(time.Millisecond),
	}
	if err := checkThing(d.Kind, d.ID); err != nil {
		return nil, err
	}
	if err := f.Store.Moderate(ctx, d); err != nil {
		return nil, err
	}
	author, signal, err := f.Store.Author(ctx, moderation.Thing{Kind: d.Kind, ID: d.ID})
	return &moderationv1.DecideResponse{Decision: decisionTo(d), OperatorId: author, SignalId: signal}, err
}

// Find returns an empty response if the requested signal, event, profile, market or station exists. Errors: not_found,
// db_unavailable.
func (f *Moderation) Find(ctx context.Context, r *moderationv1.FindRequest) (*moderationv1.FindResponse, error) {
	if err := checkThing(r.GetKind(), r.GetId()); err != nil {
		return nil, err
	}
	return &moderationv1.FindResponse{}, f.Store.FindModerated(ctx, r.GetKind(), r.GetId())
}

// List returns the newest decisions, newest first: at most moderation.MaxListed. Error: db_unavailable.
func (f *Moderation) List(ctx context.Context, r *moderationv1.ListRequest) (*moderationv1.ListResponse, error) {
	list, err := f.Store.ListModerated(ctx, bound(r.GetLimit(), moderation.MaxListed, moderation.MaxListed))
	return &moderationv1.ListResponse{Decisions: listOf(list, decisionTo)}, err
}

// Hidden returns, in the order of the request, whether the text of each requested signal, event, profile, market or station is
// hidden. Errors: not_found for an unknown kind or an operator id that is not a UUID, invalid_request for more than
// moderation.MaxThings, db_unavailable.
func (f *Moderation) Hidden(ctx context.Context, r *moderationv1.HiddenRequest) (*moderationv1.HiddenResponse, error) {
	if len(r.GetThings()) > moderation.MaxThings {
		return nil, errManyThings
	}
	things := make([]moderation.Thing, 0, len(r.GetThings()))
	for _, t := range r.GetThings() {
		err := checkThing(t.GetKind(), t.GetId())
		if err == nil && t.GetKind() == "profile" {
			err = uuids(t.GetId())
		}
		if err != nil {
			return nil, err
		}
		things = append(things, moderation.Thing{Kind: t.GetKind(), ID: t.GetId()})
	}
	hidden, err := f.Store.AreHidden(ctx, things)
	return &moderationv1.HiddenResponse{Hidden: hidden}, err
}

// checkThing returns the error not_found for an unknown kind, or for the id of a signal or event that is not a UUID.
func checkThing(kind, id string) error {
	if !slices.Contains(moderation.Kinds[:], kind) {
		return moderation.ErrNotFound
	}
	if kind == "signal" || kind == "event" {
		if uuids(id) != nil {
			return moderation.ErrNotFound
		}
	}
	return nil
}

func decisionTo(d moderation.Decision) *moderationv1.Decision {
	return &moderationv1.Decision{Kind: d.Kind, Id: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By, At: timestamppb.New(d.At)}
}
