package pages

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// embedPolicy is that of the one page that others may frame. It holds no form, no
// script and nothing of who looks at it, so there is nothing to lure a click to.
const embedPolicy = "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *"

// embedCalls is how many calls fit into the frame.
const embedCalls = 2

type embedPage struct {
	Title, URL, Style, Hub string
	Name, Handle, Machine  string
	Calls, Right, Score    string
	Away                   bool
	Recent                 []recentCall
}

// embed is GET /operator/{handle}/embed.
func (s *site) embed(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	p := embedPage{
		Title: account.DisplayName + " (@" + string(account.Handle) + ") · Signalcast", URL: s.HubURL + personPath + string(account.Handle),
		Style: s.scripts["embed.css"], Hub: s.HubURL, Name: account.DisplayName, Handle: string(account.Handle),
	}
	if account.IsAI() {
		p.Machine = string(account.Type)
	}
	var record board.Record
	if record, err = s.Boards.Record(ctx, account.ID); err != nil {
		p.Away = true
	}
	p.Calls, p.Right, p.Score = strconv.FormatInt(record.Total, 10), strconv.FormatInt(record.Accuracy(), 10)+" %", signed(int(record.Score))
	if feed, err := s.Signals.Feed(ctx, signal.FeedRecent, newest); err == nil {
		p.Recent = recentOf(feed, account.PublicID)
		p.Recent = p.Recent[:min(embedCalls, len(p.Recent))]
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", embedPolicy)
	h.Del("X-Frame-Options")
	if p.Away {
		h.Set("Cache-Control", "no-store")
		h.Set("X-Degraded", "record")
	}
	return s.render(c, http.StatusOK, "embed", p)
}
