package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// appForm has the values and errors of the form that creates or changes an app.
type appForm struct {
	grant.AppDraft
	Redirects string            // redirect URIs as the user typed them
	Errors    map[string]string // error texts by field
}

type appRow struct {
	grant.App
	Form     appForm
	ShowForm bool // the form has an error and is shown open
}

// appErrors has the error texts of the app form, by field.
var appErrors = map[string]string{
	"name": "Enter 1 to 64 visible characters, without the name of this service.",
	"redirectUris": "Enter 1 to 10 different URIs: https, http on 127.0.0.1 or [::1], or a private scheme with a dot such as " +
		"com.example.app:/cb.",
	"scopes":   "Choose at least one scope.",
	"homepage": "Enter a URL that starts with https:// and has at most 500 ASCII characters and no #, or leave it empty.",
	"logoUrl":  "Enter a URL that starts with https:// and has at most 500 ASCII characters and no #, or leave it empty.",
	"type":     "Choose public or confidential.",
}

func rowOfApp(a grant.App) appRow {
	return appRow{App: a, Form: appForm{Redirects: strings.Join(a.RedirectURIs, "\n"), AppDraft: grant.AppDraft{
		Name: a.Name, Kind: a.Kind, Scopes: a.Scopes.Words(), Homepage: a.Homepage, LogoURL: a.LogoURL,
	}}}
}

// draftOf returns the values of a submitted app form.
func draftOf(form url.Values) appForm {
	return appForm{Redirects: strings.TrimSpace(form.Get("redirectUris")), AppDraft: grant.AppDraft{
		Name: strings.TrimSpace(form.Get("name")), Kind: grant.Kind(form.Get("type")),
		RedirectURIs: strings.Fields(form.Get("redirectUris")),
		Scopes:       append([]string{}, form["scope"]...), Homepage: strings.TrimSpace(form.Get("homepage")),
		LogoURL: strings.TrimSpace(form.Get("logoUrl")),
	}}
}

// setError stores the error text of the form field that err names, and reports whether there is one. An invalid scope counts as
// an error of the field "scopes".
func (f *appForm) setError(err error) bool {
	field := fieldOf(err)
	if field == "" && apperr.Of(err).Code == grant.ErrInvalidScope.Code {
		field = "scopes"
	}
	message := appErrors[field]
	f.Errors = map[string]string{field: message}
	return message != ""
}

// fillNewApp sets the values of a submitted form that registers an app.
func fillNewApp(p *devPage, form url.Values) { p.NewApp, p.ShowNewApp = draftOf(form), true }

// fillApp sets the values of a submitted form that changes an app.
func fillApp(p *devPage, form url.Values) { p.showApp(form.Get("app"), draftOf(form)) }

// showApp shows the form of an app with the typed values.
func (p *devPage) showApp(id string, typed appForm) {
	for i := range p.Apps {
		if p.Apps[i].ID == id {
			p.Apps[i].Form, p.Apps[i].ShowForm = typed, true
		}
	}
}

// registerApp handles POST /dev/apps, which registers an app. Only this response shows the client secret.
func (s *server) registerApp(c echo.Context, op operator.Operator, form url.Values) error {
	typed := draftOf(form)
	a, secret, err := s.Grants.Register(c.Request().Context(), string(op.ID), typed.AppDraft)
	if err != nil {
		if typed.setError(err) {
			return s.showDev(c, httpx.Status(apperr.Of(err).Kind), op, func(p *devPage) { p.NewApp, p.ShowNewApp = typed, true })
		}
		return s.showFault(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) { p.AppCreated = createdApp{ID: a.ID, Name: a.Name, Secret: secret} })
}

// changeApp handles POST /dev/apps/change, which replaces the name, redirect URIs, scopes, homepage and logo of an app.
func (s *server) changeApp(c echo.Context, op operator.Operator, form url.Values) error {
	typed, id := draftOf(form), form.Get("app")
	_, err := s.Grants.ChangeApp(c.Request().Context(), string(op.ID), id, grant.AppChange{
		Name: &typed.Name, RedirectURIs: &typed.RedirectURIs, Scopes: &typed.Scopes, Homepage: &typed.Homepage,
		LogoURL: &typed.LogoURL,
	})
	if err != nil && typed.setError(err) {
		return s.showDev(c, httpx.Status(apperr.Of(err).Kind), op, func(p *devPage) { p.showApp(id, typed) })
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, site.DevPath+"#apps")
}

// renewSecret handles POST /dev/apps/secret, which creates a new client secret. Only this response shows the new secret.
func (s *server) renewSecret(c echo.Context, op operator.Operator, form url.Values) error {
	id := form.Get("app")
	secret, err := s.Grants.RenewSecret(c.Request().Context(), string(op.ID), id, form.Get("immediate") == "yes")
	if err != nil {
		return s.showFault(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) {
		p.AppCreated = createdApp{ID: id, Secret: secret, Renewed: true, Immediate: form.Get("immediate") == "yes"}
		for _, a := range p.Apps {
			if a.ID == id {
				p.AppCreated.Name = a.Name
			}
		}
	})
}

// disableApp handles POST /dev/apps/disable, which shuts down an app. This cannot be undone, so a confirmation box must be
// ticked.
func (s *server) disableApp(c echo.Context, op operator.Operator, form url.Values) error {
	if form.Get("sure") != "yes" {
		return s.showDev(c, http.StatusBadRequest, op, func(p *devPage) {
			p.Notice = "The app was not shut down. Tick the box to confirm. This cannot be undone."
		})
	}
	if err := s.Grants.DisableApp(c.Request().Context(), string(op.ID), form.Get("app")); err != nil {
		return err
	}
	return site.Redirect(c, site.DevPath+"#apps")
}

// signerRow is a signing key on the developer page, with the name of its app and its status.
type signerRow struct {
	message.Signer
	App, State string
}

// signerStatusLabels maps the statuses of signing keys to labels.
var signerStatusLabels = map[message.Status]string{
	message.Active: "Active", message.Revoked: "Revoked",
	message.Expired: "Expired",
}

// signersOf returns the signing keys of an operator, with the names of their apps. A key without an app is shown as the own key
// of the operator. If the operator has no grant for the app of a key, the app is shown as deleted.
func (s *server) signersOf(ctx context.Context, op operator.Operator) ([]signerRow, error) {
	list, err := s.Messages.ListSigners(ctx, string(op.ID))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	grants, err := s.Grants.ListGrants(ctx, string(op.ID))
	if err != nil {
		return nil, err
	}
	apps := map[string]string{}
	for _, g := range grants {
		apps[g.App.ID] = g.App.Name
	}
	apps[""] = "None (your own key)"
	rows := make([]signerRow, 0, len(list))
	for _, one := range list {
		rows = append(rows, signerRow{one, cmp.Or(apps[one.AppID], "Deleted app"), signerStatusLabels[one.Status(s.Now())]})
	}
	return rows, nil
}

// shortKey returns the first 8 and the last 6 characters of a public key. A key of less than 16 characters is returned unchanged.
func shortKey(key message.Key) string {
	if len(key) < 16 {
		return string(key)
	}
	return string(key[:8] + "…" + key[len(key)-6:])
}

// revokeSigner handles POST /dev/signers/revoke, which revokes a signing key.
func (s *server) revokeSigner(c echo.Context, op operator.Operator, form url.Values) error {
	if _, err := s.Messages.RevokeSigner(c.Request().Context(), message.Owner{DenpaID: string(op.ID)},
		form.Get("key")); err != nil {
		return err
	}
	return site.Redirect(c, site.DevPath+"#signers")
}
