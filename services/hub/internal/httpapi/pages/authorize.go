package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

type consentPage struct {
	site.Layout
	grant.Consent
	Handle, Initials    string
	AppHost             string
	Permissions         []permission
	AppLimits, Duration string
	Destination         string
	KnownHost           bool   // the redirect URI has the same host as the homepage of the app
	ReturnPath          string // path and query of this page, for the return after a sign-in with another account
}

// authorize handles GET /protocol/authorize, the consent page of an authorization request. It redirects to the app if no consent
// is needed, and to the sign-in without a session.
func (s *server) authorize(c echo.Context) error {
	site.SetPrivate(c)
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return grant.ErrInvalidRequest.WithText("The app sent an invalid authorization request. Go back to the app and start again.")
	}
	v := s.Viewer(c)
	who := v.Session
	if v.Err != nil {
		return v.Err
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
		return s.RedirectToSignIn(c, site.AuthorizePath+"?"+c.Request().URL.RawQuery)
	}
	c.Response().Header().Set("Content-Security-Policy", consentPolicy(a.Consent.RedirectURI))
	return s.Render(c, http.StatusOK, "consent", s.consentPage(c, *a.Consent, v.Handle))
}

// consentPolicy returns the Content-Security-Policy of the consent page. Browsers apply form-action to all redirects after a
// form, and the redirect URI of the app may redirect further. Therefore, the policy allows all https URLs and all URLs with the
// scheme of the redirect URI.
func consentPolicy(redirectURI string) string {
	scheme, _, _ := strings.Cut(redirectURI, ":")
	allowed := "form-action 'self' https:"
	if scheme = strings.ToLower(scheme); scheme != "https" {
		allowed += " " + scheme + ":"
	}
	return strings.Replace(site.Policy, "form-action 'self'", allowed, 1)
}

func (s *server) consentPage(c echo.Context, a grant.Consent, handle string) consentPage {
	p := consentPage{
		Layout: s.NewLayout(c, "Connect "+a.App.Name, "", ""), Consent: a, Handle: handle, Initials: format.Initials(handle),
		Permissions: permissionsOf(a.Scopes), AppLimits: appLimits, Duration: duration(a.App, a.Scopes, s.Now()),
		Destination: destination(a.RedirectURI), ReturnPath: c.Request().URL.RequestURI(),
	}
	p.Unlisted, p.WithoutScripts = true, true
	if u, err := url.Parse(a.App.Homepage); err == nil {
		p.AppHost = u.Host
		p.KnownHost = p.AppHost != "" && p.AppHost == p.Destination
	}
	return p
}

// destination returns a readable name of the target of a redirect URI: a host, a local program or a local app. It returns an
// invalid URI unchanged.
func destination(redirectURI string) string {
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

// decide handles POST /protocol/authorize, the decision of the visitor on the consent page. It redirects to the app.
func (s *server) decide(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	if v.Session.UserID != "" {
		if err := s.CountConsent(c, v.Session); err != nil {
			return err
		}
	}
	if err != nil && !site.IsExpired(err) { // the field request is a token, valid once and for this visitor only
		return err
	}
	decision := form.Get("decision")
	if !form.Has("request") || decision != "approve" && decision != "deny" {
		return site.ErrCrossOrigin
	}
	to, err := s.Grants.Decide(c.Request().Context(), v.Session, form.Get("request"), decision == "approve")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}
