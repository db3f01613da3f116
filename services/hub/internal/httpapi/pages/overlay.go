package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// overlayPolicy is the Content-Security-Policy of the overlay, which any site may show in a frame. It allows scripts from this
// host, requests to this host, and the live feed. The overlay has no controls, so framing is safe.
const overlayPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors *; connect-src 'self'"

// Bounds of the query parameter "scale" of the overlay.
const (
	minScale = 0.5
	maxScale = 3
)

var (
	overlayThemes    = []string{"dark", "light", "teletext"} // the first is the default
	overlayPositions = []string{"bl", "br", "tl", "tr"}
)

type overlayPage struct {
	Title, Handle          string
	Theme, Position, Scale string
	HideClock, HidePrice   bool
	Test                   bool // shows a test card instead of the market
}

// overlay handles GET /overlay/{handle}, the overlay page of an operator. It redirects from a former handle to the present one.
// The page depends only on the URL, not on the visitor, and is shown while the ledger is unavailable.
func (s *server) overlay(c echo.Context) error {
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), site.PartsTimeout)
	defer cancel()
	if account, err := s.People.Payouts.Accounts.ByHandle(ctx, handle); err == nil && isFormer(c, account) {
		return redirectFormer(c, account)
	}
	hidden := strings.Split(c.QueryParam("hide"), ",")
	p := overlayPage{
		Title: "@" + string(handle) + " · Signalcast overlay", Handle: string(handle),
		Theme: knownOrFirst(overlayThemes, c.QueryParam("theme")), Position: knownOrFirst(overlayPositions, c.QueryParam("pos")),
		Scale:     scaleOf(c.QueryParam("scale")),
		HideClock: slices.Contains(hidden, "clock"), HidePrice: slices.Contains(hidden, "price"),
		Test: c.QueryParam("test") == "1",
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", overlayPolicy+s.socketSource())
	h.Del("X-Frame-Options")
	return s.Render(c, http.StatusOK, "overlay", p)
}

// knownOrFirst returns word if it is in known, otherwise the first element of known.
func knownOrFirst(known []string, word string) string {
	if slices.Contains(known, word) {
		return word
	}
	return known[0]
}

// scaleOf returns the scale parameter, or 1 if it is invalid or out of bounds.
func scaleOf(raw string) string {
	scale, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(scale >= minScale && scale <= maxScale) { // also rejects NaN
		scale = 1
	}
	return strconv.FormatFloat(scale, 'f', -1, 64)
}

// socketSource returns the origin of the live feed for a Content-Security-Policy, with a leading space. It returns "" without a
// live feed.
func (s *server) socketSource() string {
	if s.socket == "" {
		return ""
	}
	return " " + strings.TrimSuffix(s.socket, "/ws")
}

// embedPolicy is the Content-Security-Policy of the embed, which any site may show in a frame. The embed has no form, no script
// and no data of the visitor, so clickjacking has no effect.
const embedPolicy = "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *"

// embedCalls is the maximum number of calls on the embed.
const embedCalls = 2

type embedPage struct {
	Title, URL             string
	Name, Handle, BotLabel string
	Calls, WinRate, Score  string
	Unavailable            bool
	Recent                 []callRow
}

// embed handles GET /operator/{handle}/embed, the record of an operator for other sites. If the record cannot be read, the embed
// shows that it is unavailable.
func (s *server) embed(c echo.Context, account identityclaim.Account) error {
	ctx := c.Request().Context()
	p := embedPage{
		Title: account.DisplayName + " (@" + string(account.Handle) + ") · Signalcast",
		URL:   s.HubURL + site.PersonPath + string(account.Handle),
		Name:  format.NameOf(account.DisplayName, string(account.Handle)), Handle: string(account.Handle),
		BotLabel: botLabels[account.Type],
	}
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(account.Handle, embedCalls, 0))
	st := r.GetStats()
	p.Unavailable = err != nil
	p.Calls, p.WinRate, p.Score = format.Grouped(st.GetTotal()), "–", format.Signed(int(st.GetScore()))
	if record.Resolved(st) > 0 {
		p.WinRate = format.Digits(int64(st.GetAccuracy())) + "%"
	}
	p.Recent = callsOf(r.GetRecent(), s.marketsOf(ctx, view.List(r.GetRecent(), (*signalv1.Signal).GetMarketId)...))
	h := c.Response().Header()
	h.Set("Content-Security-Policy", embedPolicy)
	h.Del("X-Frame-Options")
	if p.Unavailable {
		httpx.Degrade(c, "record")
	}
	return s.Render(c, http.StatusOK, "embed", p)
}
