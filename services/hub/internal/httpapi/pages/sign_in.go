package pages

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

const (
	signInPath    = "/sign-in"
	signOutPath   = "/sign-out"
	maxReturnPath = 6 << 10 // maximum length of a return path in bytes
)

type signInPage struct {
	layout
	Handle, Provider string
	Login            string // URL of the sign-in at the provider; empty: sign-in is not configured
	Back, BackLabel  string
}

// signInURL returns the path of the sign-in page. back is the path to which the sign-in returns; an invalid path is left out.
func signInURL(back string) string {
	if !isReturnPath(back) {
		return signInPath
	}
	return signInPath + "?" + url.Values{"return_to": {back}}.Encode()
}

// signIn handles GET /sign-in, the page with the link to the identity provider.
func (s *site) signIn(c echo.Context) error {
	setPrivate(c)
	back := c.QueryParam("return_to")
	if !isReturnPath(back) {
		back = profilePath
	}
	if s.isLocalhostAlias(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+signInURL(back))
	}
	v := s.viewer(c)
	if v.err != nil {
		return v.err
	}
	p := signInPage{
		layout: s.newLayout(c, "Sign in", "", ""), Handle: v.handle, Provider: s.Provider, Back: back,
		BackLabel: returnLabel(back),
	}
	p.Unlisted, p.Account.SignInURL = true, "" // the header must not link to this page
	if s.LoginURL != "" {
		p.Login = s.startSignIn(c, back)
	}
	return s.render(c, http.StatusOK, "signin", p)
}

// returnPages are the pages to which a sign-in can return, with their labels. A path that ends in a slash matches paths with one
// more segment. If a label ends in @, this segment is appended to the label.
var returnPages = [...]struct{ path, word string }{
	{profilePath, "your profile"},
	{authorizePath, "the app that asked to connect"},
	{appsPath, "your connected apps"},
	{devPath, "the developer page"},
	{studioPath, "the studio"},
	{marketsPath, "the markets"},
	{personPath, "the profile of @"},
	{marketPath, "the market you were looking at"},
	{receiptPath, "the receipt you were looking at"},
	{livePath, "the broadcast of @"},
}

// returnLabel returns the label of the page with the given address; "" if a sign-in cannot return to that page.
func returnLabel(address string) string {
	path, _, _ := strings.Cut(address, "?")
	for _, r := range returnPages {
		below, ok := strings.CutPrefix(path, r.path)
		if !ok || strings.HasSuffix(r.path, "/") == (below == "") || strings.Contains(below, "/") {
			continue
		}
		if strings.HasSuffix(r.word, "@") {
			return r.word + below
		}
		return r.word
	}
	return ""
}

// signOut handles POST /sign-out, which ends the session and redirects to the sign-in page. With everywhere=yes, it ends every
// session of the operator; without a session, such a request fails.
func (s *site) signOut(c echo.Context) error {
	setPrivate(c)
	if !s.OwnPage(c) {
		return errCrossOrigin
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	s.setCookie(c, devPath, cookieToken, "", expired)
	if err := s.EndSession(c, form.Get("everywhere") == "yes"); err != nil {
		return err
	}
	return redirect(c, signInURL(form.Get("return_to")))
}

// startSignIn sets the state cookie of a sign-in and returns the URL of the sign-in at the provider. back is the path to which
// the sign-in returns.
func (s *site) startSignIn(c echo.Context, back string) string {
	state := rand.Text()
	s.setCookie(c, devPath, cookieState, state, stateLife)
	return s.LoginURL + "?" + url.Values{"return_to": {s.HubURL + back}, "state": {state}}.Encode()
}

// redirectToSignIn redirects to the identity provider. back is the path to which the sign-in returns. A path that is too long is
// replaced with the page of connected apps. If the request uses the alias localhost (see isLocalhostAlias), it redirects to back
// at the public URL first. Without a configured provider, redirectToSignIn returns errNoLogin.
func (s *site) redirectToSignIn(c echo.Context, back string) error {
	if s.LoginURL == "" {
		return errNoLogin
	}
	if s.isLocalhostAlias(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+back)
	}
	if len(back) > maxReturnPath {
		back = appsPath
	}
	return redirect(c, s.startSignIn(c, back))
}

var (
	errNoLogin   = apperr.ErrCredentialMissing.WithText("Sign-in is not configured on this server.")
	errSignedOut = apperr.ErrCredentialMissing.WithText("this page requires a session; sign in")
)

// isReturnPath reports whether a sign-in may return to an address. It accepts only the path and query of a page in returnPages.
func isReturnPath(address string) bool {
	invalid := strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
	path, query, _ := strings.Cut(address, "?")
	if invalid || len(address) > maxReturnPath || strings.Contains(path, "..") {
		return false
	}
	return returnLabel(address) != "" && (path != authorizePath || query != "")
}
