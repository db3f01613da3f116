package site

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// CookieState is the cookie with the state of the sign-in that this browser has started.
const CookieState = "db_dev_state"

const (
	stateLife     = 15 * time.Minute
	maxReturnPath = 6 << 10 // maximum length of a return path in bytes
)

// SignInURL returns the path of the sign-in page. back is the path to which the sign-in returns; an invalid path is left out.
func SignInURL(back string) string {
	if !IsReturnPath(back) {
		return SignInPath
	}
	return SignInPath + "?" + url.Values{"return_to": {back}}.Encode()
}

// returnPages are the pages to which a sign-in can return, with their labels. A path that ends in a slash matches paths with one
// more segment. If a label ends in @, this segment is appended to the label.
var returnPages = [...]struct{ path, word string }{
	{ProfilePath, "your profile"},
	{SettingsPath, "your settings"},
	{ReportPath, "your report"},
	{WelcomePath, "the welcome page"},
	{AuthorizePath, "the app that asked to connect"},
	{AppsPath, "your connected apps"},
	{DevPath, "the developer page"},
	{StudioPath, "the studio"},
	{NotificationsPath, "your notifications"},
	{FollowingPath, "the forecasters that you follow"},
	{NotificationSettingsPath, "your notification settings"},
	{MarketsPath, "the markets"},
	{PersonPath, "the profile of @"},
	{MarketPath, "the market you were looking at"},
	{ReceiptPath, "the receipt you were looking at"},
	{LivePath, "the broadcast of @"},
}

// ReturnLabel returns the label of the page with the given address; "" if a sign-in cannot return to that page.
func ReturnLabel(address string) string {
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

// StartSignIn sets the state cookie of a sign-in and returns the URL of the sign-in at the provider. back is the path to which
// the sign-in returns. With a mail server, it asks for the e-mail address of the visitor. Without a configured provider, it
// returns "".
func (s *Site) StartSignIn(c echo.Context, back string) string {
	if s.LoginURL == "" {
		return ""
	}
	state := rand.Text()
	s.SetCookie(c, DevPath, CookieState, state, stateLife)
	to := s.LoginURL + "?" + url.Values{"return_to": {s.HubURL + back}, "state": {state}}.Encode()
	if s.Email.Enabled {
		to += "&scope=openid%20email"
	}
	return to
}

// RedirectToSignIn redirects to the identity provider. back is the path to which the sign-in returns. A path that is too long is
// replaced with the page of connected apps. If the request uses the alias localhost (see IsLocalhostAlias), it redirects to back
// at the public URL first. Without a configured provider, RedirectToSignIn returns errNoLogin.
func (s *Site) RedirectToSignIn(c echo.Context, back string) error {
	if s.LoginURL == "" {
		return errNoLogin
	}
	if s.IsLocalhostAlias(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+back)
	}
	if len(back) > maxReturnPath {
		back = AppsPath
	}
	return Redirect(c, s.StartSignIn(c, back))
}

var errNoLogin = apperr.ErrCredentialMissing.WithText("Sign-in is not configured on this server.")

// ErrSignedOut is the error of a form or of a page that requires a session.
var ErrSignedOut = apperr.ErrCredentialMissing.WithText("this page requires a session; sign in")

// IsReturnPath reports whether a sign-in may return to an address. It accepts only the path and query of a page in returnPages.
func IsReturnPath(address string) bool {
	invalid := strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
	path, query, _ := strings.Cut(address, "?")
	if invalid || len(address) > maxReturnPath || strings.Contains(path, "..") {
		return false
	}
	return ReturnLabel(address) != "" && (path != AuthorizePath || query != "")
}

// IsLocalhostAlias reports whether a request uses the host name localhost although the public URL has 127.0.0.1. The sign-in
// returns to 127.0.0.1, where the cookies of localhost are not sent.
func (s *Site) IsLocalhostAlias(r *http.Request) bool {
	_, port, ok := strings.Cut(r.Host, "localhost:")
	return ok && !s.Secure && s.Origin == "http://127.0.0.1:"+port
}
