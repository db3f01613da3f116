package settings

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

var errMissingKeyID = apperr.New(apperr.Invalid, "missing_id", "id is required").With("field", "id")

// MintKey handles POST /api/dev/keys, which creates an operator key. Only this response contains the key.
func (s *Server) MintKey(c echo.Context, o httpx.Object) error {
	label := o.String("label", httpx.BodyLimit, true)
	permissions := o.Strings("permissions", operator.MaxPermissions, httpx.BodyLimit)
	strict := request.OptFlag(o, "strict")
	if err := o.Err(); err != nil {
		return err
	}
	draft, err := operator.NewKeyDraft(label, permissions, strict)
	if err != nil {
		return err
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	r, err := s.Mint(c.Request().Context(), op.ID, draft)
	key := r.GetKey()
	return view.Created(c, openapi.MintedKey{
		Key: r.GetPlaintext(), ID: key.GetId(), Label: key.GetLabel(), Tier: key.GetTier(), Permissions: key.GetPermissions(),
		Strict: key.GetStrict(),
	}, err)
}

// Mint creates an operator key and notifies its owner. It only logs that the owner cannot be notified, because no later answer
// contains the key. Errors: those of the ledger.
func (s *Server) Mint(ctx context.Context, owner operator.ID, draft operator.KeyDraft) (*operatorv1.MintKeyResponse, error) {
	r, err := s.Ledger.OperatorWrites.MintKey(ctx, draft.MintRequest(owner))
	if err != nil {
		return r, err
	}
	key := r.GetKey()
	if err := s.Notices.Notify(ctx, owner, notification.KeyAdded, key.GetId(), key.GetLabel(), s.Now()); err != nil {
		s.Log.WarnContext(ctx, "notification of a key failed", "key", key.GetId(), "error", err)
	}
	return r, nil
}

// ListKeys handles GET /api/dev/keys, the operator keys of the caller without their secrets.
func (s *Server) ListKeys(c echo.Context) error {
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	r, err := s.Ledger.Operators.ListKeys(c.Request().Context(), &operatorv1.ListKeysRequest{OperatorId: string(op.ID)})
	show := func(k *operatorv1.Key) openapi.KeyList_Keys {
		return openapi.KeyList_Keys{
			ID: k.GetId(), Label: k.GetLabel(), Tier: k.GetTier(), Permissions: append([]string{}, k.GetPermissions()...),
			Strict: k.GetStrict(), Active: k.GetActive(), LastUsedAt: ledgerclient.StampOrNull(k.GetLastUsedAt()),
			CreatedAt: ledgerclient.Stamp(k.GetCreatedAt()),
		}
	}
	return view.OK(c, openapi.KeyList{Keys: view.List(r.GetKeys(), show)}, err)
}

// RevokeKey handles DELETE /api/dev/keys?id=, which revokes an operator key with its signers and webhooks.
func (s *Server) RevokeKey(c echo.Context) error {
	raw := c.QueryParam("id")
	if raw == "" {
		return errMissingKeyID
	}
	id, ok := request.ParseUUID(raw)
	if !ok {
		return operator.ErrUnknown
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	key, revoked, err := s.Revoke(c.Request().Context(), op.ID, id)
	return view.OK(c, openapi.RevokedKey{Ok: true, ID: key.GetId(), Active: key.GetActive(), Revoked: revoked}, err)
}

// Revoke revokes a key and its webhooks in the ledger, and then its signers in the database of the hub. If the second step fails,
// a repeated request or the background job for signers completes it. Until then, messages of these signers are already rejected.
// Errors: not_found, and the errors of the stores.
func (s *Server) Revoke(
	ctx context.Context, owner operator.ID, keyID string,
) (*operatorv1.Key, openapi.RevokedKey_Revoked, error) {
	r, err := s.Ledger.OperatorWrites.RevokeKey(ctx, &operatorv1.RevokeKeyRequest{OperatorId: string(owner), KeyId: keyID})
	if err != nil {
		return nil, openapi.RevokedKey_Revoked{}, err
	}
	signers, err := s.Messages.RevokeSignersOf(ctx, r.GetKey().GetId())
	if err != nil {
		return nil, openapi.RevokedKey_Revoked{}, err
	}
	return r.GetKey(), openapi.RevokedKey_Revoked{
		Signers: append([]string{}, signers...), Webhooks: append([]string{}, r.GetWebhooks()...), Grants: []string{},
	}, nil
}
