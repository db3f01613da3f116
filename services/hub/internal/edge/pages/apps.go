package pages

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

type appsPage struct {
	frame
	Handle        string
	Active, Ended []connection
}

// connection is one app with what its user lets it do.
type connection struct {
	GrantID, Name         string
	Wants                 []want
	Signers               int
	Made, Used, Until, By string
}

// endings says why a connection is over.
var endings = map[grant.Reason]string{
	grant.ByUser: "you disconnected it", grant.ByOwner: "ended with one of your keys", grant.ByApp: "the app disconnected itself",
	grant.ByCodeReplay: "ended for safety: its code was used twice", grant.ByRefreshReuse: "ended for safety: its token was used twice",
	grant.ByAppDisabled: "the app was shut down",
}

func (p *appsPage) add(g grant.Listed, now time.Time) {
	row := connection{
		GrantID: g.ID, Name: g.App.Name, Wants: wantsOf(g.Scopes), Signers: len(g.Signers),
		Made: when(g.CreatedAt), Used: "never", Until: when(g.ExpiresAt), By: "it ran out",
	}
	if !g.LastUsedAt.IsZero() {
		row.Used = when(g.LastUsedAt)
	}
	if g.Grant.Active(now) {
		p.Active = append(p.Active, row)
		return
	}
	if said := endings[g.RevokedBy]; said != "" {
		row.By = said
	}
	p.Ended = append(p.Ended, row)
}

// connected is GET /apps.
func (s *site) connected(c echo.Context) error {
	private(c)
	who, handle, err := s.Visitor(c)
	if err != nil {
		return err
	}
	if who.UserID == "" {
		return s.signInFirst(c, appsPath)
	}
	list, err := s.Grants.ListGrants(c.Request().Context(), who.UserID)
	if err != nil {
		return err
	}
	p := appsPage{frame: s.frame("Connected apps", "", ""), Handle: handle}
	p.Unlisted = true
	for _, g := range list {
		p.add(g, s.Now())
	}
	return s.render(c, http.StatusOK, "apps", p)
}

// disconnect is POST /apps/revoke.
func (s *site) disconnect(c echo.Context) error {
	private(c)
	who, _, err := s.Visitor(c)
	if err != nil {
		return err
	}
	if who.UserID == "" {
		return errSignedOut
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	if err := s.Grants.RevokeGrant(c.Request().Context(), who.UserID, form.Get("grant"), grant.ByUser); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, appsPath)
}
