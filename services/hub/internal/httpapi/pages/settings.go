package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type settingsPage struct {
	site.Layout
	Handle  string
	Devices []deviceRow
	Notice  string
	PushKey string         // public key for web push; empty: not available
	Here    bool           // this device is in Devices and has no notifications
	Export  account.Export // newest export of the account
	HasFile bool           // this device can download the export
	Email   emailSection
	// SignInAgain is the URL of a new sign-in that a change needs; empty: none.
	SignInAgain string
	// ConfirmDeletion shows the second step of a deletion. Typed is the handle that the visitor entered.
	ConfirmDeletion   bool
	Typed, TypedError string
}

// deviceRow is a session of the visitor.
type deviceRow struct {
	ID               int64 // second at which the session was issued, as Unix time
	Browser, Address string
	StartedAt        string
	UsedAt           time.Time
	Current          bool // the session of this request
	Pushes           bool // receives notifications
}

// settingsNotices maps values of the query parameter "done" to the messages that the page shows after a change.
var settingsNotices = map[string]string{
	"push-on": "Notifications are on.", "push-off": "Notifications are off.", "revoked": "The device is signed out.",
	"export":    "Your data is ready. Download it on this device within 24 hours.",
	"email":     "A confirmation letter is sent. Open its link within 24 hours.",
	"email-on":  "The address of your sign-in is confirmed.",
	"email-off": "E-mail is off and the address is deleted.",
	"digest":    "The digest is saved.",
	"reopened":  "Your account is open again. Create new API keys, and connect your apps and streams again.",
}

// settings handles GET /settings, the account page of the visitor with the devices that are signed in and the export of the data.
func (s *server) settings(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.SettingsPath)
	if !ok {
		return err
	}
	return s.showSettings(c, http.StatusOK, v, func(p *settingsPage) {
		p.Notice = settingsNotices[c.QueryParam("done")]
		if form := s.Draft(c, emailPath); form != nil {
			p.Notice, p.Email.Typed = site.DraftNotice, form.Get("address")
			if digest, ok := email.ParseDigest(form.Get("digest")); ok {
				p.Email.Digest = digest
			}
		}
	})
}

// showSettings renders the account page. The function set changes the page data before rendering.
func (s *server) showSettings(c echo.Context, status int, v site.Viewer, set func(*settingsPage)) error {
	me := operator.ID(v.Session.UserID)
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	devices := site.ReadPart(g, "devices", func(ctx context.Context) ([]caller.StoredSession, error) {
		return s.Sessions.List(ctx, me)
	})
	export := site.ReadPart(g, "export", func(ctx context.Context) (account.Export, error) { return s.People.Data.LastExport(ctx, me) })
	mail := site.ReadPart(g, "email", func(ctx context.Context) (emailSection, error) {
		return s.readEmail(ctx, me, s.SessionStart(c))
	})
	unavailable := g.Wait()
	p := settingsPage{
		Layout: s.NewLayout(c, "Settings", "", ""), Handle: v.Handle,
		Devices: deviceRows(devices.Value, s.SessionStart(c)), PushKey: s.PushKey,
		Email: mail.Value,
	}
	p.Here = slices.ContainsFunc(p.Devices, func(one deviceRow) bool { return one.Current && !one.Pushes })
	if s.Now().Before(export.Value.Until()) {
		p.Export, p.HasFile = export.Value, export.Value.Session.Equal(s.SessionStart(c))
	}
	p.Unavailable, p.Unlisted = unavailable, true
	p.Email.On = p.Email.On || unavailable["email"] && s.Email.Enabled
	set(&p)
	return s.RenderParts(c, g, status, "settings", p)
}

