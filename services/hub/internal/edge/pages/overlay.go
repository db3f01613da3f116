package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// overlayPolicy is that of the overlay, which others may frame: it runs our script, asks
// our own routes and the live feed, and holds nothing that could be pressed.
const overlayPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *; connect-src 'self'"

// Bounds of the scale of an overlay.
const (
	leastScale = 0.5
	mostScale  = 3
)

var (
	overlayThemes = []string{"dark", "light", "teletext"} // the first is the default
	overlayPlaces = []string{"bl", "br", "tl", "tr"}
)

type overlayPage struct {
	Title, Handle         string
	Style, Script         string
	Library, Line, Socket string
	Theme, Place, Scale   string
	HideClock, HidePrice  bool
}

// overlay is GET /overlay/{handle}. It reads nothing but the address: it stands while the
// databases are away, and knows nothing of who looks.
func (s *site) overlay(c echo.Context) error {
	handle, err := syntax.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	hidden := strings.Split(c.QueryParam("hide"), ",")
	p := overlayPage{
		Title: "@" + string(handle) + " · Signalcast overlay", Handle: string(handle),
		Style: s.scripts["overlay.css"], Script: s.scripts["overlay.js"], Library: s.scripts["signalcast-feed.js"], Line: s.scripts["line.js"], Socket: s.socket,
		Theme: oneOf(overlayThemes, c.QueryParam("theme")), Place: oneOf(overlayPlaces, c.QueryParam("pos")), Scale: scaleOf(c.QueryParam("scale")),
		HideClock: slices.Contains(hidden, "clock"), HidePrice: slices.Contains(hidden, "price"),
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", overlayPolicy+s.socketSource())
	h.Del("X-Frame-Options")
	return s.render(c, http.StatusOK, "overlay", p)
}

// oneOf is the word among the known ones, else the first of them.
func oneOf(known []string, word string) string {
	if slices.Contains(known, word) {
		return word
	}
	return known[0]
}

// scaleOf is a scale within its bounds; what is none is 1.
func scaleOf(raw string) string {
	scale, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(scale >= leastScale && scale <= mostScale) { // NaN is neither
		scale = 1
	}
	return strconv.FormatFloat(scale, 'f', -1, 64)
}

// socketSource is the live feed as a policy names it, with a space before; empty: none.
func (s *site) socketSource() string {
	if s.socket == "" {
		return ""
	}
	return " " + strings.TrimSuffix(s.socket, "/ws")
}
