package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

func publicAppOf(a grant.App) openapi.PublicApp {
	return openapi.PublicApp{
		AppID: a.ID, Name: a.Name, Homepage: orNull(a.Homepage), LogoURL: orNull(a.LogoURL),
		CreatedAt: syntax.Stamp(a.CreatedAt), Active: a.Active(), Trusted: a.Trusted(),
	}
}

func appOf(a grant.App, secret string) openapi.App {
	return openapi.App{
		AppID: a.ID, ClientID: a.ID, Type: string(a.Kind), Name: a.Name, RedirectUris: a.RedirectURIs, Scopes: a.Scopes.Words(),
		Homepage: orNull(a.Homepage), LogoURL: orNull(a.LogoURL), AllowedResources: append([]string{}, a.AllowedResources...),
		ClientSecret: orNull(secret), Active: a.Active(), CreatedAt: syntax.Stamp(a.CreatedAt),
	}
}

// Of a list that its owner sends; package grant has the limits that are told.
const (
	maxListed = 100
	maxWord   = 4096
)

// registerApp is POST /api/dev/apps.
func (s *server) registerApp(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	d := grant.AppDraft{
		Name: optional(o, "name"), Kind: grant.Kind(optional(o, "type")),
		RedirectURIs: o.Strings("redirectUris", maxListed, maxWord), Scopes: o.Strings("scopes", maxListed, maxWord),
		Homepage: optional(o, "homepage"), LogoURL: optional(o, "logoUrl"),
		AllowedResources: o.Strings("allowedResources", maxListed, maxWord),
	}
	if err := o.Err(); err != nil {
		return asRequest(err)
	}
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	a, secret, err := s.Grants.Register(c.Request().Context(), string(owner.ID), d)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, appOf(a, secret))
}

// listApps is GET /api/dev/apps.
func (s *server) listApps(c echo.Context) error {
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	apps, err := s.Grants.ListApps(c.Request().Context(), string(owner.ID))
	if err != nil {
		return err
	}
	out := openapi.AppList{Apps: make([]openapi.App, 0, len(apps))}
	for _, a := range apps {
		out.Apps = append(out.Apps, appOf(a, ""))
	}
	return web.OK(c, out)
}

// changeApp is PATCH /api/dev/apps/{appId}. Members that are left out stay; an empty
// text takes a homepage or a logo away.
func (s *server) changeApp(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	list := func(name string) *[]string {
		if !o.Has(name) {
			return nil
		}
		words := o.Strings(name, maxListed, maxWord)
		return &words
	}
	change := grant.AppChange{
		Name: o.OptString("name", web.BodyLimit), RedirectURIs: list("redirectUris"), Scopes: list("scopes"),
		Homepage: o.OptString("homepage", web.BodyLimit), LogoURL: o.OptString("logoUrl", web.BodyLimit),
		AllowedResources: list("allowedResources"),
	}
	if err := o.Err(); err != nil {
		return asRequest(err)
	}
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	a, err := s.Grants.ChangeApp(c.Request().Context(), string(owner.ID), c.Param("appId"), change)
	if err != nil {
		return err
	}
	return web.OK(c, appOf(a, ""))
}

// disableApp is DELETE /api/dev/apps/{appId}.
func (s *server) disableApp(c echo.Context) error {
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	if err := s.Grants.DisableApp(c.Request().Context(), string(owner.ID), c.Param("appId")); err != nil {
		return err
	}
	return web.OK(c, openapi.Ok{Ok: true})
}

// renewSecret is POST /api/dev/apps/{appId}/secret.
func (s *server) renewSecret(c echo.Context) error {
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	immediate := o.OptBool("immediate")
	if err := o.Err(); err != nil {
		return asRequest(err)
	}
	owner, err := s.owner(c)
	if err != nil {
		return err
	}
	secret, err := s.Grants.RenewSecret(c.Request().Context(), string(owner.ID), c.Param("appId"), immediate != nil && *immediate)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.RenewAppSecretAnswer{ClientSecret: secret})
}

// trustApp is POST /api/admin/apps/{appId}: whether an administrator has reviewed the app.
func (s *server) trustApp(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	trusted := o.OptBool("trusted")
	if trusted == nil {
		o.Missing("trusted")
	}
	if err := o.Err(); err != nil {
		return err
	}
	id := c.Param("appId")
	var a grant.App
	err = s.audited(c, act{target: id, detail: map[string]bool{"trusted": *trusted}}, func(ctx context.Context) (err error) {
		a, err = s.Grants.Trust(ctx, id, *trusted)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.ReviewedApp{Ok: true, App: publicAppOf(a)})
}

// publicApp is GET P/apps/{appId}.
func (s *server) publicApp(c echo.Context) error {
	a, err := s.Grants.App(c.Request().Context(), c.Param("appId"))
	if err != nil {
		return err
	}
	return tagged(c, publicAppOf(a))
}
