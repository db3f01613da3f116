package pages

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type settingsPage struct {
	site.Layout
	Handle  string
	Devices []deviceRow
	Notice  string
}

// deviceRow is a session of the visitor.
type deviceRow struct {
	ID               int64 // second at which the session was issued, as Unix time
	Browser, Address string
	StartedAt        string
	UsedAt           time.Time
	Current          bool // the session of this request
}

// settingsNotices maps values of the query parameter "done" to the messages that the page shows after a change.
var settingsNotices = map[string]string{"revoked": "The device is signed out."}

// settings handles GET /settings, the account page of the visitor with the devices that are signed in.
func (s *server) settings(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.SettingsPath)
	if !ok {
		return err
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	devices := site.ReadPart(g, "devices", func(ctx context.Context) ([]caller.StoredSession, error) {
		return s.Sessions.List(ctx, operator.ID(v.Session.UserID))
	})
	unavailable := g.Wait()
	p := settingsPage{
		Layout: s.NewLayout(c, "Settings", "", ""), Handle: v.Handle, Notice: settingsNotices[c.QueryParam("done")],
		Devices: deviceRows(devices.Value, s.SessionStart(c)),
	}
	p.Unavailable, p.Unlisted = unavailable, true
	return s.RenderParts(c, g, http.StatusOK, "settings", p)
}

func deviceRows(list []caller.StoredSession, current time.Time) []deviceRow {
	rows := make([]deviceRow, 0, len(list))
	for _, one := range list {
		rows = append(rows, deviceRow{
			ID: one.IssuedAt.Unix(), Browser: one.Device.Browser, Address: one.Device.Address,
			StartedAt: format.When(one.SignedInAt), UsedAt: one.UsedAt, Current: one.IssuedAt.Equal(current),
		})
	}
	return rows
}

// revokeSession handles POST /settings/sessions/revoke, which signs out one device of the visitor. An unknown device changes nothing.
func (s *server) revokeSession(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	issued, err := strconv.ParseInt(form.Get("session"), 10, 64)
	if err != nil {
		return site.ErrForm
	}
	if err := s.Sessions.EndOne(c.Request().Context(), operator.ID(v.Session.UserID), time.Unix(issued, 0).UTC()); err != nil {
		return err
	}
	return site.Redirect(c, site.SettingsPath+"?done=revoked")
}

// revokeSessions handles POST /settings/sessions/revoke-all, which signs out all devices of the visitor, including this one.
func (s *server) revokeSessions(c echo.Context) error {
	if _, _, err := s.ReadForm(c); err != nil {
		return err
	}
	if err := s.EndSession(c, true); err != nil {
		return err
	}
	return site.Redirect(c, site.SignInURL(site.SettingsPath))
}
