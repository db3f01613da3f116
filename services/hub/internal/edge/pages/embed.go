package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/record"
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
	p.Machine = machineWords[account.Type]
	if p.Name == "" {
		p.Name = "@" + p.Handle
	}
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, recordOf(account.Handle, embedCalls, 0))
	st := r.GetStats()
	p.Away = err != nil
	p.Calls, p.Right, p.Score = grouped(st.GetTotal()), "–", signed(int(st.GetScore()))
	if record.Resolved(st) > 0 {
		p.Right = digits(int64(st.GetAccuracy())) + "%"
	}
	p.Recent = recentOf(r.GetRecent())
	h := c.Response().Header()
	h.Set("Content-Security-Policy", embedPolicy)
	h.Del("X-Frame-Options")
	if p.Away {
		h.Set("Cache-Control", "no-store")
		h.Set("X-Degraded", "record")
	}
	return s.render(c, http.StatusOK, "embed", p)
}
