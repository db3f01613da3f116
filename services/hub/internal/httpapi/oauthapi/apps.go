package oauthapi

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

func publicAppOf(a grant.App) openapi.PublicApp {
	return openapi.PublicApp{
		AppID: a.ID, Name: a.Name, Homepage: httpx.OrNull(a.Homepage), LogoURL: httpx.OrNull(a.LogoURL),
		CreatedAt: protocol.Stamp(a.CreatedAt), Active: a.Active(), Trusted: a.Trusted(),
	}
}

func appOf(a grant.App, secret string) openapi.App {
	return openapi.App{
		AppID: a.ID, ClientID: a.ID, Type: string(a.Kind), Name: a.Name, RedirectUris: a.RedirectURIs, Scopes: a.Scopes.Words(),
		Homepage: httpx.OrNull(a.Homepage), LogoURL: httpx.OrNull(a.LogoURL),
		AllowedResources: append([]string{}, a.AllowedResources...),
		ClientSecret:     httpx.OrNull(secret), Active: a.Active(), CreatedAt: protocol.Stamp(a.CreatedAt),
	}
}

// RegisterApp handles POST /api/dev/apps, which registers an app of the developer. Only this response contains the client secret.
func (s *Server) RegisterApp(c echo.Context, o httpx.Object) error {
	d := grant.AppDraft{
		Name: request.Optional(o, "name"), Kind: grant.Kind(request.Optional(o, "type")),
		RedirectURIs: o.Strings("redirectUris", request.MaxListed, request.MaxWord),
		Scopes:       o.Strings("scopes", request.MaxListed, request.MaxWord),
		Homepage:     request.Optional(o, "homepage"), LogoURL: request.Optional(o, "logoUrl"),
		AllowedResources: o.Strings("allowedResources", request.MaxListed, request.MaxWord),
	}
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	a, secret, err := s.Grants.Register(c.Request().Context(), string(op.ID), d)
	return view.Created(c, appOf(a, secret), err)
}

// ListApps handles GET /api/dev/apps, the apps of the developer.
func (s *Server) ListApps(c echo.Context) error {
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	apps, err := s.Grants.ListApps(c.Request().Context(), string(op.ID))
	show := func(a grant.App) openapi.App { return appOf(a, "") }
	return view.OK(c, openapi.AppList{Apps: view.List(apps, show)}, err)
}

// ChangeApp handles PATCH /api/dev/apps/{appId}, which changes an app of the developer. Members that are missing in the body do
// not change. An empty string deletes a homepage or logo.
func (s *Server) ChangeApp(c echo.Context, o httpx.Object) error {
	list := func(name string) *[]string {
		if !o.Has(name) {
			return nil
		}
		values := o.Strings(name, request.MaxListed, request.MaxWord)
		return &values
	}
	change := grant.AppChange{
		Name: o.OptString("name", httpx.BodyLimit), RedirectURIs: list("redirectUris"), Scopes: list("scopes"),
		Homepage: o.OptString("homepage", httpx.BodyLimit), LogoURL: o.OptString("logoUrl", httpx.BodyLimit),
		AllowedResources: list("allowedResources"),
	}
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	a, err := s.Grants.ChangeApp(c.Request().Context(), string(op.ID), c.Param("appId"), change)
	return view.OK(c, appOf(a, ""), err)
}

// DisableApp handles DELETE /api/dev/apps/{appId}, which shuts down an app of the developer.
func (s *Server) DisableApp(c echo.Context) error {
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	return view.OK(c, openapi.Ok{Ok: true}, s.Grants.DisableApp(c.Request().Context(), string(op.ID), c.Param("appId")))
}

// RenewSecret handles POST /api/dev/apps/{appId}/secret, which creates a new client secret. If the member "immediate" is true,
// the old secret stops working at once.
func (s *Server) RenewSecret(c echo.Context, o httpx.Object) error {
	immediate := request.OptFlag(o, "immediate")
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	secret, err := s.Grants.RenewSecret(c.Request().Context(), string(op.ID), c.Param("appId"), immediate)
	return view.OK(c, openapi.RenewAppSecretAnswer{ClientSecret: secret}, err)
}

// TrustApp handles POST /api/admin/apps/{appId}. It sets whether an administrator has reviewed the app.
func (s *Server) TrustApp(c echo.Context, o httpx.Object) error {
	trusted := o.Bool("trusted")
	if err := o.Err(); err != nil {
		return err
	}
	id := c.Param("appId")
	act := request.AdminAction{Target: id, Detail: map[string]bool{"trusted": trusted}}
	a, err := request.Audited(c, s.Audits, act, func(ctx context.Context) (grant.App, error) {
		return s.Grants.Trust(ctx, id, trusted)
	})
	return view.OK(c, openapi.ReviewedApp{Ok: true, App: publicAppOf(a)}, err)
}

// PublicApp handles GET /api/protocol/v1/apps/{appId}, the public data of an app.
func (s *Server) PublicApp(c echo.Context) error {
	a, err := s.Grants.App(c.Request().Context(), c.Param("appId"))
	return view.Tagged(c, publicAppOf(a), err)
}

// ListGrants handles GET /api/protocol/v1/grants, and GET /api/user/grants for a session. It returns all grants of the caller.
// With an app token, it returns only the token's grant.
func (s *Server) ListGrants(c echo.Context) error {
	who, ctx := request.Caller(c), c.Request().Context()
	if who.Kind == caller.Token {
		list, err := s.Grants.OwnGrant(ctx, grant.PrincipalOf(who))
		return showGrants(c, list, err)
	}
	if who.Kind != caller.Session {
		if err := grant.Permit(who, grant.ProfileRead); err != nil {
			return err
		}
	}
	list, err := s.Grants.ListGrants(ctx, who.UserID())
	return showGrants(c, list, err)
}

func showGrants(c echo.Context, list []grant.Listed, err error) error {
	return view.OK(c, openapi.GrantList{Grants: view.List(list, func(g grant.Listed) openapi.Grant {
		return openapi.Grant{
			GrantID: g.ID, App: openapi.Grant_App{AppID: g.App.ID, Name: g.App.Name, LogoURL: httpx.OrNull(g.App.LogoURL)},
			Scopes: g.Scopes.Words(), Resource: httpx.OrNull(g.Resource), CreatedAt: protocol.Stamp(g.CreatedAt),
			LastUsedAt: protocol.StampOrNull(g.LastUsedAt), ExpiresAt: protocol.Stamp(g.ExpiresAt),
			RevokedAt: protocol.StampOrNull(g.RevokedAt),
			Signers:   append([]string{}, g.Signers...),
		}
	})}, err)
}

// RevokeGrant handles DELETE /api/protocol/v1/grants/{grantId}, and DELETE /api/user/grants/{grantId} for a session. With an app
// token, it revokes only the token's grant.
func (s *Server) RevokeGrant(c echo.Context) error {
	who, ctx, id := request.Caller(c), c.Request().Context(), c.Param("grantId")
	var err error
	switch who.Kind {
	case caller.Token:
		err = s.Grants.RevokeOwnGrant(ctx, grant.PrincipalOf(who), id)
	case caller.Session:
		err = s.Grants.RevokeGrant(ctx, who.UserID(), id, grant.ByUser)
	default:
		if err = grant.Permit(who, grant.SignerCreate); err == nil { // keys with the permission signal pass this check
			err = s.Grants.RevokeGrant(ctx, who.UserID(), id, grant.ByOwner)
		}
	}
	return view.OK(c, openapi.Ok{Ok: true}, err)
}
