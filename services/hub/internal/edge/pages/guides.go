package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/market"
)

const guidesPath = "/docs/guide"

// cacheGuides lets a browser keep a guide for a while; it changes with a release alone.
const cacheGuides = "public, max-age=300"

// firstGuide is GET /docs/guide. The pages link to each other by their names alone, so
// the first one has to be shown inside of their folder.
func (s *site) firstGuide(c echo.Context) error {
	return c.Redirect(http.StatusFound, guidesPath+"/")
}

// guides is GET /docs/guide/ and GET /docs/guide/{page}. The pages were made when the
// service started and are whole documents: they know nobody and ask nothing.
func (s *site) guides(c echo.Context) error {
	if s.Guides == nil {
		return market.ErrUnknown
	}
	f, ok := s.Guides.File(c.Param("page"))
	if !ok {
		return market.ErrUnknown
	}
	h := c.Response().Header()
	h.Set("ETag", f.Tag)
	h.Set("X-Content-Type-Options", "nosniff")
	if f.Script { // of the site's own, which asks nobody
		h.Set("Content-Security-Policy", policy+"; script-src 'self'")
	}
	for _, line := range c.Request().Header.Values("If-None-Match") {
		if strings.Contains(line, f.Tag) || strings.TrimSpace(line) == "*" {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, f.Type, f.Body)
}
