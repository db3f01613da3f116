package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

type signInPage struct {
	site.Layout
	Handle, Provider string
	Login            string // URL of the sign-in at the provider; empty: sign-in is not configured
	Back, BackLabel  string
}

// signIn handles GET /sign-in, the page with the link to the identity provider.
func (s *server) signIn(c echo.Context) error {
	site.SetPrivate(c)
	back := c.QueryParam("return_to")
	if !site.IsReturnPath(back) {
		back = site.ProfilePath
	}
	if s.IsLocalhostAlias(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+site.SignInURL(back))
	}
	v := s.Viewer(c)
	if v.Err != nil {
		return v.Err
	}
	p := signInPage{
		Layout: s.NewLayout(c, "Sign in", "", ""), Handle: v.Handle, Provider: s.Provider, Back: back,
		BackLabel: site.ReturnLabel(back),
	}
	p.Unlisted, p.Account.SignInURL = true, "" // the header must not link to this page
	p.Login = s.StartSignIn(c, back)
	return s.Render(c, http.StatusOK, "signin", p)
}

// signOut handles POST /sign-out, which ends the session and redirects to the sign-in page.
func (s *server) signOut(c echo.Context) error {
	site.SetPrivate(c)
	if !s.OwnPage(c) {
		return site.ErrCrossOrigin
	}
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	if v := s.Viewer(c); v.Handle != "" {
		if err := s.CheckToken(c, form); err != nil {
			return err
		}
	}
	s.SetCookie(c, site.DevPath, site.CookieLogin, "", site.Expired)
	s.DropDraft(c)
	if err := s.EndSession(c, false); err != nil {
		return err
	}
	return site.Redirect(c, site.SignInURL(form.Get("return_to")))
}
