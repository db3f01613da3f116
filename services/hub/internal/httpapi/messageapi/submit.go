package messageapi

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// Server has the handlers of signers and signed messages.
type Server struct {
	HubURL   string
	Grants   *grant.Service
	Messages *message.Service
	Keys     request.KeyLimiter // limits messages by public key
	Now      func() time.Time

	submissions *submissions
}

// New gives s an empty cache of charged messages and returns s.
func New(s *Server, b *view.Caches) *Server {
	s.submissions = newSubmissions(s.Keys, b)
	return s
}

type submittedJSON struct {
	Message  json.RawMessage `json:"message"`
	ID       string          `json:"id"`
	URI      string          `json:"uri"`
	Result   json.RawMessage `json:"result,omitempty"`
	Replayed bool            `json:"replayed,omitempty"`
	Hidden   bool            `json:"hidden"`
}

// SubmitMessage handles POST /api/protocol/v1/messages, which stores a signed message and applies it. A repeated message returns
// the stored result.
func (s *Server) SubmitMessage(c echo.Context) error {
	raw, err := messageBody(c)
	if err != nil {
		return err
	}
	m, err := message.Read(s.Messages.Issuer, raw)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), bearerOf(c)
	submit := func(ctx context.Context) (message.Submitted, error) { return s.Messages.Submit(ctx, raw, by) }
	if m.Authentic() { // without a valid signature, a message is not charged to the limit of its key
		d := s.submissions.allow(ctx, m, func(ctx context.Context) bool {
			accepted, err := s.Messages.Accepted(ctx, m.ID)
			return accepted && err == nil
		})
		if d.SetHeaders(c.Response().Header()); !d.Allowed {
			return d.Fault()
		}
		single := submit
		submit = func(ctx context.Context) (message.Submitted, error) {
			return s.submissions.submitOnce(ctx, m, by, single)
		}
	}
	done, err := submit(ctx)
	if err != nil {
		s.submissions.forget(m.ID)
		return view.WithReceipt(s.HubURL, err)
	}
	out := submittedJSON{
		Message: json.RawMessage(done.Body), ID: string(done.ID), URI: done.URI(), Result: json.RawMessage(done.Result),
		Replayed: done.Replayed,
		Hidden:   done.Hidden,
	}
	if done.Replayed {
		return httpx.OK(c, out)
	}
	return httpx.JSON(c, http.StatusCreated, out)
}

// VerifyMessage handles POST /api/protocol/v1/messages/verify, which checks a signed message without storing it.
func (s *Server) VerifyMessage(c echo.Context) error {
	raw, err := messageBody(c)
	if err != nil {
		return err
	}
	v, err := s.Messages.Verify(c.Request().Context(), raw)
	return view.OK(c, openapi.MessageVerdict{Valid: v.Valid, ID: string(v.ID), Reasons: append([]string{}, v.Reasons...)}, err)
}

// messageBody returns the bytes of a signed message without parsing it. It returns httpx.ErrMediaType unless the content type is
// application/json, and an error if the body exceeds message.MaxSize.
func messageBody(c echo.Context) ([]byte, error) {
	values := c.Request().Header["Content-Type"]
	if len(values) != 1 {
		return nil, httpx.ErrMediaType
	}
	if kind, _, err := mime.ParseMediaType(values[0]); err != nil || kind != "application/json" {
		return nil, httpx.ErrMediaType
	}
	return httpx.ReadBody(c, message.MaxSize)
}

// bearerOf returns the credential that was sent together with the message; nil for none.
func bearerOf(c echo.Context) *message.Bearer {
	switch who := request.Caller(c); who.Kind {
	case caller.Token:
		return &message.Bearer{DenpaID: who.UserID(), AppID: who.Delegate.AppID}
	case caller.Key:
		return &message.Bearer{DenpaID: who.UserID()}
	}
	return nil
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
		Message: json.RawMessage(r.Body), ID: string(r.ID), URI: r.URI(), ReceivedAt: protocol.Stamp(r.ReceivedAt),
		Attested: r.Attested, Hidden: r.Hidden, Result: json.RawMessage(r.Result),
	}
}

type messageListJSON struct {
	Messages   []messageJSON `json:"messages"`
	NextCursor *string       `json:"next_cursor"`
}

var errSince = message.ErrInvalid.With("field", "since").WithText("since must be an RFC 3339 time")

// Message handles GET /api/protocol/v1/messages/{id}, one stored message with its result.
func (s *Server) Message(c echo.Context) error {
	r, err := s.Messages.Get(c.Request().Context(), c.Param("id"))
	return view.Tagged(c, showMessage(r), err)
}

// ListMessages handles GET /api/protocol/v1/messages, a page of stored messages that match the query.
func (s *Server) ListMessages(c echo.Context) error {
	q := message.Query{
		DenpaID: queryDenpaID(c), AppID: c.QueryParam("appId"), Type: message.Type(c.QueryParam("type")),
		Cursor: c.QueryParam("cursor"), Limit: protocol.Limit(c.QueryParam("limit"), message.DefaultPage, message.MaxPage),
	}
	if since := c.QueryParam("since"); since != "" {
		at, err := time.Parse(time.RFC3339, since)
		if err != nil {
			return errSince
		}
		q.Since = at
	}
	page, err := s.Messages.List(c.Request().Context(), q)
	out := messageListJSON{view.List(page.Messages, showMessage), page.Next.EncodeOrNull()}
	return view.Tagged(c, out, err)
}

// HubKeys handles GET /api/protocol/v1/keys, the public keys with which the hub signs messages.
func (s *Server) HubKeys(c echo.Context) error {
	return httpx.Tagged(c, openapi.HubKeyList{Keys: view.List(s.Messages.Keys.All(), func(k message.HubKey) openapi.HubKey {
		return openapi.HubKey{
			Kid: k.Kid, Kind: "ed25519", PublicKey: string(k.Key),
			NotBefore: protocol.Stamp(k.NotBefore), NotAfter: protocol.StampOrNull(k.NotAfter),
		}
	})})
}

// PayloadSchema handles GET /api/protocol/v1/schemas/{type}. It returns the JSON schema of payloads that clients sign. With
// attested=1, it returns the schema of payloads that the hub signs.
func (s *Server) PayloadSchema(c echo.Context) error {
	text, known := message.Schema(message.Type(c.Param("type")), c.QueryParam("attested") == "1")
	if !known {
		return message.ErrNotFound
	}
	return httpx.Blob(c, http.StatusOK, text)
}
