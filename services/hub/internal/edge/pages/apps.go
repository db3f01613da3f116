package pages

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

type appsPage struct {
	frame
	Handle, Never string
	Active, Ended []connection
}

// connection is one app with what its user lets it do.
type connection struct {
	GrantID, Name         string
	Wants                 []want
	Signers               []signerRow
	Made, Used, Until, By string
}

// endings says why a connection is over.
var endings = map[grant.Reason]string{
	grant.ByUser: "you disconnected it", grant.ByOwner: "ended with one of your keys", grant.ByApp: "the app disconnected itself",
	grant.ByCodeReplay: "ended for safety: its code was used twice", grant.ByRefreshReuse: "ended for safety: its token was used twice",
	grant.ByAppDisabled: "the app was shut down",
}

func (p *appsPage) add(g grant.Listed, signers []signerRow, now time.Time) {
	row := connection{
		GrantID: g.ID, Name: g.App.Name, Wants: wantsOf(g.Scopes), Signers: signers,
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
	v, ok, err := s.needed(c, appsPath)
	if !ok {
		return err
	}
	list, err := s.Grants.ListGrants(c.Request().Context(), v.who.UserID)
	if err != nil {
		return err
	}
	signers, err := s.Messages.ListSigners(c.Request().Context(), v.who.UserID)
	if err != nil {
		return err
	}
	under := map[string][]signerRow{}
	for _, one := range signers {
		if one.Status(s.Now()) == message.Active {
			under[one.GrantID] = append(under[one.GrantID], s.signerRow(one))
		}
	}
	p := appsPage{frame: s.frame(c, "Connected apps", "", ""), Handle: v.handle, Never: never}
	p.Unlisted = true
	for _, g := range list {
		p.add(g, under[g.ID], s.Now())
	}
	return s.render(c, http.StatusOK, "apps", p)
}

// disconnect is POST /apps/revoke.
func (s *site) disconnect(c echo.Context) error {
	v, err := s.actor(c)
	if err != nil {
		return err
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	if err := s.Grants.RevokeGrant(c.Request().Context(), v.who.UserID, form.Get("grant"), grant.ByUser); err != nil {
		return err
	}
	return done(c, appsPath)
}
