package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// appForm is what an owner says of an app, as a form has it.
type appForm struct {
	Name, Redirects, Homepage, Logo string
	Confidential                    bool
	Scopes                          []scopeTick
	Errors                          map[string]string // by field
}

// scopeTick is a scope with its box.
type scopeTick struct {
	Scope, Word string
	On          bool
}

type appRow struct {
	ID, Name, Kind, Made string
	Confidential, Active bool
	Redirects            []string
	Scopes               []string
	Form                 appForm
	Open                 bool // its form has a mistake
}

// appMistakes says what is wrong with a field to who typed it.
var appMistakes = map[string]string{
	"name":         "A name has 1 to 64 characters, none of them invisible, and no space at its ends.",
	"redirectUris": "1 to 10 different addresses: https, http on 127.0.0.1 or [::1], or a private scheme with a dot such as com.example.app:/cb.",
	"scopes":       "Choose at least one.",
	"homepage":     "An address that begins with https:// and has at most 500 characters, or nothing.",
	"logoUrl":      "An address that begins with https:// and has at most 500 characters, or nothing.",
	"type":         "Choose one of the two.",
}

func ticks(on func(grant.Scope) bool) []scopeTick {
	all := grant.AllScopes()
	out := make([]scopeTick, 0, len(all))
	for _, scope := range all {
		out = append(out, scopeTick{Scope: string(scope), Word: scopeWords[scope].Word, On: on(scope)})
	}
	return out
}

func rowOfApp(a grant.App) appRow {
	r := appRow{
		ID: a.ID, Name: a.Name, Kind: "public", Made: when(a.CreatedAt), Confidential: a.Kind == grant.Confidential, Active: a.Active(),
		Redirects: a.RedirectURIs,
		Form: appForm{
			Name: a.Name, Redirects: strings.Join(a.RedirectURIs, "\n"), Homepage: a.Homepage, Logo: a.LogoURL,
			Confidential: a.Kind == grant.Confidential, Scopes: ticks(a.Scopes.Has),
		},
	}
	if r.Confidential {
		r.Kind = "confidential"
	}
	for _, scope := range a.Scopes {
		r.Scopes = append(r.Scopes, scopeWords[scope].Word)
	}
	return r
}

// draftOf reads the form of an app, and keeps it as it was typed.
func draftOf(form url.Values) (grant.AppDraft, appForm) {
	d := grant.AppDraft{
		Name: strings.TrimSpace(form.Get("name")), Kind: grant.Kind(form.Get("type")), RedirectURIs: strings.Fields(form.Get("redirectUris")),
		Scopes: append([]string{}, form["scope"]...), Homepage: strings.TrimSpace(form.Get("homepage")), LogoURL: strings.TrimSpace(form.Get("logoUrl")),
	}
	chosen := map[string]bool{}
	for _, scope := range d.Scopes {
		chosen[scope] = true
	}
	return d, appForm{
		Name: d.Name, Redirects: strings.TrimSpace(form.Get("redirectUris")), Homepage: d.Homepage, Logo: d.LogoURL,
		Confidential: d.Kind == grant.Confidential, Scopes: ticks(func(s grant.Scope) bool { return chosen[string(s)] }),
	}
}

// mistake notes in the form what the fault is about; false: it is about no field.
func (f *appForm) mistake(err error) bool {
	field := fieldOf(err)
	if field == "" && fault.Of(err).Code == grant.ErrInvalidScope.Code {
		field = "scopes"
	}
	said := appMistakes[field]
	f.Errors = map[string]string{field: said}
	return said != ""
}

// registerApp is POST /dev/apps: the one answer that shows a first secret.
func (s *site) registerApp(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	d, typed := draftOf(form)
	a, secret, err := s.Grants.Register(c.Request().Context(), string(op.ID), d)
	if err != nil {
		if typed.mistake(err) {
			return s.showDev(c, web.Status(fault.Of(err).Kind), op, func(p *devPage) { p.NewApp, p.NewAppOpen = typed, true })
		}
		return s.refused(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) { p.FreshApp = freshApp{ID: a.ID, Name: a.Name, Secret: secret} })
}

// changeApp is POST /dev/apps/change: the whole form but for the kind, which is final.
func (s *site) changeApp(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	d, typed := draftOf(form)
	id := form.Get("app")
	_, err = s.Grants.ChangeApp(c.Request().Context(), string(op.ID), id, grant.AppChange{
		Name: &d.Name, RedirectURIs: &d.RedirectURIs, Scopes: &d.Scopes, Homepage: &d.Homepage, LogoURL: &d.LogoURL,
	})
	if err != nil && typed.mistake(err) {
		return s.showDev(c, web.Status(fault.Of(err).Kind), op, func(p *devPage) {
			for i := range p.Apps {
				if p.Apps[i].ID == id {
					typed.Confidential = p.Apps[i].Confidential
					p.Apps[i].Form, p.Apps[i].Open = typed, true
				}
			}
		})
	}
	if err != nil {
		return err
	}
	return done(c, devPath+"#apps")
}

// renewSecret is POST /dev/apps/secret: the one answer that shows the new secret.
func (s *site) renewSecret(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	id := form.Get("app")
	secret, err := s.Grants.RenewSecret(c.Request().Context(), string(op.ID), id, form.Get("immediate") == "yes")
	if err != nil {
		return s.refused(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) {
		p.FreshApp = freshApp{ID: id, Secret: secret, Renewed: true, AtOnce: form.Get("immediate") == "yes"}
		for _, a := range p.Apps {
			if a.ID == id {
				p.FreshApp.Name = a.Name
			}
		}
	})
}

// disableApp is POST /dev/apps/disable. It is for good, so a box has to be ticked.
func (s *site) disableApp(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	if form.Get("sure") != "yes" {
		return s.showDev(c, http.StatusBadRequest, op, func(p *devPage) { p.Notice = "Nothing was shut down: tick the box first. It is for good." })
	}
	if err := s.Grants.DisableApp(c.Request().Context(), string(op.ID), form.Get("app")); err != nil {
		return err
	}
	return done(c, devPath+"#apps")
}
