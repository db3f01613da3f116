package verbs

import (
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

// eventWrite is SignalEventWrite in one shape.
type eventWrite struct {
	Type    string         `json:"type"`
	Payload map[string]any `json:"payload,omitempty"`
	DryRun  bool           `json:"dryRun,omitempty"`
}

// members lists the flags of each type; the first of a note and of confidence are needed,
// and one of a take.
var members = map[string][]string{
	"take": {"text", "url", "mediaAssetId"}, "reaffirm": {}, "confidence": {"confidence"}, "note": {"text"}, "share": {"channel"},
}

func (e *eventsAdd) body() (eventWrite, error) {
	w := eventWrite{Type: e.Type, Payload: map[string]any{}, DryRun: e.DryRun}
	for name, v := range map[string]string{"text": e.Text, "url": e.URL, "mediaAssetId": e.Media, "channel": e.Channel} {
		if v != "" {
			w.Payload[name] = v
		}
	}
	if e.Confidence != 0 {
		w.Payload["confidence"] = e.Confidence
	}
	for name := range w.Payload {
		if !slices.Contains(members[e.Type], name) {
			return w, errors.New("an event of type " + e.Type + " takes no " + name)
		}
	}
	if len(w.Payload) == 0 && e.Type != "reaffirm" && e.Type != "share" {
		need := map[string]string{"take": "--text, --url or --media", "note": "--text", "confidence": "--confidence"}
		return w, errors.New("an event of type " + e.Type + " needs " + need[e.Type])
	}
	return w, nil
}

// Run adds the event.
func (e *eventsAdd) Run(ctx context.Context, s *Streams) error {
	w, err := e.body()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	var body client.SignalEventWrite
	if err := body.UnmarshalJSON(raw); err != nil {
		return err
	}
	at, err := writing(&e.Flags, s)
	if err != nil {
		return err
	}
	if e.DryRun {
		a, err := at.AppendSignalEvent(ctx, e.Signal, nil, body)
		return e.advise(ask.Harmless(finish(at, a, err, func(d *client.DryEvent) error {
			return eventTable(at, []client.SignalEvent{{
				Type: client.SignalEventType(d.Event.Type), Payload: d.Event.Payload, Actor: d.Event.Actor, CreatedAt: d.Event.CreatedAt,
			}})
		})))
	}
	if e.IdempotencyKey == "" {
		e.IdempotencyKey = once(rand.Text())
	}
	a, err := at.AppendSignalEvent(ctx, e.Signal, &client.AppendSignalEventParams{IdempotencyKey: (*string)(&e.IdempotencyKey)}, body)
	err = finish(at, a, err, func(a *client.AppendedEvent) error { return eventTable(at, []client.SignalEvent{a.Event}) })
	return e.advise(ask.MayHave(err, fmt.Sprintf("Look with `signalcast events list %s`, or run the command again with --idempotency-key %s: it adds the event once", e.Signal, e.IdempotencyKey)))
}

// advise adds to a refusal what to do.
func (e *eventsAdd) advise(err error) error {
	err = known(err, "Look at the id: it is in the receipt of the call")
	if r := (*ask.Refused)(nil); errors.As(err, &r) && r.Code == "forbidden" {
		r.Do = "Only who filed a call adds to it: log in with a key of theirs"
	}
	return err
}

type eventsList struct {
	settings.Flags
	Signal uuid.UUID `arg:"" help:"The id of the call."`
}

// Run lists.
func (e *eventsList) Run(ctx context.Context, s *Streams) error {
	at, err := reading(&e.Flags, s)
	if err != nil {
		return err
	}
	a, err := at.ListSignalEvents(ctx, e.Signal)
	return known(finish(at, a, err, func(l *client.SignalEvents) error { return eventTable(at, l.Events) }),
		"Look at the id: it is in the receipt of the call")
}

func eventTable(s *session, events []client.SignalEvent) error {
	rows := make([][]string, 0, len(events))
	for _, e := range events {
		rows = append(rows, []string{when(&e.CreatedAt), string(e.Type), text(e.Actor), said(e.Payload)})
	}
	return show.Table(s.out, "No events.", []string{"TIME", "TYPE", "BY", "WHAT"}, rows)
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
