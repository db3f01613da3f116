package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

const docsPath = "/docs"

// docsPolicy lets the reader run and read the document, and draw the pictures that
// stand in its style as data. It knows no other exception.
var docsPolicy = strings.Replace(policy, "img-src 'self'", "img-src 'self' data:", 1) + "; script-src 'self'; connect-src 'self'"

// docsPage is the contract to read.
type docsPage struct {
	frame
	Document        string // what the reader reads
	Reader, Starter string // addresses of its scripts
}

// docs is GET /docs: the reference, which a vendored reader makes of the description.
func (s *site) docs(c echo.Context) error {
	p := docsPage{
		frame:    s.frame(c, "Reference", "Every operation of the protocol.", docsPath),
		Document: "/docs/openapi.json", Reader: s.scripts["swagger-ui-bundle.js"], Starter: s.scripts["docs.js"],
	}
	p.Wide, p.Here, p.Kind, p.Look = true, "docs", "website", s.scripts["swagger-ui.css"]
	c.Response().Header().Set("Content-Security-Policy", docsPolicy)
	return s.render(c, http.StatusOK, "docs", p)
}

// docsFolder is GET /docs/. The reference has one address, without a slash.
func (s *site) docsFolder(c echo.Context) error {
	to := docsPath
	if query := c.Request().URL.RawQuery; query != "" {
		to += "?" + query
	}
	return c.Redirect(http.StatusPermanentRedirect, to)
}
