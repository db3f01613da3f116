package pages

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

type appsPage struct {
	site.Layout
	Handle, AppLimits string
	Active, Ended     []connection
}

// connection is an entry of the page with the connected apps: a grant that the visitor has given to an app.
type connection struct {
	grant.Listed
	Permissions []permission
	Signers     []message.Signer // active signers of the app
	EndReason   string           // why the grant has ended
}

// endReasons maps the reasons why a grant has ended to texts for the user.
var endReasons = map[grant.Reason]string{
	grant.ByUser: "Disconnected by you", grant.ByOwner: "Disconnected with your API key", grant.ByApp: "Disconnected by the app",
	grant.ByCodeReplay:   "Security: the authorization code was used twice",
	grant.ByRefreshReuse: "Security: the refresh token was used twice",
	grant.ByAppDisabled:  "The app was shut down",
}

// apps handles GET /settings/apps, the page with the connected apps of the visitor.
func (s *server) apps(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.AppsPath)
	if !ok {
		return err
	}
	list, err := s.Grants.ListGrants(c.Request().Context(), v.Session.UserID)
	if err != nil {
		return err
	}
	signers, err := s.Messages.ListSigners(c.Request().Context(), v.Session.UserID)
	if err != nil {
		return err
	}
	byGrant := map[string][]message.Signer{}
	for _, one := range signers {
		if one.Status(s.Now()) == message.Active {
			byGrant[one.GrantID] = append(byGrant[one.GrantID], one)
		}
	}
	p := appsPage{Layout: s.NewLayout(c, "Connected apps", "", ""), Handle: v.Handle, AppLimits: appLimits}
	p.Unlisted = true
	for _, g := range list {
		row := connection{
			Listed: g, Permissions: permissionsOf(g.Scopes), Signers: byGrant[g.ID],
			EndReason: cmp.Or(endReasons[g.RevokedBy], "Expired"),
		}
		if g.Grant.Active(s.Now()) {
			p.Active = append(p.Active, row)
		} else {
			p.Ended = append(p.Ended, row)
		}
	}
	return s.Render(c, http.StatusOK, "apps", p)
}

// disconnect handles POST /apps/revoke, which revokes the grant of an app.
func (s *server) disconnect(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	if err := s.Grants.RevokeGrant(c.Request().Context(), v.Session.UserID, form.Get("grant"), grant.ByUser); err != nil {
		return err
	}
	return site.Redirect(c, site.AppsPath)
}
