package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// notificationsPerPage is the number of notifications on one page.
const notificationsPerPage = 50

type notificationsPage struct {
	site.Layout
	Rows     []feedRow
	UpTo     string // id of the newest unread notification; empty: all are read
	OlderURL string
}

// notifications handles GET /notifications, the notifications of the visitor.
func (s *server) notifications(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.ReturnPath(c.Request().URL))
	if !ok {
		return err
	}
	me := operator.ID(v.Session.UserID)
	p := notificationsPage{Layout: s.NewLayout(c, "Notifications", "", "")}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	var next string
	list := site.ReadPart(g, "notifications", func(ctx context.Context) (list []notification.Entry, err error) {
		list, next, err = notification.ListPage(ctx, s.Notices, me, c.QueryParam("cursor"), notificationsPerPage)
		return list, err
	})
	p.Unavailable, p.Unlisted = g.Wait(), true
	var ids []string
	for _, e := range list.Value {
		if e.MarketID != "" {
			ids = append(ids, string(e.MarketID))
		}
	}
	named := s.marketsOf(c.Request().Context(), ids...)
	for _, e := range list.Value {
		title := cmp.Or(named[string(e.MarketID)].GetTitle(), string(e.MarketID))
		p.Rows = append(p.Rows, notificationRow(e, title, v.Handle))
		if e.ReadAt.IsZero() && p.UpTo == "" {
			p.UpTo = e.ID
		}
	}
	if next != "" {
		p.OlderURL = site.NotificationsPath + "?cursor=" + next
	}
	return s.RenderParts(c, g, http.StatusOK, "notifications", p)
}

// notificationRow returns the row of a notification. title is the title of its market, and own the handle of the visitor.
func notificationRow(e notification.Entry, title, own string) feedRow {
	r := feedRow{Title: title, At: e.CreatedAt}
	receipt, count := site.ReceiptPath+e.SignalID, e.Count
	r.URL = site.MarketPath + string(e.MarketID)
	if e.Handle != "" {
		r.Handle, r.HandleURL = "@"+string(e.Handle), site.PersonPath+string(e.Handle)
	}
	switch e.Kind {
	case notification.CallResolved:
		r.Label, r.URL = "Your call "+e.Status, receipt
		if e.Score != nil {
			r.Fact = format.Signed(int(*e.Score)) + " " + view.PointsUnit(int64(*e.Score))
		}
	case notification.CallVoid:
		r.Label, r.URL, r.Text = "Your call is void", receipt, voidReasons[e.Reason]
	case notification.MarketDisputed:
		r.Label = "The outcome is disputed"
	case notification.MarketCloses:
		r.Label = "Closes within 24 hours"
	case notification.MarketDisputeCleared:
		r.Label = "The dispute was cleared"
	case notification.Followed:
		r.Label, r.Title, r.URL = "New follower", r.Handle+" followed you", r.HandleURL
		if count > 1 {
			r.Label, r.Title = "New followers", r.Handle+" and "+format.CountOf(count-1, "other")+" followed you"
		}
	case notification.ForecasterCalled:
		r.Label = "New call"
		if r.URL = receipt; count > 1 {
			r.Label, r.Title, r.URL = "New calls", format.CountOf(count, "call")+", the newest on “"+title+"”", r.HandleURL
		}
	case notification.ForecasterTake:
		r.Label = "New take"
		if r.URL = receipt; count > 1 {
			r.Label, r.Title = "New takes", format.CountOf(count, "take")+", the newest on “"+title+"”"
		}
	case notification.ForecasterLive:
		r.Label, r.Title, r.URL = "Went live", "Watch the broadcast of "+r.Handle, recapPath(e.Handle, e.Reason)
	case notification.Milestone:
		r.Label, r.Title, r.URL = "Milestone", "You made "+format.CountOf(count, "call"), site.PersonPath+own
	case notification.SkillConfirmed:
		r.Label, r.Title, r.URL = "Milestone", "Your calls show skill: luck alone rarely explains them", site.PersonPath+own
	default:
		about, known := accountTexts[e.Kind]
		if !known { // an entry of a newer version of the service
			about.label, about.url = "Notification", site.SettingsPath
		}
		r.Label, r.Title, r.Text, r.URL = about.label, about.title, e.Reason, about.url
		if about.hint != "" {
			r.Text = strings.TrimPrefix(e.Reason+". "+about.hint, ". ")
		}
	}
	if e.ReadAt.IsZero() {
		r.Class = "unread"
	}
	return r
}

// accountText is the text of a notification about the account. url is the page where the visitor can react, and hint says how.
type accountText struct{ label, title, url, hint string }

