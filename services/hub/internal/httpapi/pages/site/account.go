package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Account is the state of the visitor that the page header shows.
type Account struct {
	Handle      string // empty without a session
	Avatar      Avatar
	Unavailable bool   // the session could not be checked
	SignInURL   string // empty: sign-in is not possible
	Unread      string // number of unread notifications; empty: none, or it could not be read
}

const viewerKey = "viewer"

// Viewer is the visitor of a page. Session and Handle are empty without a session. Err is set if the session could not be
// checked.
type Viewer struct {
	Session grant.Visitor
	Handle  string
	Err     error
}

// DeletesOn returns the date on which the closed account of the visitor is deleted; empty: the account is open.
func (v Viewer) DeletesOn() string {
	if v.Session.ClosingAt.IsZero() {
		return ""
	}
	return v.Session.ClosingAt.Add(protocol.DeletionWait).UTC().Format("2 January 2006")
}

// Viewer returns the visitor of a request. It checks the session only once for each request.
func (s *Site) Viewer(c echo.Context) Viewer {
	if v, ok := c.Get(viewerKey).(Viewer); ok {
		return v
	}
	var v Viewer
	v.Session, v.Handle, v.Err = s.Visitor(c)
	c.Set(viewerKey, v)
	return v
}

// setCacheHeaders adds Vary: Cookie. It forbids caching if the page shows the account of the visitor, or if the session could not
// be checked.
func (s *Site) setCacheHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Add("Vary", "Cookie")
	if v := s.Viewer(c); v.Handle != "" || v.Err != nil {
		h.Set("Cache-Control", "private, no-store")
	}
}

// accountOf returns the state of the visitor that the page header shows.
func (s *Site) accountOf(c echo.Context) Account {
	v := s.Viewer(c)
	if v.Err != nil {
		return Account{Unavailable: true}
	}
	a := Account{Handle: v.Handle, Avatar: AvatarOf(operator.Operator{
		Handle: protocol.Handle(v.Handle), AvatarURL: v.Session.AvatarURL, ClosingAt: v.Session.ClosingAt,
	})}
	if v.Handle == "" && s.LoginURL != "" {
		a.SignInURL = SignInURL(ReturnPath(c.Request().URL))
	}
	a.Unread = s.unread(c.Request().Context(), v)
	return a
}

// unreadTimeout is the time limit for counting the unread notifications, so that a slow database does not delay pages.
const unreadTimeout = 100 * time.Millisecond

// unread returns the number of unread notifications of a visitor, up to "99+". It is empty if there are none, or if they cannot be
// counted.
func (s *Site) unread(ctx context.Context, v Viewer) string {
	if v.Handle == "" || s.Notices == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, unreadTimeout)
	defer cancel()
	switch n, err := s.Notices.CountUnread(ctx, operator.ID(v.Session.UserID)); {
	case err != nil || n == 0:
		return ""
	case n >= notification.MaxUnread:
		return format.Digits(notification.MaxUnread-1) + "+"
	default:
		return format.Digits(n)
	}
}

// RequireViewer returns the visitor of a page that requires a session. Without a session, it redirects to the sign-in; back is
// the path that opens afterwards. If ok is false, the handler must return err, because the request is already answered or has
// failed.
func (s *Site) RequireViewer(c echo.Context, back string) (who Viewer, ok bool, err error) {
	SetPrivate(c)
	v := s.Viewer(c)
	if v.Err != nil {
		return v, false, v.Err
	}
	if v.Session.UserID == "" {
		return v, false, s.RedirectToSignIn(c, back)
	}
	return v, true, nil
}

// ReadForm returns the visitor who sent a form, and the values of the form, and disables caching of the response. lists are the
// fields that may have several values. Errors: ErrCrossOrigin, ErrForm, ErrFormSize, and together with the values of the form,
// ErrSignedOut without a session, the errors of the method Viewer, and ErrFormExpired.
func (s *Site) ReadForm(c echo.Context, lists ...string) (Viewer, url.Values, error) {
	SetPrivate(c)
	if !s.OwnPage(c) {
		return Viewer{}, nil, ErrCrossOrigin
	}
	v := s.Viewer(c)
	if v.Err == nil && v.Session.UserID == "" {
		v.Err = ErrSignedOut
	}
	form, err := s.Form(c, lists...)
	switch {
	case v.Err != nil:
		return v, form, v.Err
	case err != nil:
		return v, nil, err
	}
	if err := s.CheckToken(c, form); err != nil {
		return v, form, err
	}
	// A closed account can only change its sessions, its notifications and the deletion.
	if path := c.Request().URL.Path; v.DeletesOn() != "" && !strings.HasPrefix(path, SettingsPath+"/") && !strings.HasPrefix(path, NotificationsPath) {
		return v, form, operator.ErrClosing
	}
	return v, form, nil
}

// SetPrivate prevents caching of a page.
func SetPrivate(c echo.Context) {
	c.Response().Header().Set("Cache-Control", "no-store")
}

// Redirect answers a form with a redirect to a path (303 See Other).
func Redirect(c echo.Context, to string) error { return c.Redirect(http.StatusSeeOther, to) }
