package pages

import (
	"crypto/rand"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// eventForm is a form that appends an event to a call, as the visitor sent it, and the reason why nothing was appended.
type eventForm struct {
	Type, Text, Confidence, Key string
	err                         error
}

// eventPanel has the forms with which the visitor updates an own call.
type eventPanel struct {
	eventForm
	Action, FormToken string
	MaxText           int
	Decided           bool   // the call has its result: only a take can be added
	Alert, AlertField string // error text, and the id of the field that has the error
}

func eventFormOf(form url.Values) eventForm {
	return eventForm{
		Type: form.Get("type"), Text: form.Get("text"), Confidence: strings.TrimSpace(form.Get("confidence")),
		Key: form.Get("idempotencyKey"),
	}
}

// typed returns the values that wait for a sign-in.
func (f eventForm) typed() url.Values {
	return url.Values{"type": {f.Type}, "text": {f.Text}, "confidence": {f.Confidence}}
}

// members returns the members of the event, as in the body of POST /api/signals/{id}/events.
func (f eventForm) members() map[string]any {
	payload := map[string]any{}
	switch signal.EventType(f.Type) {
	case signal.Take:
		if strings.TrimSpace(f.Text) != "" {
			payload["text"] = f.Text
		}
	case signal.Confidence:
		payload["confidence"] = numberOrText(f.Confidence)
	}
	return map[string]any{"type": f.Type, "payload": payload}
}

// appendEvent handles POST /receipts/{id}/events, which adds a take, a confirmation or a confidence to a call of the visitor and
// redirects to the receipt. If nothing was added, it shows the receipt with the reason and with the values of the form.
func (s *server) appendEvent(c echo.Context) error {
	id, ok := request.ParseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	path := site.ReceiptPath + id
	v, values, err := s.ReadForm(c)
	form := eventFormOf(values)
	switch {
	case values == nil:
		return err
	case errors.Is(v.Err, site.ErrSignedOut):
		if _, err := s.SaveDraft(c, path, form.typed()); err != nil {
			return err
		}
		return site.Redirect(c, site.SignInURL(path))
	case err != nil:
	case !isFormKey(form.Key):
		err = site.ErrForm
	default:
		if err = s.AppendEvent(c.Request().Context(), operator.ID(v.Session.UserID), id, form.members(), form.Key); err == nil {
			return s.Finish(c, path+"#updates")
		}
	}
	if f := apperr.Of(err); f.Kind == apperr.NotFound || f.Kind == apperr.Forbidden && !site.IsExpired(err) {
		return err
	}
	form.err = err
	return s.showReceipt(c, httpx.Status(apperr.Of(err).Kind), id, form)
}

// eventPanelOf returns the forms for a call.
func (s *server) eventPanelOf(c echo.Context, call *signalv1.Signal, form eventForm) *eventPanel {
	p := &eventPanel{
		eventForm: form, Action: site.ReceiptPath + call.GetId() + "/events", FormToken: s.TokenOf(c), MaxText: signal.MaxEventText,
		Decided: protocol.SignalStatus(call.GetStatus()) != protocol.Pending,
	}
	f := apperr.Of(form.err)
	if f == nil || f.Kind == apperr.Conflict || !isFormKey(form.Key) {
		p.Key = rand.Text() // the forms of a page have one key, which another of them may have used
	}
	switch {
	case f == nil:
	case f.Kind == apperr.Invalid && signal.EventType(form.Type) == signal.Take:
		p.Alert, p.AlertField = "Enter 1 to 500 characters as the take, without control characters.", "event-take"
	case f.Kind == apperr.Invalid && signal.EventType(form.Type) == signal.Confidence:
		p.Alert, p.AlertField = "Enter a whole number from 1 to 100 as the confidence.", "event-confidence"
	case f.Code == "event_limit_reached":
		p.Alert = "This call has 200 updates, the maximum."
	case f.Code == "idempotency_key_reused":
		p.Alert = "Another update was sent from this page before, so this one was not stored. Check and send again."
	case f.Kind == apperr.Limited:
		p.Alert = "You can update this call again in " + waitOf(f) + "."
	case f.Kind == apperr.Unavailable:
		p.Alert = "We do not know yet whether your update was stored. Send it again: it is never stored twice."
	case site.IsExpired(f):
		p.Alert = f.Message
	default:
		p.Alert = site.ErrForm.Message
	}
	return p
}

// isFormKey reports whether a form has a valid key.
func isFormKey(key string) bool { return key != "" && len(key) <= maxFormKey }

// numberOrText returns a number that was typed, or the text itself, which is then an error of the call or event.
func numberOrText(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}
