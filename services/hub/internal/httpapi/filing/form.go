package filing

import (
	"context"
	"crypto/sha256"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// AppendForm appends the event of a form to a call. members are the members of the body of POST /api/signals/{id}/events, which has
// the same bounds and errors. key identifies the form: if it is sent again, the event is stored once.
func (s *Server) AppendForm(
	ctx context.Context, by operator.ID, signalID string, members map[string]any, key string,
) error {
	o, _, err := bodyOf(members)
	if err != nil {
		return err
	}
	draft, err := readEvent(o, signalID)
	if err != nil {
		return err
	}
	_, err = s.Signals.Append(ctx, operator.Actor{ID: by}, draft, "form "+key)
	return err
}

// FileForm files the call of a form and returns its id. members are members of the body of POST /api/predictions, which has the
// same bounds and errors. The price may be worse than the stated price by at most defaultSlippage. key identifies the form: if it
// is sent again, FileForm returns the id of the stored call.
func (s *Server) FileForm(ctx context.Context, by operator.ID, members map[string]any, key string) (string, error) {
	o, body, err := bodyOf(members)
	if err != nil {
		return "", err
	}
	draft := view.ReadDraft(o, s.Social)
	if err := o.Err(); err != nil {
		return "", err
	}
	slippage, sum := defaultSlippage, sha256.Sum256(body)
	draft.MaxSlippageBps = &slippage
	key = "form " + key // a key of POST /api/predictions has no space
	draft.IdempotencyKey, draft.BodyHash = &key, sum[:]
	filed, err := s.Signals.File(ctx, operator.Actor{ID: by}, draft)
	if err != nil {
		return "", s.withDetails(err, draft)
	}
	return filed.GetId(), nil
}

// bodyOf returns the members of a form as the body of a request with JSON, decoded and as text.
func bodyOf(members map[string]any) (httpx.Object, []byte, error) {
	body, err := httpx.Marshal(members)
	if err != nil {
		return httpx.Object{}, nil, err
	}
	o, err := httpx.DecodeBytes(body)
	return o, body, err
}
