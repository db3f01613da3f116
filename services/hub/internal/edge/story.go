package edge

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// story is GET /s/{eventKey}: it leads on to the market that leads the situation
// of an event. Who asks for JSON gets a fault as JSON, a person gets a page.
func (s *server) story(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Vary", "Accept")
	id, err := s.stories.lead(c.Request().Context(), c.Param("eventKey"))
	switch {
	case id != "":
		if err != nil {
			s.markDegraded(c, web.Source(err))
		}
		return c.Redirect(http.StatusFound, "/m/"+string(id))
	case err == nil:
		err = market.ErrUnknown
	}
	if accept := c.Request().Header.Get("Accept"); strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		return err
	}
	header.Set("Cache-Control", cacheNever)
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	switch fault.Of(err).Kind {
	case fault.NotFound:
		return c.HTML(http.StatusNotFound, note("Nothing moves here", "No market of this event has moved lately."))
	case fault.Unavailable:
		header.Set("Retry-After", "1")
		return c.HTML(http.StatusServiceUnavailable, note("One moment", "What moves cannot be read right now. Try again shortly."))
	}
	return err // logged and written in the one shape
}

// note is a page of two sentences, which need no escaping.
func note(heading, text string) string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="robots" content="noindex"><title>` + heading + ` · Signalcast</title></head>
<body><h1>` + heading + `</h1><p>` + text + `</p></body></html>
`
}
