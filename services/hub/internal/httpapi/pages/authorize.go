package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

const (
	authorizePath = "/protocol/authorize"
	appsPath      = "/apps"
)

type consentPage struct {
	frame
	grant.Consent
	Handle, Face string
	AppHost      string
	Wants        []want
	Never, Lasts string
	Destination  string
	Known        bool   // the answer goes to the app's own homepage
	Here         string // address of this page, to return to after a sign-in with another account
}

// authorize is GET /protocol/authorize.
func (s *site) authorize(c echo.Context) error {
	private(c)
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return grant.ErrInvalidRequest.Say("The app sent an invalid authorization request.")
	}
	v := s.visit(c)
	who := v.who
	if v.err != nil {
		return v.err
	}
	if who.UserID != "" {
		if err := s.CountConsent(c, who); err != nil {
			return err
		}
	}
	a, err := s.Grants.Authorize(c.Request().Context(), query, who)
	switch {
	case err != nil:
		return err
	case a.Redirect != "":
		return c.Redirect(http.StatusSeeOther, a.Redirect)
	case a.SignIn:
		return s.signInFirst(c, authorizePath+"?"+c.Request().URL.RawQuery)
	}
	c.Response().Header().Set("Content-Security-Policy", policyTowards(a.Consent.RedirectURI))
	return s.render(c, http.StatusOK, "consent", s.consentPage(c, *a.Consent, v.handle))
}

// policyTowards lets the form of the consent page end where the app wants its answer.
// Browsers hold every redirect behind a form to form-action, and the app's own page
// may lead on, so it names schemes and no hosts.
func policyTowards(redirectURI string) string {
	scheme, _, _ := strings.Cut(redirectURI, ":")
	allowed := "form-action 'self' https:"
	if scheme = strings.ToLower(scheme); scheme != "https" {
		allowed += " " + scheme + ":"
	}
	return strings.Replace(policy, "form-action 'self'", allowed, 1)
}

func (s *site) consentPage(c echo.Context, a grant.Consent, handle string) consentPage {
	p := consentPage{
		frame: s.frame(c, "Connect "+a.App.Name, "", ""), Consent: a, Handle: handle, Face: face(handle),
		Wants: wantsOf(a.Scopes), Never: never, Lasts: duration(a.App, a.Scopes, s.Now()), Destination: destinationOf(a.RedirectURI), Here: c.Request().URL.RequestURI(),
	}
	p.Unlisted = true
	if u, err := url.Parse(a.App.Homepage); err == nil {
		p.AppHost = u.Host
		p.Known = p.AppHost != "" && p.AppHost == p.Destination
	}
	return p
}

// destinationOf says where the answer goes in what people know of an address.
func destinationOf(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
		return redirectURI
	case u.Scheme == "https":
		return u.Host
	case u.Scheme == "http":
		return "a program on this device"
	}
	return "the app " + u.Scheme + " on this device"
}

// decide is POST /protocol/authorize.
func (s *site) decide(c echo.Context) error {
	private(c)
	v, err := s.actor(c)
	if err != nil {
		return err
	}
	who := v.who
	if err := s.CountConsent(c, who); err != nil {
		return err
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	decision := form["decision"]
	if len(form["request"]) != 1 || len(decision) != 1 || decision[0] != "approve" && decision[0] != "deny" {
		return errForeign
	}
	to, err := s.Grants.Decide(c.Request().Context(), who, form.Get("request"), decision[0] == "approve")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}