func deviceRows(list []caller.StoredSession, current time.Time) []deviceRow {
	rows := make([]deviceRow, 0, len(list))
	for _, one := range list {
		rows = append(rows, deviceRow{
			ID: one.IssuedAt.Unix(), Browser: one.Device.Browser, Address: one.Device.Address,
			StartedAt: format.When(one.SignedInAt), UsedAt: one.UsedAt, Current: one.IssuedAt.Equal(current), Pushes: one.Pushes,
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

// changePush handles POST /settings/push, which turns on notifications on this device with the web push subscription of the browser.
// Without a subscription, it turns them off on a device of the visitor.
func (s *server) changePush(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	session, subscription, done := s.SessionStart(c), form.Get("subscription"), "push-on"
	if subscription == "" {
		issued, err := strconv.ParseInt(form.Get("session"), 10, 64)
		if err != nil {
			return site.ErrForm
		}
		session, done = time.Unix(issued, 0).UTC(), "push-off"
	} else if subscription, err = notification.ParseSubscription(subscription); err != nil || s.PushKey == "" {
		return site.ErrForm
	}
	stored, err := s.Push.SetPush(c.Request().Context(), operator.ID(v.Session.UserID), session, subscription)
	switch {
	case err != nil:
		return err
	case !stored && subscription != "":
		return s.showSettings(c, http.StatusConflict, v, func(p *settingsPage) {
			p.Notice = "You have notifications on " + strconv.Itoa(notification.MaxSubscriptions) + " devices. Turn them off on one of them first."
		})
	}
	return site.Redirect(c, site.SettingsPath+"?done="+done)
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

// readSettingsForm returns the visitor who sent a form of the account page that needs a recent sign-in. If ok is false, the
// handler must return err, because the request is already answered or has failed.
func (s *server) readSettingsForm(c echo.Context) (v site.Viewer, form url.Values, ok bool, err error) {
	if v, form, err = s.ReadForm(c); err != nil {
		return v, form, false, err
	}
	if operator.IsFresh(v.Session.SignedInAt, s.Now()) {
		return v, form, true, nil
	}
	return v, form, false, s.showSettings(c, http.StatusForbidden, v, func(p *settingsPage) {
		p.Notice, p.SignInAgain = "Nothing was changed. Sign in again, and continue within 15 minutes.", s.StartSignIn(c, site.SettingsPath)
	})
}

// startExport handles POST /settings/export, which lets this device download the data of the account for a day.
func (s *server) startExport(c echo.Context) error {
	v, _, ok, err := s.readSettingsForm(c)
	if !ok {
		return err
	}
	e := account.Export{ID: uuid.NewString(), Session: s.SessionStart(c), CreatedAt: s.Now().UTC()}
	ok, err = s.People.Data.StartExport(c.Request().Context(), operator.ID(v.Session.UserID), e)
	switch {
	case err != nil:
		return err
	case !ok:
		return s.showSettings(c, http.StatusTooManyRequests, v, func(p *settingsPage) {
			p.Notice = "You can request your data once in 24 hours. The next request is possible from " + format.When(p.Export.Until()) + "."
		})
	}
	return site.Redirect(c, site.SettingsPath+"?done=export")
}

// downloadExport handles GET /settings/export/{id}, which streams the data of the account to the device that requested the export.
func (s *server) downloadExport(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.SettingsPath)
	if !ok {
		return err
	}
	ctx, me := c.Request().Context(), operator.ID(v.Session.UserID)
	e, err := s.People.Data.LastExport(ctx, me)
	if err != nil {
		return err
	}
	if e.ID != c.Param("id") || !e.Session.Equal(s.SessionStart(c)) || !s.Now().Before(e.Until()) {
		return errNoExport
	}
	return s.People.Archive(c, operator.Operator{ID: me, Handle: protocol.Handle(v.Handle)})
}

var errNoExport = apperr.New(apperr.NotFound, "not_found", "there is no such export for this session")

// deleteAccount handles POST /settings/delete. The first step shows what is deleted; the second, with the handle of the account in
// the field handle, closes the account. It is deleted after protocol.DeletionWait.
func (s *server) deleteAccount(c echo.Context) error {
	v, form, ok, err := s.readSettingsForm(c)
	if !ok {
		return err
	}
	typed := strings.TrimPrefix(strings.TrimSpace(form.Get("handle")), "@")
	if typed != v.Handle {
		status, problem := http.StatusOK, ""
		if typed != "" {
			status, problem = http.StatusBadRequest, "Enter "+v.Handle+" to delete the account."
		}
		return s.showSettings(c, status, v, func(p *settingsPage) { p.ConfirmDeletion, p.Typed, p.TypedError = true, typed, problem })
	}
	if err := s.People.Deletion.Close(c.Request().Context(), operator.ID(v.Session.UserID), protocol.Handle(v.Handle)); err != nil {
		return err
	}
	return site.Redirect(c, site.SettingsPath)
}

// cancelDeletion handles POST /settings/delete/cancel, which opens a closed account again.
func (s *server) cancelDeletion(c echo.Context) error {
	v, _, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	if err := s.People.Deletion.Cancel(c.Request().Context(), operator.ID(v.Session.UserID)); err != nil {
		return err
	}
	return site.Redirect(c, site.SettingsPath+"?done=reopened")
}
