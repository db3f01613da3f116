package filing

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type appendedJSON struct {
	Event view.Event `json:"event"`
}

// dryEventJSON is the response to a dry run that validates an event. It has no id, because nothing is stored.
type dryEventJSON struct {
	DryRun bool `json:"dryRun"`
	Event  struct {
		Type      string          `json:"type"`
		Payload   json.RawMessage `json:"payload"`
		Actor     *string         `json:"actor"`
		CreatedAt string          `json:"createdAt"`
	} `json:"event"`
}

// payloadJSON has the payload members of all event types. An event sets only the members of its type.
type payloadJSON struct {
	MediaAssetID *string `json:"mediaAssetId,omitempty"`
	URL          *string `json:"url,omitempty"`
	Text         *string `json:"text,omitempty"`
	Confidence   *int64  `json:"confidence,omitempty"`
	Channel      *string `json:"channel,omitempty"`
}

// AppendEvent handles POST /api/signals/{id}/events, which appends an event to a call or validates it in a dry run.
func (s *Server) AppendEvent(c echo.Context) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	dry := dryRunOf(c, o)
	draft, err := readEvent(o, c.Param("id"))
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), request.Caller(c).Actor()
	if dry {
		result, err := s.Signals.DryRunEvent(ctx, by, draft)
		if err != nil {
			return err
		}
		return httpx.OK(c, showDryEvent(result))
	}
	event, err := s.Signals.Append(ctx, by, draft, key)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusCreated, appendedJSON{Event: view.ShowEvent(event)})
}

// readEvent reads an event for the call with the given id. An id that is not a UUID is reported as unknown, after all other
// errors.
func readEvent(o httpx.Object, signalID string) (*signalv1.AppendEventRequest, error) {
	raw := o.String("type", httpx.BodyLimit, true)
	kind, ok := signal.ParseEventType(raw)
	if !ok {
		o.Invalid("type", "must be take, reaffirm, confidence, note or share")
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	payload, err := readPayload(o, kind)
	if err != nil {
		return nil, err
	}
	id, ok := request.ParseUUID(signalID)
	if !ok {
		return nil, signal.ErrUnknown
	}
	return &signalv1.AppendEventRequest{SignalId: id, Type: string(kind), Payload: string(payload)}, nil
}

// readPayload checks the payload against the event type and returns the known members. An invalid payload gets the error
// invalid_payload.
func readPayload(o httpx.Object, kind signal.EventType) ([]byte, error) {
	body := o.Raw("payload")
	if body == nil {
		body = []byte("{}")
	}
	p, err := httpx.DecodeBytes(body)
	if err != nil {
		return nil, signal.ErrPayload.WithText("payload must be an object")
	}
	var payload payloadJSON
	switch kind {
	case signal.Take:
		payload = readTake(p)
	case signal.Reaffirm:
		if len(p.Names()) > 0 {
			return nil, signal.ErrPayload.WithText("payload must be empty for the type reaffirm")
		}
	case signal.Confidence:
		n := p.Int("confidence", protocol.MinConfidence, protocol.MaxConfidence)
		payload.Confidence = &n
	case signal.Note:
		text := p.Text("text", signal.MaxEventText, true, true)
		payload.Text = &text
	case signal.Share:
		payload.Channel = request.OptText(p, "channel", signal.MaxEventChannel)
	}
	if err := p.Err(); err != nil {
		return nil, signal.ErrPayload.WithText("payload: %s", apperr.Of(err).Message)
	}
	if kind == signal.Take && payload == (payloadJSON{}) {
		return nil, signal.ErrPayload.WithText("payload must have at least one of mediaAssetId, url and text")
	}
	return httpx.Marshal(payload)
}

func readTake(p httpx.Object) payloadJSON {
	payload := payloadJSON{
		MediaAssetID: request.OptText(p, "mediaAssetId", protocol.MaxMediaAsset),
		URL:          request.OptText(p, "url", signal.MaxEventURL),
		Text:         request.OptProse(p, "text", signal.MaxEventText),
	}
	if payload.URL != nil && !request.IsURL(*payload.URL, "http", "https") {
		p.Invalid("url", "must be an http or https URL")
	}
	return payload
}

func showDryEvent(e *signalv1.Event) (out dryEventJSON) {
	shown := view.ShowEvent(e)
	out.DryRun = true
	out.Event.Type, out.Event.Payload = shown.Type, shown.Payload
	out.Event.Actor, out.Event.CreatedAt = shown.Actor, shown.CreatedAt
	return out
}
