package httpapi

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// Default and maximum number of entries in one page of the delivery log of a webhook.
const (
	deliveriesDefault = 50
	deliveriesMax     = 200
)

// scopeError returns the error insufficient_scope for a key without the permission.
func scopeError(permission string) error {
	return apperr.New(apperr.Forbidden, "insufficient_scope", "the key lacks the permission "+permission+"; use a key that has it").
		With("required", permission)
}

// registerWebhook handles POST /api/v1/webhooks: it creates a webhook and returns it with its secret. Only this response and
// the response of renewWebhook contain a secret.
func (s *Server) registerWebhook(c echo.Context, me holder) error {
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	d := webhook.Draft{
		URL: body.String("url", httpx.BodyLimit, true), Channels: body.Strings("channels", httpx.BodyLimit, maxChannel),
		Types: body.Strings("types", len(feed.Types), maxChannel), Description: body.OptString("description", httpx.BodyLimit),
		Since: body.OptInt("since", 0, maxSeq),
	}
	if err := body.Err(); err != nil {
		return err
	}
	h, secret, err := s.Webhooks.Register(c.Request().Context(), me.owner(), d)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusCreated, secretWebhookJSON{showWebhook(&h), secret})
}

// maxSeq is the maximum of the member since: 2^53-1. JSON parsers that use float64 read integers exactly up to this number.
const maxSeq = 1<<53 - 1

// listWebhooks handles GET /api/v1/webhooks: all webhooks of the operator.
func (s *Server) listWebhooks(c echo.Context, me holder) error {
	list, err := s.Webhooks.List(c.Request().Context(), me.owner())
	if err != nil {
		return err
	}
	out := openapi.WebhookList{Webhooks: make([]openapi.Webhook, len(list))}
	for i := range list {
		out.Webhooks[i] = showWebhook(&list[i])
	}
	return httpx.OK(c, out)
}

// oneWebhook handles GET /api/v1/webhooks/{id}: one webhook of the operator.
func (s *Server) oneWebhook(c echo.Context, me holder) error {
	w, err := s.Webhooks.Get(c.Request().Context(), me.owner(), c.Param("id"))
	return answer(c, http.StatusOK, w, err, showWebhook)
}

// changeWebhook handles PATCH /api/v1/webhooks/{id}. Members that the request omits do not change.
func (s *Server) changeWebhook(c echo.Context, me holder) error {
	owner := me.owner()
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	change := webhook.Change{
		Active: body.OptBool("active"), Description: body.OptString("description", httpx.BodyLimit),
		Described: slices.Contains(body.Names(), "description"), // also true if description is null
		URL:       body.OptString("url", httpx.BodyLimit),
	}
	if body.Has("since") {
		body.Invalid("since", "can be set only for a new webhook")
	}
	channels, types := body.Strings("channels", httpx.BodyLimit, maxChannel), body.Strings("types", len(feed.Types), maxChannel)
	if err := body.Err(); err != nil {
		return err
	}
	if channels != nil {
		if change.Channels, err = webhook.Channels(channels, owner.Handle); err != nil {
			return err
		}
	}
	if types != nil {
		list, err := webhook.Types(types)
		if err != nil {
			return err
		}
		change.Types = &list
	}
	w, err := s.Webhooks.Change(c.Request().Context(), owner, c.Param("id"), change)
	return answer(c, http.StatusOK, w, err, showWebhook)
}

// deleteWebhook handles DELETE /api/v1/webhooks/{id}: it deletes a webhook and its delivery log.
func (s *Server) deleteWebhook(c echo.Context, me holder) error {
	if err := s.Webhooks.Delete(c.Request().Context(), me.owner(), c.Param("id")); err != nil {
		return err
	}
	return httpx.OK(c, openapi.Ok{Ok: true})
}

// testWebhook handles POST /api/v1/webhooks/{id}/test: it sends a delivery without events and returns the result.
func (s *Server) testWebhook(c echo.Context, me holder) error {
	d, err := s.Webhooks.Test(c.Request().Context(), me.owner(), c.Param("id"))
	return answer(c, http.StatusOK, d, err, showDelivery)
}

// resendDelivery handles POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/resend: it makes the next attempt of a failed
// delivery due at once. The response is the webhook; the delivery log has the result of the attempt.
func (s *Server) resendDelivery(c echo.Context, me holder) error {
	w, err := s.Webhooks.Resend(c.Request().Context(), me.owner(), c.Param("id"), c.Param("deliveryId"))
	return answer(c, http.StatusAccepted, w, err, showWebhook)
}

// renewWebhook handles POST /api/v1/webhooks/{id}/secret: it replaces the secret and returns the new one.
func (s *Server) renewWebhook(c echo.Context, me holder) error {
	h, secret, err := s.Webhooks.Renew(c.Request().Context(), me.owner(), c.Param("id"))
	if err != nil {
		return err
	}
	return httpx.OK(c, secretWebhookJSON{showWebhook(&h), secret})
}

// listDeliveries handles GET /api/v1/webhooks/{id}/deliveries: a page of the delivery log, newest first.
func (s *Server) listDeliveries(c echo.Context, me holder) error {
	limit := protocol.Limit(c.QueryParam("limit"), deliveriesDefault, deliveriesMax)
	var before int64
	if at, ok := protocol.DecodeCursor(c.QueryParam("cursor"), 1); ok {
		before, _ = at.Int(0) // an invalid number selects the first page
	}
	list, err := s.Webhooks.Deliveries(c.Request().Context(), me.owner(), c.Param("id"), max(before, 0), limit+1)
	if err != nil {
		return err
	}
	out := openapi.WebhookDeliveries{Deliveries: []openapi.WebhookDelivery{}}
	if len(list) > limit {
		list = list[:limit]
		last := &list[limit-1]
		out.NextCursor = protocol.NewCursor(last.ID, protocol.IntKey(last.Line)).EncodeOrNull()
	}
	for i := range list {
		out.Deliveries = append(out.Deliveries, showDelivery(&list[i]))
	}
	return httpx.OK(c, out)
}

type secretWebhookJSON struct {
	openapi.Webhook
	Secret string `json:"secret"`
}

func showWebhook(h *webhook.Hook) openapi.Webhook {
	out := openapi.Webhook{
		ID: h.ID, URL: h.URL, Channels: make([]string, len(h.Channels)), Types: openapi.Texts(h.Types), Description: h.Description,
		Active: h.Active, Reason: httpx.OrNull(h.Reason), FailingSince: protocol.StampOrNull(h.FailingSince), Cursor: h.Cursor,
		CreatedAt: protocol.Stamp(h.CreatedAt),
	}
	for i, c := range h.Channels {
		out.Channels[i] = c.Shown()
	}
	if h.Active {
		out.NextAttemptAt = protocol.StampOrNull(h.NextAt)
	}
	return out
}

func showDelivery(d *webhook.Delivery) openapi.WebhookDelivery {
	out := openapi.WebhookDelivery{
		ID: d.ID, Events: int64(d.Events), Attempt: int64(d.Attempt), Error: httpx.OrNull(d.Error),
		TookMs: d.Took.Round(time.Millisecond).Milliseconds(), At: protocol.Stamp(d.At), Message: httpx.OrNull(d.Message()),
	}
	if d.First > 0 {
		out.FirstSeq, out.LastSeq = &d.First, &d.Last
	}
	if d.Status > 0 {
		out.Status = openapi.Int(&d.Status)
	}
	return out
}
