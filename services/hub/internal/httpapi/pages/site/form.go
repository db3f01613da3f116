package site

import (
	"net/http"
	"net/url"
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

const maxForm = 16 << 10 // maximum size of a form in bytes

// ErrForm is the error of a form that cannot be decoded.
var ErrForm = apperr.New(apperr.Invalid, "invalid_body", "The form is invalid. Reload the page and try again.")

// Form returns the values of the form of a request. Error: ErrForm.
func (s *Site) Form(c echo.Context) (url.Values, error) {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, ErrForm
	}
	for _, values := range r.PostForm {
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