// sentence returns the text for a letter. reason is the text of the notification, such as the label of a key.
func (a accountText) sentence(reason string) string {
	text := a.title
	if reason = oneLine(reason); reason != "" {
		text += ": " + reason
	}
	return strings.TrimSpace(strings.TrimSuffix(text, ".") + ". " + a.hint)
}

// accountTexts maps kinds of notifications about the account to their texts.
var accountTexts = map[notification.Kind]accountText{
	notification.KeyAdded:         {"New key", "An API key was created", site.DevPath, ""},
	notification.AppAdded:         {"New app", "An app may act for you", site.AppsPath, ""},
	notification.SignerAdded:      {"New signer", "A key that signs messages for you was added", site.DevPath, ""},
	notification.NewDevice:        {"New device", "Your account was used to sign in from a new device", site.SettingsPath, ""},
	notification.PayoutChanged:    {"Payout address", "Your payout address was changed", site.ProfilePath, ""},
	notification.TextHidden:       {"Text hidden", "An administrator hid one of your texts", "/terms", ""},
	notification.StreamerApproved: {"Broadcasts approved", "You can broadcast on Signalcast", site.StudioPath, ""},
	notification.StreamerRefused:  {"Broadcasts refused", "You cannot broadcast on Signalcast", site.StudioPath, ""},
	notification.WebhookDeactivated: {
		"Webhook switched off", "A webhook was switched off after failed deliveries", docsPath + "/operations/changeWebhook",
		"To activate it again, send active: true with the operation “Change a webhook” of the API.",
	},
	notification.ExportReady:       {"Data ready", "Your data can be downloaded", site.SettingsPath, ""},
	notification.DeletionRequested: {"Deletion requested", "Your account will be deleted. You can cancel", site.SettingsPath, ""},
}

// voidReasons maps reasons of void calls to texts for the user.
var voidReasons = map[string]string{
	"":               "The market has no valid outcome.",
	"late":           "It was made after the market closed.",
	"unknown_market": "The venue did not confirm this market.",
}

// readNotifications handles POST /notifications/read, which marks a notification and all older ones as read.
func (s *server) readNotifications(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	id, ok := request.ParseUUID(form.Get("upTo"))
	if !ok {
		return site.ErrForm
	}
	err = s.Notices.MarkRead(c.Request().Context(), operator.ID(v.Session.UserID), id, s.Now())
	if err != nil && !errors.Is(err, notification.ErrUnknown) { // an unknown one was deleted
		return err
	}
	return site.Redirect(c, site.NotificationsPath)
}

type switchesPage struct {
	site.Layout
	Notice   string
	Switches []switchField
}

// switchField is a checkbox of the notification settings.
type switchField struct {
	Name, Label string
	On          bool
}

// notificationSettings handles GET /settings/notifications.
func (s *server) notificationSettings(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.NotificationSettingsPath)
	if !ok {
		return err
	}
	off, err := s.Notices.SwitchedOff(c.Request().Context(), operator.ID(v.Session.UserID))
	if err != nil {
		return err
	}
	notice := ""
	if c.QueryParam("done") == "saved" {
		notice = "Settings saved."
	}
	return s.showSwitches(c, http.StatusOK, notice, func(one notification.Switch) bool { return !off[one.Kinds[0]] })
}

// showSwitches renders the notification settings. The function on reports whether a switch is on.
func (s *server) showSwitches(c echo.Context, status int, notice string, on func(notification.Switch) bool) error {
	p := switchesPage{Layout: s.NewLayout(c, "Notification settings", "", ""), Notice: notice}
	p.Unlisted = true
	for _, one := range notification.Switches {
		p.Switches = append(p.Switches, switchField{Name: one.Name, Label: one.Label, On: on(one)})
	}
	return s.Render(c, status, "switches", p)
}

// changeNotificationSettings handles POST /settings/notifications. The form has a field for each switch that is on.
func (s *server) changeNotificationSettings(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	chosen := func(one notification.Switch) bool { return form.Has(one.Name) }
	if site.IsExpired(err) {
		return s.showSwitches(c, http.StatusForbidden, site.ErrFormExpired.Message, chosen)
	}
	if err != nil {
		return err
	}
	to := map[notification.Kind]bool{}
	for _, one := range notification.Switches {
		for _, kind := range one.Kinds {
			to[kind] = chosen(one)
		}
	}
	if err := s.Notices.SetSwitches(c.Request().Context(), operator.ID(v.Session.UserID), to, s.Now()); err != nil {
		return err
	}
	return site.Redirect(c, site.NotificationSettingsPath+"?done=saved")
}
