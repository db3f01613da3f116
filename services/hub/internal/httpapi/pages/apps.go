package pages

import (
	"cmp"
	"net/http"

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
	grant.Listed
	Wants   []want
	Signers []message.Signer // its active ones
	By      string           // why it is over
}

// endings says why a connection is over.
var endings = map[grant.Reason]string{
	grant.ByUser: "you disconnected it", grant.ByOwner: "ended because you revoked a key", grant.ByApp: "the app disconnected itself",
	grant.ByCodeReplay: "ended for safety: its authorization code was used twice", grant.ByRefreshReuse: "ended for safety: its refresh token was used twice",
	grant.ByAppDisabled: "the app was shut down",
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
	under := map[string][]message.Signer{}
	for _, one := range signers {
		if one.Status(s.Now()) == message.Active {
			under[one.GrantID] = append(under[one.GrantID], one)
		}
	}
	p := appsPage{frame: s.frame(c, "Connected apps", "", ""), Handle: v.handle, Never: never}
	p.Unlisted = true
	for _, g := range list {
		row := connection{Listed: g, Wants: wantsOf(g.Scopes), Signers: under[g.ID], By: cmp.Or(endings[g.RevokedBy], "expired")}
		if g.Grant.Active(s.Now()) {
			p.Active = append(p.Active, row)
		} else {
			p.Ended = append(p.Ended, row)
		}
	}
	return s.render(c, http.StatusOK, "apps", p)
}

// disconnect is POST /apps/revoke.
func (s *site) disconnect(c echo.Context) error {
	v, form, err := s.posted(c)
	if err != nil {
		return err
	}
	if err := s.Grants.RevokeGrant(c.Request().Context(), v.who.UserID, form.Get("grant"), grant.ByUser); err != nil {
		return err
	}
	return done(c, appsPath)
}
