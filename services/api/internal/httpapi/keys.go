package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/reader"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// mintKey handles POST /api/v1/agent/keys, a deprecated route that mints operator keys. It accepts only a token of an
// identity provider. Errors: unauthenticated, identity_provider_unavailable, rate_limited, and the errors of
// operator.Service.Mint.
func (s *Server) mintKey(c echo.Context) error {
	c.Response().Header().Set("Deprecation", "true")
	ctx := c.Request().Context()
	token, err := bearer(c)
	if err != nil {
		return err
	}
	if !protocol.IsJWT(token) {
		return wrongCredential(token, "an access token of the identity provider (Authorization: Bearer <JWT>)")
	}
	identity, err := s.Login(ctx, token)
	if err != nil {
		return err
	}
	reader.Authenticated(c)
	limit := s.Sessions.Allow(ctx, identity.LimitID())
	limit.SetHeaders(c.Response().Header())
	if err := limit.Fault(); err != nil {
		return err
	}
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	label := body.String("label", httpx.BodyLimit, true)
	permissions := body.Strings("permissions", 3, httpx.BodyLimit)
	strict := body.OptBool("strict")
	if err := body.Err(); err != nil {
		return err
	}
	if permissions != nil && len(permissions) == 0 {
		return operator.ErrPermissions
	}
	owner, _, err := s.Operators.SignIn(ctx, identity)
	if err != nil {
		return err
	}
	plaintext, key, err := s.Operators.Mint(ctx, owner.ID, label, operator.PrefixAgent, permissions, strict != nil && *strict)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusCreated, openapi.MintedKey{
		Key: plaintext, ID: key.ID, Label: key.Label, Tier: key.Tier, Permissions: key.Permissions, Strict: key.Strict,
	})
}
