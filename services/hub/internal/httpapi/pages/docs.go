package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/market"
)

const docsPath = "/docs"

// docsPolicy lets the reader run and read the document, and draw the pictures that
// stand in its style as data. It knows no other exception.
var docsPolicy = strings.Replace(policy, "img-src 'self'", "img-src 'self' data:", 1) + "; script-src 'self'; connect-src 'self'"

// docsPage is the reference of the API.
type docsPage struct {
	frame
	Document string // address of the API description
}

// docs is GET /docs: the reference, which Swagger UI renders from the API description.
func (s *site) docs(c echo.Context) error {
	p := docsPage{
		frame:    s.frame(c, "Reference", "All operations of the API.", docsPath),
		Document: "/docs/openapi.json",
	}
	p.Wide, p.Here, p.Kind, p.Look = true, "docs", "website", "swagger-ui.css"
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

const guidesPath = "/docs/guide"

// cacheGuides lets a browser keep a guide for a while; it changes with a release alone.
const cacheGuides = "public, max-age=300"

// firstGuide is GET /docs/guide. The pages link to each other by their names alone, so
// the first one has to be shown inside of their folder.
func (s *site) firstGuide(c echo.Context) error {
	return c.Redirect(http.StatusFound, guidesPath+"/")
}

// guides is GET /docs/guide/ and GET /docs/guide/{file}. The pages were made when the
// service started and are whole documents, the same for all readers.
func (s *site) guides(c echo.Context) error {
	if s.Guides == nil {
		return market.ErrUnknown
	}
	f, ok := s.Guides.File(c.Param("file"))
	if !ok {
		return market.ErrUnknown
	}
	h := c.Response().Header()
	h.Set("ETag", f.Tag)
	h.Set("X-Content-Type-Options", "nosniff")
	if f.Script { // it is the site's own and sends no requests
		h.Set("Content-Security-Policy", policy+"; script-src 'self'")
	}
	for _, line := range c.Request().Header.Values("If-None-Match") {
		if strings.Contains(line, f.Tag) || strings.TrimSpace(line) == "*" {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, f.Type, f.Body)
}
