package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type mintedKeyJSON struct {
	Key         string   `json:"key"`
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Tier        string   `json:"tier"`
	Permissions []string `json:"permissions"`
	Strict      bool     `json:"strict"`
}

type keyListJSON struct {
	Keys []keyJSON `json:"keys"`
}

type keyJSON struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Tier        string   `json:"tier"`
	Permissions []string `json:"permissions"`
	Strict      bool     `json:"strict"`
	Active      bool     `json:"active"`
	LastUsedAt  *string  `json:"lastUsedAt"`
	CreatedAt   string   `json:"createdAt"`
}

type revokedKeyJSON struct {
	OK      bool        `json:"ok"`
	ID      string      `json:"id"`
	Active  bool        `json:"active"`
	Revoked revokedJSON `json:"revoked"`
}

// revokedJSON lists what ended with a key. Grants are given by sessions only, so none can
// have been made with a key.
type revokedJSON struct {
	Signers  []string `json:"signers"`
	Webhooks []string `json:"webhooks"`
	Grants   []string `json:"grants"`
}

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
	plaintext, key, err := s.operators.MintKey(c.Request().Context(), owner.ID, draft)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, mintedKeyJSON{
		Key: plaintext, ID: key.ID, Label: key.Label, Tier: key.Tier, Permissions: key.Permissions, Strict: key.Strict,
	})
}

// listKeys is GET /api/dev/keys.
func (s *server) listKeys(c echo.Context) error {
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	keys, err := s.operators.ListKeys(c.Request().Context(), owner.ID)
	if err != nil {
		return err
	}
	out := keyListJSON{Keys: make([]keyJSON, 0, len(keys))}
	for _, k := range keys {
		out.Keys = append(out.Keys, keyJSON{
			ID: k.ID, Label: k.Label, Tier: k.Tier, Permissions: append([]string{}, k.Permissions...), Strict: k.Strict, Active: k.Active,
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
	return web.OK(c, revokedKeyJSON{OK: true, ID: key.ID, Active: key.Active, Revoked: revoked})
}

// revoke revokes a key and its webhooks in the ledger, then its signers here. When the
// second step fails, the same request completes it, and so does the sweep of signers; no
// message of such a signer is accepted meanwhile. Faults: not_found, and those of the
// stores.
func (s *server) revoke(ctx context.Context, owner operator.ID, keyID string) (operator.Key, revokedJSON, error) {
	key, webhooks, err := s.operators.RevokeKey(ctx, owner, keyID)
	if err != nil {
		return operator.Key{}, revokedJSON{}, err
	}
	signers, err := s.messages.RevokeSignersOf(ctx, key.ID)
	if err != nil {
		return operator.Key{}, revokedJSON{}, err
	}
	return key, revokedJSON{
		Signers: append([]string{}, signers...), Webhooks: append([]string{}, webhooks...), Grants: []string{},
	}, nil
}
