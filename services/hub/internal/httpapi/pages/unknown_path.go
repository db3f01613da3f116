package pages

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
)

// machinePaths are the first segments of the paths for programs. Unknown paths below them get the error as JSON.
var machinePaths = []string{"/api/", "/oauth/", "/.well-known/", "/mcp/", "/protocol/"}

// unknownPath is a middleware for requests with an unknown path. If a GET or HEAD request accepts HTML and its path is not below
// machinePaths, it renders the error page, or redirects from the address of a form to the page above it. Other requests get the
// error as JSON.
func (s *server) unknownPath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		r := c.Request()
		isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
		// A parameter that contains a slash has a route, but no resource.
		unknown := errors.Is(err, echo.ErrNotFound) || errors.Is(err, httpx.ErrNotFound) && !c.Response().Committed
		ofForm := errors.Is(err, echo.ErrMethodNotAllowed)
		if !unknown && !ofForm || !isRead || !strings.Contains(r.Header.Get("Accept"), "text/html") ||
			slices.ContainsFunc(machinePaths, func(p string) bool { return strings.HasPrefix(r.URL.Path+"/", p) }) {
			return err
		}
		if ofForm {
			return c.Redirect(http.StatusSeeOther, path.Dir(r.URL.EscapedPath()))
		}
		return s.WithAccount(func(echo.Context) error { return httpx.ErrNotFound })(c)
	}
}

// movedTo returns the handler of the former address of a page.
func movedTo(path string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.Redirect(http.StatusMovedPermanently, path) }
}
