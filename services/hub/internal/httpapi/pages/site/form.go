package site

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Expired is the lifetime that makes the browser delete a cookie.
const Expired = -time.Second

// ErrCrossOrigin is the error of a form that a page of another origin has sent.
var ErrCrossOrigin = apperr.New(apperr.Forbidden, "forbidden",
	"This form was not sent from this site. Reload the page and try again.")

// ErrFormExpired is the error of a form without the token of the visitor, for example because the visitor has signed in again.
var ErrFormExpired = apperr.New(apperr.Forbidden, "forbidden", "This page was open too long. Check and send again.")

const maxForm = 16 << 10 // maximum size of a form in bytes

// ErrForm is the error of a form that cannot be decoded.
var ErrForm = apperr.New(apperr.Invalid, "invalid_body", "The form is invalid. Reload the page and try again.")

// ErrFormSize is the error of a form that is larger than maxForm.
var ErrFormSize = apperr.New(apperr.Invalid, "invalid_body", "The form has more than 16 KiB. Shorten its texts.")

// CookieLogin is the cookie with the identity token of the developer page.
const CookieLogin = "db_dev"

// TokenOf returns the token that the forms of the visitor carry in the field csrf; "" without a session and without an identity
// token.
func (s *Site) TokenOf(c echo.Context) string { return s.FormToken(c, loginOf(c)) }

func loginOf(c echo.Context) string {
	cookie, err := c.Cookie(CookieLogin)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// CheckToken checks that a form has the token of the visitor. Error: ErrFormExpired.
func (s *Site) CheckToken(c echo.Context, form url.Values) error {
	if s.IsFormToken(c, loginOf(c), form.Get("csrf")) {
		return nil
	}
	return ErrFormExpired
}

// IsExpired reports whether an error is ErrFormExpired. The handler should then show the form again, with its values.
func IsExpired(err error) bool {
	f := apperr.Of(err)
	return f != nil && f.Message == ErrFormExpired.Message
}

// Form returns the values of the form of a request. Only the fields in lists may have several values; other repeated fields are
// invalid. Errors: ErrForm, ErrFormSize.
func (s *Site) Form(c echo.Context, lists ...string) (url.Values, error) {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, ErrFormSize
		}
		return nil, ErrForm
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && !slices.Contains(lists, name) {
			return nil, ErrForm
		}
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, ErrForm
			}
		}
	}
	return r.PostForm, nil
}

// SetCookie sets a cookie that scripts cannot read. The lifetime Expired deletes the cookie.
func (s *Site) SetCookie(c echo.Context, path, name, value string, life time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}
