package signalcast

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Get returns the call with the given id. Calls are public.
func (s Signals) Get(ctx context.Context, id uuid.UUID) (client.Signal, error) {
	return read[client.Signal](s.c.Hub.GetSignal(ctx, id))
}

// Event is an entry in the history of a call: take, reaffirm, confidence, note or share.
type Event struct {
	Type    string         `json:"type"`
	Payload map[string]any `json:"payload,omitempty"`
}

// AddEvent adds an event to the history of a call of the caller. The call itself does not change.
func (s Signals) AddEvent(ctx context.Context, id uuid.UUID, e Event) (client.AppendedEvent, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return client.AppendedEvent{}, err
	}
	key := rand.Text()
	return read[client.AppendedEvent](s.c.Hub.AppendSignalEventWithBody(ctx, id,
		&client.AppendSignalEventParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(raw)))
}

// DryRunEvent validates an event like AddEvent and returns the event that AddEvent would store. It stores nothing.
func (s Signals) DryRunEvent(ctx context.Context, id uuid.UUID, e Event) (client.DryEvent, error) {
	raw, err := json.Marshal(struct {
		Event
		DryRun bool `json:"dryRun"`
	}{e, true})
	if err != nil {
		return client.DryEvent{}, err
	}
	return read[client.DryEvent](s.c.Hub.AppendSignalEventWithBody(ctx, id, nil, "application/json", bytes.NewReader(raw)))
}

// Events returns the history of a call, oldest first.
func (s Signals) Events(ctx context.Context, id uuid.UUID) (client.SignalEvents, error) {
	return read[client.SignalEvents](s.c.Hub.ListSignalEvents(ctx, id))
}

// Recent returns one of the three feeds of calls: recent, beat_crowd or open.
func (s Signals) Recent(ctx context.Context, params *client.ListSignalFeedParams) (client.SignalFeed, error) {
	return read[client.SignalFeed](s.c.Hub.ListSignalFeed(ctx, params))
}

// All returns all calls that match the parameters, newest first.
func (s Signals) All(ctx context.Context, params *client.ListSignalsParams) iter.Seq2[client.ListedSignal, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.SignalList, error) {
		q := q
		q.Cursor = cursor
		return read[client.SignalList](s.c.API.ListSignals(ctx, &q))
	}, func(l client.SignalList) ([]client.ListedSignal, *string) { return l.Signals, l.NextCursor })
}

// Feed returns the stored numbered events, newest first. With the parameter After, it returns the oldest event first. Package
// feed reads new events as they are published.
func (s Signals) Feed(ctx context.Context, params *client.ListFeedParams) iter.Seq2[client.FeedItem, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.Feed, error) {
		q := q
		q.Cursor = cursor
		return read[client.Feed](s.c.API.ListFeed(ctx, &q))
	}, func(f client.Feed) ([]client.FeedItem, *string) { return f.Items, f.NextCursor })
}
