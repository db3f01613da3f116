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

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Events are `signalcast events …`.
type Events struct {
	Add  eventsAdd  `cmd:"" help:"Add to the history of a call of yours. That never changes the call."`
	List eventsList `cmd:"" help:"The history of a call, oldest first."`
}

type eventsAdd struct {
	settings.Flags
	Signal         uuid.UUID `arg:"" help:"The id of the call."`
	Type           string    `arg:"" enum:"take,reaffirm,confidence,note,share" help:"take, reaffirm, confidence, note or share."`
	Text           string    `help:"Of a take or a note, up to 500 characters."`
	URL            string    `name:"url" help:"Of a take."`
	Media          string    `help:"Of a take: the id of a recording."`
	Confidence     int       `help:"Of confidence: 1 to 100."`
	Channel        string    `help:"Of a share: where, up to 40 characters."`
	DryRun         bool      `help:"Check the event and show what would be stored; store nothing."`
	IdempotencyKey once      `help:"The same key is the same event. Without it a new one each time." placeholder:"KEY"`
}

// members lists the flags of each type; the first of a note and of confidence are needed,
// and one of a take.
var members = map[string][]string{
	"take": {"text", "url", "mediaAssetId"}, "reaffirm": {}, "confidence": {"confidence"}, "note": {"text"}, "share": {"channel"},
}

// body returns the JSON of a SignalEventWrite.
func (e *eventsAdd) body() ([]byte, error) {
	payload := map[string]any{}
	for name, v := range map[string]string{"text": e.Text, "url": e.URL, "mediaAssetId": e.Media, "channel": e.Channel} {
		if v != "" {
			payload[name] = v
		}
	}
	if e.Confidence != 0 {
		payload["confidence"] = e.Confidence
	}
	for name := range payload {
		if !slices.Contains(members[e.Type], name) {
			return nil, errors.New("an event of type " + e.Type + " takes no " + name)
		}
	}
	if len(payload) == 0 && e.Type != "reaffirm" && e.Type != "share" {
		need := map[string]string{"take": "--text, --url or --media", "note": "--text", "confidence": "--confidence"}
		return nil, errors.New("an event of type " + e.Type + " needs " + need[e.Type])
	}
	return json.Marshal(struct {
		Type    string         `json:"type"`
		Payload map[string]any `json:"payload,omitempty"`
		DryRun  bool           `json:"dryRun,omitempty"`
	}{e.Type, payload, e.DryRun})
}

// Run adds the event.
func (e *eventsAdd) Run(ctx context.Context, s *Streams) error {
	body, err := e.body()
	if err != nil {
		return err
	}
	at, err := writing(&e.Flags, s)
	if err != nil {
		return err
	}
	if e.DryRun {
		a, err := at.AppendSignalEventWithBody(ctx, e.Signal, nil, "application/json", bytes.NewReader(body))
		return e.advise(ask.Harmless(finish(at, a, err, func(d *client.DryEvent) error {
			return eventTable(at, []client.SignalEvent{{
				Type: client.SignalEventType(d.Event.Type), Payload: d.Event.Payload, Actor: d.Event.Actor, CreatedAt: d.Event.CreatedAt,
			}})
		})))
	}
	if e.IdempotencyKey == "" {
		e.IdempotencyKey = once(rand.Text())
	}
	key := &client.AppendSignalEventParams{IdempotencyKey: (*string)(&e.IdempotencyKey)}
	a, err := at.AppendSignalEventWithBody(ctx, e.Signal, key, "application/json", bytes.NewReader(body))
	err = finish(at, a, err, func(a *client.AppendedEvent) error { return eventTable(at, []client.SignalEvent{a.Event}) })
	return e.advise(ask.MayHave(err, fmt.Sprintf("Look with `signalcast events list %s`, or run the command again with --idempotency-key %s: it adds the event once", e.Signal, e.IdempotencyKey)))
}

// advise adds to a refusal what to do.
func (e *eventsAdd) advise(err error) error {
	err = known(err, "Look at the id: it is in the receipt of the call")
	return ask.Advise(err, map[string]string{"forbidden": "Only who filed a call adds to it: log in with a key of theirs"})
}

type eventsList struct {
	public
	Signal uuid.UUID `arg:"" help:"The id of the call."`
}

// Run lists.
func (e *eventsList) Run(ctx context.Context, at *session) error {
	a, err := at.ListSignalEvents(ctx, e.Signal)
	return known(finish(at, a, err, func(l *client.SignalEvents) error { return eventTable(at, l.Events) }),
		"Look at the id: it is in the receipt of the call")
}

func eventTable(s *session, events []client.SignalEvent) error {
	return show.Table(s.out, "No events.", "TIME,TYPE,BY,WHAT", events, func(e client.SignalEvent) []string {
		return []string{when(&e.CreatedAt), string(e.Type), text(e.Actor), said(e.Payload)}
	})
}

// said is a payload in a line.
func said(payload map[string]any) string {
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
