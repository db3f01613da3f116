package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// grantsOfBearer is GET P/grants: an operator key sees all of its owner's grants,
// an app token its own one.
func (s *server) grantsOfBearer(c echo.Context) error {
	who, ctx := callerOf(c), c.Request().Context()
	if who.Kind == caller.Token {
		list, err := s.Grants.OwnGrant(ctx, principalOf(who))
		return showGrants(c, list, err)
	}
	if err := permit(who, grant.ProfileRead); err != nil {
		return err
	}
	list, err := s.Grants.ListGrants(ctx, userOf(who))
	return showGrants(c, list, err)
}

// grantsOfUser is GET /api/user/grants.
func (s *server) grantsOfUser(c echo.Context) error {
	list, err := s.Grants.ListGrants(c.Request().Context(), userOf(callerOf(c)))
	return showGrants(c, list, err)
}

func showGrants(c echo.Context, list []grant.Listed, err error) error {
	if err != nil {
		return err
	}
	out := openapi.GrantList{Grants: make([]openapi.Grant, 0, len(list))}
	for _, g := range list {
		out.Grants = append(out.Grants, openapi.Grant{
			GrantID: g.ID, App: openapi.Grant_App{AppID: g.App.ID, Name: g.App.Name, LogoURL: orNull(g.App.LogoURL)},
			Scopes: g.Scopes.Words(), Resource: orNull(g.Resource), CreatedAt: syntax.Stamp(g.CreatedAt),
			LastUsedAt: syntax.StampOrNull(g.LastUsedAt), ExpiresAt: syntax.Stamp(g.ExpiresAt),
			RevokedAt: syntax.StampOrNull(g.RevokedAt),
			Signers:   append([]string{}, g.Signers...),
		})
	}
	return web.OK(c, out)
}

// revokeAsBearer is DELETE P/grants/{grantId}.
func (s *server) revokeAsBearer(c echo.Context) error {
	who, ctx := callerOf(c), c.Request().Context()
	if who.Kind == caller.Token {
		return ended(c, s.Grants.RevokeOwnGrant(ctx, principalOf(who), c.Param("grantId")))
	}
	if err := permit(who, grant.SignerCreate); err != nil { // what the permission signal stands for
		return err
	}
	return ended(c, s.Grants.RevokeGrant(ctx, userOf(who), c.Param("grantId"), grant.ByOwner))
}

// revokeAsUser is DELETE /api/user/grants/{grantId}.
func (s *server) revokeAsUser(c echo.Context) error {
	return ended(c, s.Grants.RevokeGrant(c.Request().Context(), userOf(callerOf(c)), c.Param("grantId"), grant.ByUser))
}

func ended(c echo.Context, err error) error {
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Ok{Ok: true})
}
