package settings

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

// Numbers of notifications in a page of the list.
const (
	defaultNotifications = 20
	maxNotifications     = 100
)

// ListNotifications handles GET /api/user/notifications, the notifications of the caller. An invalid cursor starts at the first
// page.
func (s *Server) ListNotifications(c echo.Context) error {
	ctx, me := c.Request().Context(), request.Caller(c).Operator.ID
	limit := protocol.Limit(c.QueryParam("limit"), defaultNotifications, maxNotifications)
	list, next, err := notification.ListPage(ctx, s.Notices, me, c.QueryParam("cursor"), limit)
	if err != nil {
		return err
	}
	unread, err := s.Notices.CountUnread(ctx, me)
	return view.OK(c, openapi.Notifications{
		Notifications: view.List(list, showNotification), Unread: unread, NextCursor: httpx.OrNull(next),
	}, err)
}

func showNotification(e notification.Entry) openapi.Notification {
	n := openapi.Notification{
		ID: e.ID, Kind: string(e.Kind), Actor: httpx.OrNull(string(e.Handle)), MarketID: httpx.OrNull(string(e.MarketID)), SignalID: httpx.OrNull(e.SignalID),
		Status: httpx.OrNull(e.Status), Reason: httpx.OrNull(e.Reason), Count: e.Count, Seq: e.Seq,
		CreatedAt: protocol.Stamp(e.CreatedAt),
	}
	if e.Score != nil {
		score := int64(*e.Score)
		n.Score = &score
	}
	if !e.ReadAt.IsZero() {
		n.ReadAt = httpx.OrNull(protocol.Stamp(e.ReadAt))
	}
	return n
}

// MarkNotificationsRead handles POST /api/user/notifications/read, which marks a notification and all older ones as read.
func (s *Server) MarkNotificationsRead(c echo.Context, o httpx.Object) error {
	raw := o.String("upTo", httpx.BodyLimit, true)
	id, ok := request.ParseUUID(raw)
	if raw != "" && !ok {
		o.Invalid("upTo", "must be a uuid")
	}
	if err := o.Err(); err != nil {
		return err
	}
	err := s.Notices.MarkRead(c.Request().Context(), request.Caller(c).Operator.ID, id, s.Now())
	return view.OK(c, openapi.Ok{Ok: true}, err)
}
