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

// CookieTheme is the cookie with the theme of this browser. It identifies no visitor.
const CookieTheme = "sc_theme"

const themeLife = 365 * 24 * time.Hour

// Theme returns the theme that the visitor has chosen, light or dark. It returns "" for the theme of the system.
func Theme(c echo.Context) string {
	cookie, err := c.Cookie(CookieTheme)
	if err != nil || cookie.Value != themeLight && cookie.Value != themeDark {
		return ""
	}
	return cookie.Value
}

// ChangeTheme handles POST /settings/theme. It stores the theme in a cookie and returns to the page that has sent the form, or to
// the home page if the form does not name its page. It needs no session. Errors: ErrCrossOrigin and ErrForm.
func (s *Site) ChangeTheme(c echo.Context) error {
	if !s.OwnPage(c) {
		return ErrCrossOrigin
	}
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	switch theme := form.Get("theme"); theme {
	case themeAuto, themeLight, themeDark:
		s.SetCookie(c, "/", CookieTheme, theme, themeLife)
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
