package pages

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// account is what the head of every page says of who looks at it.
type account struct {
	Handle, Face string // empty: nobody is signed in
	Away         bool   // who looks cannot be told right now
	SignIn       string // where a sign-in begins; empty: it cannot
}

const visitKey = "visit"

// visit is who looks at a page, found once for a request.
type visit struct {
	who    grant.Visitor
	handle string
	err    error
}

func (s *site) visit(c echo.Context) visit {
	if v, ok := c.Get(visitKey).(visit); ok {
		return v
	}
	var v visit
	v.who, v.handle, v.err = s.Visitor(c)
	c.Set(visitKey, v)
	return v
}

// headed writes a page so that nobody gets to see another one's head. A page that is
// for everybody goes without the name of somebody who cannot be told.
func (s *site) headed(c echo.Context) {
	h := c.Response().Header()
	h.Add("Vary", "Cookie")
	if v := s.visit(c); v.handle != "" || v.err != nil {
		h.Set("Cache-Control", "private, no-store")
	}
}

// accountOf is the head for whoever looks.
func (s *site) accountOf(c echo.Context) account {
	v := s.visit(c)
	if v.err != nil {
		return account{Away: true}
	}
	a := account{Handle: v.handle, Face: face(v.handle)}
	if v.handle == "" && s.LoginURL != "" {
		// Without what is asked for: a page repeats nothing that an address may carry.
		a.SignIn = signInAt(c.Request().URL.EscapedPath())
	}
	return a
}

// face stands for a picture, which no page of ours loads from elsewhere: the first
// letters of a name.
func face(name string) string {
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

// needed is the visitor of a page that is for people who are signed in; ok is false
// when an answer was given: the way to the sign-in.
func (s *site) needed(c echo.Context, back string) (who visit, ok bool, err error) {
	private(c)
	v := s.visit(c)
	if v.err != nil {
		return v, false, v.err
	}
	if v.who.UserID == "" {
		return v, false, s.signInFirst(c, back)
	}
	return v, true, nil
}

// actor is the visitor whose form of our own pages this is.
func (s *site) actor(c echo.Context) (visit, error) {
	private(c)
	v := s.visit(c)
	if v.err == nil && v.who.UserID == "" {
		v.err = errSignedOut
	}
	return v, v.err
}

// posted is actor with what the form has.
func (s *site) posted(c echo.Context) (visit, url.Values, error) {
	v, err := s.actor(c)
	if err != nil {
		return v, nil, err
	}
	form, err := s.form(c)
	return v, form, err
}

// private keeps a page that belongs to one moment out of caches, and its address, which
// holds what an app has asked for, out of the next request.
func private(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// done leads on from a form.
func done(c echo.Context, to string) error { return c.Redirect(http.StatusSeeOther, to) }
