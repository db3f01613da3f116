package pages

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// account is the state of the visitor that the page header shows.
type account struct {
	Handle, Initials string // empty without a session
	Unavailable      bool   // the session could not be checked
	SignInURL        string // empty: sign-in is not possible
}

const viewerKey = "viewer"

// viewer is the visitor of a page. err is set if the session could not be checked.
type viewer struct {
	session grant.Visitor
	handle  string
	err     error
}

// viewer returns the visitor of a request. It checks the session only once for each request.
func (s *site) viewer(c echo.Context) viewer {
	if v, ok := c.Get(viewerKey).(viewer); ok {
		return v
	}
	var v viewer
	v.session, v.handle, v.err = s.Visitor(c)
	c.Set(viewerKey, v)
	return v
}

// setCacheHeaders adds Vary: Cookie. It forbids caching if the page shows the account of the visitor, or if the session could not
// be checked.
func (s *site) setCacheHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Add("Vary", "Cookie")
	if v := s.viewer(c); v.handle != "" || v.err != nil {
		h.Set("Cache-Control", "private, no-store")
	}
}

// accountOf returns the state of the visitor that the page header shows.
func (s *site) accountOf(c echo.Context) account {
	v := s.viewer(c)
	if v.err != nil {
		return account{Unavailable: true}
	}
	a := account{Handle: v.handle, Initials: initials(v.handle)}
	if v.handle == "" && s.LoginURL != "" {
		// The query is left out: a page must not repeat untrusted text of its URL.
		a.SignInURL = signInURL(c.Request().URL.EscapedPath())
	}
	return a
}

// initials returns up to two initials of a name. Pages show them instead of a picture, because the Content-Security-Policy
// forbids images of other hosts.
func initials(name string) string {
	letters := ""
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, r := range word {
			letters += string(unicode.ToUpper(r))
			break
		}
		if len([]rune(letters)) == 2 {
			break
		}
	}
	return letters
}

// requireViewer returns the visitor of a page that requires a session. Without a session, it redirects to the sign-in; back is
// the path that opens afterwards. If ok is false, the handler must return err, because the request is already answered or has
// failed.
func (s *site) requireViewer(c echo.Context, back string) (who viewer, ok bool, err error) {
	setPrivate(c)
	v := s.viewer(c)
	if v.err != nil {
		return v, false, v.err
	}
	if v.session.UserID == "" {
		return v, false, s.redirectToSignIn(c, back)
	}
	return v, true, nil
}

// formViewer returns the visitor who sent a form, and disables caching of the response. Errors: unauthenticated without a
// session, and the errors of the method viewer, such as forbidden for a form from another origin.
func (s *site) formViewer(c echo.Context) (viewer, error) {
	setPrivate(c)
	v := s.viewer(c)
	if v.err == nil && v.session.UserID == "" {
		v.err = errSignedOut
	}
	return v, v.err
}

// readForm returns the visitor who sent a form, and the values of the form. Errors: the errors of formViewer, and invalid_body.
func (s *site) readForm(c echo.Context) (viewer, url.Values, error) {
	v, err := s.formViewer(c)
	if err != nil {
		return v, nil, err
	}
	form, err := s.form(c)
	return v, form, err
}

// setPrivate prevents caching of a page and keeps its URL out of the Referer header. The URL can have the parameters of an
// authorization request.
func setPrivate(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// redirect answers a form with a redirect to a path (303 See Other).
func redirect(c echo.Context, to string) error { return c.Redirect(http.StatusSeeOther, to) }
