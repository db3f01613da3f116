package verbs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Events groups the commands of `signalcast events`, which show and extend the history of a call.
type Events struct {
	Add  eventsAdd  `cmd:"" help:"Add an event to the history of your call. The call itself does not change."`
	List eventsList `cmd:"" help:"Show the history of a call, oldest event first."`
}

type eventsAdd struct {
	settings.Flags
	Signal     callID `arg:"" help:"Id of the call."`
	Type       string `arg:"" enum:"take,reaffirm,confidence,note,share" help:"take, reaffirm, confidence, note or share."`
	Text       string `help:"Text of a take or a note, up to 500 characters."`
	URL        string `name:"url" help:"Link of a take."`
	Media      string `help:"Id of the recording of a take."`
	Confidence *int   `help:"New confidence of a confidence event, 1 to 100." bounds:"from 1 to 100" placeholder:"INT"`
	Channel    string `help:"Channel of a share, up to 40 characters."`
	DryRun     bool   `help:"Check the event and show what would be stored; store nothing."`

	IdempotencyKey idempotencyKey `help:"A repetition with the same key adds no second event. Default: a new key." placeholder:"KEY"`
}

// members lists the payload members that each event type accepts. The types note and confidence require their only member. The
// type take requires at least one member.
var members = map[string][]string{
	"take": {"text", "url", "mediaAssetId"}, "reaffirm": {}, "confidence": {"confidence"}, "note": {"text"}, "share": {"channel"},
}

// body returns the request body, a SignalEventWrite. It returns an error if a flag does not fit the event type, or if a required
// flag is missing.
func (e *eventsAdd) body() ([]byte, error) {
	payload := map[string]any{}
	for name, v := range map[string]string{"text": e.Text, "url": e.URL, "mediaAssetId": e.Media, "channel": e.Channel} {
		if v != "" {
			payload[name] = v
		}
	}
	if err := checkConfidence(e.Confidence); err != nil {
		return nil, err
	}
	if e.Confidence != nil {
		payload["confidence"] = *e.Confidence
	}
	for name := range payload {
		if !slices.Contains(members[e.Type], name) {
			return nil, errors.New("an event of type " + e.Type + " does not accept --" + strings.TrimSuffix(name, "AssetId"))
		}
	}
	if len(payload) == 0 && e.Type != "reaffirm" && e.Type != "share" {
		required := map[string]string{"take": "--text, --url or --media", "note": "--text", "confidence": "--confidence"}
		return nil, errors.New("an event of type " + e.Type + " requires " + required[e.Type])
	}
	return json.Marshal(struct {
		Type    string         `json:"type"`
		Payload map[string]any `json:"payload,omitempty"`
		DryRun  bool           `json:"dryRun,omitempty"`
	}{e.Type, payload, e.DryRun})
}

// Run adds the event to the history of the call, or sends it as a dry run.
func (e *eventsAdd) Run(ctx context.Context, s *Streams) error {
	body, err := e.body()
	if err != nil {
		return err
	}
	at, err := openWithKey(&e.Flags, s)
	if err == nil {
		err = at.out.CheckColumns(eventColumns) // after the write, an error would say that it failed
	}
	if err != nil {
		return err
	}
	if e.DryRun {
		a, err := at.AppendSignalEventWithBody(ctx, uuid.UUID(e.Signal), nil, "application/json", bytes.NewReader(body))
		return e.advise(ask.AsRead(showResponse(at, a, err, func(d *client.DryEvent) error {
			return eventTable(at, []client.SignalEvent{{
				Type: client.SignalEventType(d.Event.Type), Payload: d.Event.Payload,
				Actor: d.Event.Actor, CreatedAt: d.Event.CreatedAt,
			}})
		})))
	}
	if e.IdempotencyKey == "" {
		e.IdempotencyKey = idempotencyKey(rand.Text())
	}
	key := &client.AppendSignalEventParams{IdempotencyKey: (*string)(&e.IdempotencyKey)}
	a, err := at.AppendSignalEventWithBody(ctx, uuid.UUID(e.Signal), key, "application/json", bytes.NewReader(body))
	err = showResponse(at, a, err, func(a *client.AppendedEvent) error { return eventTable(at, []client.SignalEvent{a.Event}) })
	return e.advise(ask.AdviseUnknown(err, fmt.Sprintf(
		"Check with `signalcast events list %s`, or run the command again with --idempotency-key %s: it adds the event once",
		e.Signal, e.IdempotencyKey)))
}

// advise adds advice for people to the refusal of an event.
func (e *eventsAdd) advise(err error) error {
	err = adviseNotFound(err, checkCallID)
	return ask.Advise(err, map[string]ask.Advice{
		"forbidden": {Why: "Only the operator of a call can add events", Do: "Log in with a key of that operator"},
	})
}

// checkCallID is the advice for a call id that does not exist.
const checkCallID = "Check the id: it is in the receipt of the call"

type eventsList struct {
	public
	Signal callID `arg:"" help:"Id of the call."`
}

// Run reads and shows the events of the call.
func (e *eventsList) Run(ctx context.Context, at *session) error {
	a, err := at.ListSignalEvents(ctx, uuid.UUID(e.Signal))
	return adviseNotFound(showResponse(at, a, err, func(l *client.SignalEvents) error { return eventTable(at, l.Events) }),
		checkCallID)
}

const eventColumns = "TIME,TYPE,BY,WHAT"

func eventTable(s *session, events []client.SignalEvent) error {
	return show.Table(s.out, "No events.", eventColumns, events, func(e client.SignalEvent) []string {
		return []string{when(&e.CreatedAt), string(e.Type), text(e.Actor), payloadText(e.Payload)}
	})
}

// payloadText returns the payload of an event as one line: only its text or its confidence if there is nothing else, otherwise
// JSON.
func payloadText(payload map[string]any) string {
	if words, ok := payload["text"].(string); ok && len(payload) == 1 {
		return words
	}
	if n, ok := payload["confidence"].(float64); ok && len(payload) == 1 {
		return strconv.Itoa(int(n))
	}
	if len(payload) == 0 {
		return ""
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return ""
	}
	return string(raw)
}
