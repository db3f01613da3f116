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

// returnPages are the pages to which a sign-in can return, with their labels and the names of their query fields. A path that
// ends in a slash, other than /, matches paths with one more segment, such as a handle. If a label ends in @, this segment is
// appended to the label.
var returnPages = [...]struct{ path, word, fields string }{
	{"/", "the home page", ""},
	{ProfilePath, "your profile", ""},
	{SettingsPath, "your settings", ""},
	{ReportPath, "your report", "subject"},
	{WelcomePath, "the welcome page", "return_to"},
	{AuthorizePath, "the app that asked to connect", ""},
	{AppsPath, "your connected apps", ""},
	{DevPath, "the developer page", ""},
	{StudioPath, "the studio", ""},
	{NotificationsPath, "your notifications", "cursor"},
	{FollowingPath, "the forecasters that you follow", "before people"},
	{NotificationSettingsPath, "your notification settings", ""},
	{MarketsPath, "the markets", "q lane closed sort cursor watching"},
	{OwnPersonPath, "your calls", ""},
	{PersonPath, "the profile of @", "state before"},
	{MarketPath, "the market you were looking at", "interval side"},
	{ReceiptPath, "the receipt you were looking at", ""},
	{LivePath, "the broadcast of @", "show"},
	{"/live", "the live broadcasts", ""},
	{"/board", "the leaderboard", "order operators window lane"},
	{"/feed", "the live feed", "of lane"},
	{"/search", "your search", "q"},
	{"/compare", "the comparison", "a b"},
	{"/network", "the network", ""},
	{"/pulse", "the activity of the service", ""},
	{"/tip/", "the wallet address of @", ""},
	{"/clips/", "the clip you were looking at", ""},
	{"/docs", "the API reference", ""},
	{"/about", "the page about Signalcast", ""},
	{"/privacy", "the privacy page", ""},
	{"/terms", "the terms", ""},
	{"/status", "the status page", ""},
}

// returnPage returns the label and the query fields of the page with the given path. The label is empty if a sign-in cannot return
// to that page.
func returnPage(path string) (label string, fields []string) {
	for _, r := range returnPages {
		below, ok := strings.CutPrefix(path, r.path)
		hasSegment := strings.HasSuffix(r.path, "/") && r.path != "/"
		if !ok || hasSegment == (below == "") || strings.Contains(below, "/") {
			continue
		}
		if label = r.word; strings.HasSuffix(label, "@") {
			label += below
		}
		return label, strings.Fields(r.fields)
	}
	return "", nil
}

// ReturnLabel returns the label of the page with the given address; "" if a sign-in cannot return to that page.
func ReturnLabel(address string) string {
	path, _, _ := strings.Cut(address, "?")
	label, _ := returnPage(path)
	return label
}

const maxReturnField = 512 // maximum length of the value of a query field in bytes

// ReturnPath returns the path and query of a page, as the link "Sign in" of that page uses it. It keeps only the query fields
// that the page has, with values of at most maxReturnField bytes. A link from another site can therefore not put any other text
// into the page.
func ReturnPath(u *url.URL) string {
	path, sent, query := u.EscapedPath(), u.Query(), url.Values{}
	_, fields := returnPage(path)
	for _, name := range fields {
		if value := sent.Get(name); value != "" && len(value) <= maxReturnField {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
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
