package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

var errMissingKeyID = fault.New(fault.Invalid, "missing_id", "id is required").With("field", "id")

// mintKey is POST /api/dev/keys.
func (s *server) mintKey(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	label := o.String("label", web.BodyLimit, true)
	permissions := o.Strings("permissions", operator.MaxPermissions, web.BodyLimit)
	strict := o.OptBool("strict")
	if err := o.Err(); err != nil {
		return err
	}
	draft, err := operator.NewKeyDraft(label, permissions, strict != nil && *strict)
	if err != nil {
		return err
	}
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	plaintext, key, err := s.Operators.MintKey(c.Request().Context(), owner.ID, draft)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.MintedKey{
		Key: plaintext, ID: key.ID, Label: key.Label, Tier: key.Tier, Permissions: key.Permissions, Strict: key.Strict,
	})
}

// listKeys is GET /api/dev/keys.
func (s *server) listKeys(c echo.Context) error {
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	keys, err := s.Operators.ListKeys(c.Request().Context(), owner.ID)
	if err != nil {
		return err
	}
	out := openapi.KeyList{Keys: make([]openapi.KeyList_Keys, 0, len(keys))}
	for _, k := range keys {
		out.Keys = append(out.Keys, openapi.KeyList_Keys{
			ID: k.ID, Label: k.Label, Tier: k.Tier, Permissions: append([]string{}, k.Permissions...), Strict: k.Strict,
			Active:     k.Active,
			LastUsedAt: syntax.StampOrNull(k.LastUsedAt), CreatedAt: syntax.Stamp(k.CreatedAt),
		})
	}
	return web.OK(c, out)
}

// revokeKey is DELETE /api/dev/keys?id=.
func (s *server) revokeKey(c echo.Context) error {
	raw := c.QueryParam("id")
	if raw == "" {
		return errMissingKeyID
	}
	id, ok := parseUUID(raw)
	if !ok {
		return operator.ErrUnknown
	}
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	key, revoked, err := s.revoke(c.Request().Context(), owner.ID, id)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.RevokedKey{Ok: true, ID: key.ID, Active: key.Active, Revoked: revoked})
}

// revoke revokes a key and its webhooks in the ledger, then its signers here. When the
// second step fails, the same request completes it, and so does the sweep of signers; no
// message of such a signer is accepted meanwhile. Faults: not_found, and those of the
// stores.
func (s *server) revoke(ctx context.Context, owner operator.ID, keyID string) (operator.Key, openapi.RevokedKey_Revoked, error) {
	key, webhooks, err := s.Operators.RevokeKey(ctx, owner, keyID)
	if err != nil {
		return operator.Key{}, openapi.RevokedKey_Revoked{}, err
	}
	signers, err := s.Messages.RevokeSignersOf(ctx, key.ID)
	if err != nil {
		return operator.Key{}, openapi.RevokedKey_Revoked{}, err
	}
	return key, openapi.RevokedKey_Revoked{
		Signers: append([]string{}, signers...), Webhooks: append([]string{}, webhooks...), Grants: []string{},
	}, nil
}
