package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
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
	Title, Handle        string
	Theme, Place, Scale  string
	HideClock, HidePrice bool
}

// overlay is GET /overlay/{handle}. It reads nothing but the address: it stands while the
// databases are away, and knows nothing of who looks.
func (s *site) overlay(c echo.Context) error {
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	hidden := strings.Split(c.QueryParam("hide"), ",")
	p := overlayPage{
		Title: "@" + string(handle) + " · Signalcast overlay", Handle: string(handle),
		Theme: oneOf(overlayThemes, c.QueryParam("theme")), Place: oneOf(overlayPlaces, c.QueryParam("pos")),
		Scale:     scaleOf(c.QueryParam("scale")),
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

// embedPolicy is that of the one page that others may frame. It holds no form, no
// script and nothing of who looks at it, so there is nothing to lure a click to.
const embedPolicy = "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *"

// embedCalls is how many calls fit into the frame.
const embedCalls = 2

type embedPage struct {
	Title, URL            string
	Name, Handle, Machine string
	Calls, Right, Score   string
	Away                  bool
	Recent                []callRow
}

// embed is GET /operator/{handle}/embed.
func (s *site) embed(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	p := embedPage{
		Title: account.DisplayName + " (@" + string(account.Handle) + ") · Signalcast",
		URL:   s.HubURL + personPath + string(account.Handle),
		Name:  nameOf(account.DisplayName, string(account.Handle)), Handle: string(account.Handle),
		Machine: machineWords[account.Type],
	}
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(account.Handle, embedCalls, 0))
	st := r.GetStats()
	p.Away = err != nil
	p.Calls, p.Right, p.Score = grouped(st.GetTotal()), "–", signed(int(st.GetScore()))
	if record.Resolved(st) > 0 {
		p.Right = digits(int64(st.GetAccuracy())) + "%"
	}
	p.Recent = callsOf(r.GetRecent())
	h := c.Response().Header()
	h.Set("Content-Security-Policy", embedPolicy)
	h.Del("X-Frame-Options")
	if p.Away {
		httpx.Degrade(c, "record")
	}
	return s.render(c, http.StatusOK, "embed", p)
}
