package site

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// The themes of pages.
const (
	themeAuto  = "auto" // the theme of the system
	themeLight = "light"
	themeDark  = "dark"
)

// Cookies with the choices of this browser. They identify no visitor.
const (
	CookieTheme = "sc_theme"
	CookieKeys  = "sc_keys" // "off": the key / does not move the focus to the search field
)

const themeLife = 365 * 24 * time.Hour

// Theme returns the theme that the visitor has chosen, light or dark. It returns "" for the theme of the system.
func Theme(c echo.Context) string {
	cookie, err := c.Cookie(CookieTheme)
	if err != nil || cookie.Value != themeLight && cookie.Value != themeDark {
		return ""
	}
	return cookie.Value
}

// WithoutShortcut reports whether the visitor has switched off the key / of the search field.
func WithoutShortcut(c echo.Context) bool {
	cookie, err := c.Cookie(CookieKeys)
	return err == nil && cookie.Value == "off"
}

// ChangeTheme handles POST /settings/theme. It stores the theme, or the switch of the key /, in a cookie and returns to the page that
// has sent the form, or to the home page if the form does not name its page. It needs no session. Errors: ErrCrossOrigin and ErrForm.
func (s *Site) ChangeTheme(c echo.Context) error {
	if !s.OwnPage(c) {
		return ErrCrossOrigin
	}
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	theme, keys := form.Get("theme"), form.Get("keys")
	switch {
	case slices.Contains([]string{themeAuto, themeLight, themeDark}, theme) && keys == "":
		s.SetCookie(c, "/", CookieTheme, theme, themeLife)
	case (keys == "on" || keys == "off") && theme == "":
		s.SetCookie(c, "/", CookieKeys, keys, themeLife)
	default:
		return ErrForm
	}
	return Redirect(c, s.refererPath(c.Request()))
}

// refererPath returns the path and query of the page of this hub that has sent a form, or "/". The page of a form that failed has the
// address of the form, which is no page; its path is cut until it is that of a page.
func (s *Site) refererPath(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Scheme+"://"+u.Host != s.Origin || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") {
		return "/"
	}
	page := u.Path
	for !s.isPage(page) {
		page = path.Dir(page)
	}
	if page != u.Path {
		return page
	}
	return u.RequestURI()
}

// isPage reports whether a path is that of a page.
func (s *Site) isPage(address string) bool {
	return address == "/" || slices.ContainsFunc(s.Pages, func(pattern string) bool {
		ok, err := path.Match(pattern, address)
		return ok && err == nil
	})
}
