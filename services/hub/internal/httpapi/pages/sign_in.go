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
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
	maxReturn   = 6 << 10 // of an address that a sign-in leads back to
)

type signInPage struct {
	frame
	Handle, Provider string
	Login            string // where the provider signs people in; empty: sign-in is not configured
	Back, BackWord   string
}

// signInAt is the page that leads to a provider and back to an address of ours.
func signInAt(back string) string {
	if !leadsBack(back) {
		return signInPath
	}
	return signInPath + "?" + url.Values{"return_to": {back}}.Encode()
}

// signIn is GET /sign-in.
func (s *site) signIn(c echo.Context) error {
	private(c)
	back := c.QueryParam("return_to")
	if !leadsBack(back) {
		back = profilePath
	}
	if s.otherName(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+signInAt(back))
	}
	v := s.visit(c)
	if v.err != nil {
		return v.err
	}
	p := signInPage{frame: s.frame(c, "Sign in", "", ""), Handle: v.handle, Provider: s.Provider, Back: back, BackWord: backWord(back)}
	p.Unlisted, p.Account.SignIn = true, "" // this is it
	if s.LoginURL != "" {
		p.Login = s.begin(c, back)
	}
	return s.render(c, http.StatusOK, "signin", p)
}

// returns are the pages that a sign-in may lead back to, with the words for each. An address that ends in a slash stands for
// those of one segment below it, and a word that ends in @ for the name of the segment as well.
var returns = [...]struct{ path, word string }{
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

// backWord returns the words for the page at an address; empty: no sign-in leads to the path.
func backWord(address string) string {
	path, _, _ := strings.Cut(address, "?")
	for _, r := range returns {
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

// signOut is POST /sign-out: it ends the session, or with everywhere=yes every session of
// the operator, and leads to the sign-in. The first works without a session, too.
func (s *site) signOut(c echo.Context) error {
	private(c)
	if !s.OwnPage(c) {
		return errForeign
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	s.setCookie(c, devPath, cookieToken, "", ended)
	if err := s.EndSession(c, form.Get("everywhere") == "yes"); err != nil {
		return err
	}
	return done(c, signInAt(form.Get("return_to")))
}

// begin marks the browser as one that began a sign-in, and gives the address at which
// it goes on.
func (s *site) begin(c echo.Context, back string) string {
	state := rand.Text()
	s.setCookie(c, devPath, cookieState, state, stateLife)
	return s.LoginURL + "?" + url.Values{"return_to": {s.HubURL + back}, "state": {state}}.Encode()
}

// signInFirst leads to the provider and from there back to an address of ours.
func (s *site) signInFirst(c echo.Context, back string) error {
	if s.LoginURL == "" {
		return errNoLogin
	}
	if s.otherName(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+back)
	}
	if len(back) > maxReturn {
		back = appsPath
	}
	return done(c, s.begin(c, back))
}

var (
	errNoLogin   = apperr.New(apperr.Unauthenticated, "unauthenticated", "Sign-in is not configured here.")
	errSignedOut = apperr.New(apperr.Unauthenticated, "unauthenticated", "")
)

// leadsBack tells whether a sign-in may lead to an address: a page of ours, and no
// form or route for programs.
func leadsBack(address string) bool {
	odd := strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
	path, query, _ := strings.Cut(address, "?")
	if odd || len(address) > maxReturn || strings.Contains(path, "..") {
		return false
	}
	return backWord(address) != "" && (path != authorizePath || query != "")
}
