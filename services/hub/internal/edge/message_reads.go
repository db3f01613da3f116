package edge

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

type messageListJSON struct {
	Messages   []messageJSON `json:"messages"`
	NextCursor *string       `json:"next_cursor"`
}

var errSince = message.ErrInvalid.With("field", "since").Say("since is a time in RFC 3339")

// message is GET P/messages/{id}.
func (s *server) message(c echo.Context) error {
	r, err := s.Messages.Get(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return tagged(c, showMessage(r))
}

// listMessages is GET P/messages.
func (s *server) listMessages(c echo.Context) error {
	q := message.Query{
		DenpaID: queryDenpaID(c), AppID: c.QueryParam("appId"), Type: message.Type(c.QueryParam("type")),
		Cursor: c.QueryParam("cursor"), Limit: syntax.Limit(c.QueryParam("limit"), message.DefaultPage, message.MaxPage),
	}
	if since := c.QueryParam("since"); since != "" {
		at, err := time.Parse(time.RFC3339, since)
		if err != nil {
			return errSince
		}
		q.Since = at
	}
	page, err := s.Messages.List(c.Request().Context(), q)
	if err != nil {
		return err
	}
	out := messageListJSON{Messages: make([]messageJSON, 0, len(page.Messages)), NextCursor: page.Next.EncodeOrNull()}
	for _, r := range page.Messages {
		out.Messages = append(out.Messages, showMessage(r))
	}
	return tagged(c, out)
}

// hubKeys is GET P/keys.
func (s *server) hubKeys(c echo.Context) error {
	out := openapi.HubKeyList{Keys: []openapi.HubKey{}}
	for _, k := range s.Messages.Keys.All() {
		out.Keys = append(out.Keys, openapi.HubKey{
			Kid: k.Kid, Kind: "ed25519", PublicKey: string(k.Key),
			NotBefore: syntax.Stamp(k.NotBefore), NotAfter: syntax.StampOrNull(k.NotAfter),
		})
	}
	return tagged(c, out)
}

// payloadSchema is GET P/schemas/{type}; with attested=1 the schema of what the hub
// itself signs.
func (s *server) payloadSchema(c echo.Context) error {
	text, known := message.Schema(message.Type(c.Param("type")), c.QueryParam("attested") == "1")
	if !known {
		return message.ErrNotFound
	}
	return web.Blob(c, http.StatusOK, text)
}
