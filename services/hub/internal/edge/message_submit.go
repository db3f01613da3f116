package edge

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

type submittedJSON struct {
	Message  json.RawMessage `json:"message"`
	ID       string          `json:"id"`
	URI      string          `json:"uri"`
	Result   json.RawMessage `json:"result,omitempty"`
	Replayed bool            `json:"replayed,omitempty"`
	Hidden   bool            `json:"hidden"`
}

// submitMessage is POST P/messages.
func (s *server) submitMessage(c echo.Context) error {
	raw, err := messageBody(c)
	if err != nil {
		return err
	}
	m, err := message.Read(s.Messages.Issuer, raw)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), bearerOf(c)
	take := func(ctx context.Context) (message.Submitted, error) { return s.Messages.Submit(ctx, raw, by) }
	if m.Authentic() { // nobody can use up the limit of a key that is not his
		d := s.submissions.allow(ctx, m, func(ctx context.Context) bool {
			accepted, err := s.Messages.Accepted(ctx, m.ID)
			return accepted && err == nil
		})
		if d.SetHeaders(c.Response().Header()); !d.Allowed {
			return d.Fault()
		}
		alone := take
		take = func(ctx context.Context) (message.Submitted, error) { return s.submissions.together(ctx, m, by, alone) }
	}
	done, err := take(ctx)
	if err != nil {
		s.submissions.forget(m.ID)
		return s.explainEffect(err)
	}
	out := submittedJSON{
		Message: json.RawMessage(done.Body), ID: string(done.ID), URI: done.URI(), Result: json.RawMessage(done.Result),
		Replayed: done.Replayed,
		Hidden:   done.Hidden,
	}
	if done.Replayed {
		return web.OK(c, out)
	}
	return web.JSON(c, http.StatusCreated, out)
}

// verifyMessage is POST P/messages/verify.
func (s *server) verifyMessage(c echo.Context) error {
	raw, err := messageBody(c)
	if err != nil {
		return err
	}
	v, err := s.Messages.Verify(c.Request().Context(), raw)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.MessageVerdict{Valid: v.Valid, ID: string(v.ID), Reasons: append([]string{}, v.Reasons...)})
}

// messageBody reads the bytes that somebody has signed: nothing but their size and
// type is looked at, because only their canonical form counts.
func messageBody(c echo.Context) ([]byte, error) {
	values := c.Request().Header["Content-Type"]
	if len(values) != 1 {
		return nil, web.ErrMediaType
	}
	if kind, _, err := mime.ParseMediaType(values[0]); err != nil || kind != "application/json" {
		return nil, web.ErrMediaType
	}
	return web.ReadBody(c, message.MaxSize)
}

// bearerOf is the credential that came beside the signature, nil when none did.
func bearerOf(c echo.Context) *message.Bearer {
	switch who := callerOf(c); who.Kind {
	case caller.Token:
		return &message.Bearer{DenpaID: userOf(who), AppID: who.Delegate.AppID}
	case caller.Key:
		return &message.Bearer{DenpaID: userOf(who)}
	}
	return nil
}

// explainEffect adds the receipt of the locked call to already_predicted.
func (s *server) explainEffect(err error) error {
	f := fault.Of(err)
	if id, ok := f.Extra["id"].(string); ok && f.Code == "already_predicted" {
		return f.With("receiptUrl", s.receiptURL(id))
	}
	return err
}

type messageJSON struct {
	Message    json.RawMessage `json:"message"`
	ID         string          `json:"id"`
	URI        string          `json:"uri"`
	ReceivedAt string          `json:"receivedAt"`
	Attested   bool            `json:"attested"`
	Hidden     bool            `json:"hidden"`
	Result     json.RawMessage `json:"result,omitempty"`
}

func showMessage(r message.Record) messageJSON {
	return messageJSON{
		Message: json.RawMessage(r.Body), ID: string(r.ID), URI: r.URI(), ReceivedAt: syntax.Stamp(r.ReceivedAt),
		Attested: r.Attested, Hidden: r.Hidden, Result: json.RawMessage(r.Result),
	}
}
