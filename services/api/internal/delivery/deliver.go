package delivery

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// batch is the content of one delivery: the frames of the events with after < number <= through that match the webhook.
type batch struct {
	frames      [][]byte
	first, last int64 // numbers of the first and last event; 0: no event
	after       int64
	through     int64
}

// deliver makes one delivery attempt for webhook h. It repeats the pending delivery, if there is one. Otherwise it makes a
// new delivery with the events whose numbers are above at and not above head. If no event matches, it sends nothing. The
// result contains the new state of the webhook.
func (t *term) deliver(ctx context.Context, h webhook.Hook, at, head int64) result {
	b, err := t.collect(ctx, &h, at, head)
	if err != nil {
		return t.reload(ctx, h, at, "reading the feed for a webhook failed", err)
	}
	if len(b.frames) == 0 && h.DeliveryID == "" {
		return result{hook: h, at: b.through}
	}
	if h.DeliveryID == "" {
		h.DeliveryID, h.Through = uuid.Must(uuid.NewV7()).String(), b.through
	}
	h.Attempt++
	bounded, cancel := context.WithTimeout(ctx, stepBudget)
	fresh, ok, err := t.Hooks.BeginDelivery(bounded, h, b.after)
	cancel()
	if err != nil || !ok {
		return t.reload(ctx, h, at, "storing a delivery attempt failed", err)
	}
	d := webhook.Delivery{HookID: h.ID, ID: h.DeliveryID, First: b.first, Last: b.last, Events: len(b.frames), Attempt: h.Attempt}
	d.Outcome = t.send(ctx, &fresh, b.frames)
	if d.Error != "" && ctx.Err() != nil {
		return result{hook: h, lost: true} // the worker has stopped during the request
	}
	return t.storeResult(ctx, fresh, d)
}

// reload returns a result with lost set, so that the webhook is read from the database again. If err is not nil and ctx has
// not ended, reload logs the error with the text in the parameter what. err is nil if the webhook has changed during the
// attempt.
func (t *term) reload(ctx context.Context, h webhook.Hook, at int64, what string, err error) result {
	if err != nil && ctx.Err() == nil {
		t.Log.WarnContext(ctx, what, "webhook", h.ID, "error", err)
	}
	return result{hook: h, at: at, lost: true}
}

func (t *term) send(ctx context.Context, h *webhook.Hook, frames [][]byte) webhook.Outcome {
	now := t.Now()
	body := webhook.Body(h.ID, h.DeliveryID, h.Attempt, frames)
	signature, err := t.Vault.Signature(h, now, body)
	if err != nil {
		t.Log.WarnContext(ctx, "signing a delivery failed", "webhook", h.ID, "error", err)
		return webhook.Outcome{Error: webhook.FailedSecret}
	}
	return t.Send(ctx, webhook.Post{URL: h.URL, DeliveryID: h.DeliveryID, Signature: signature, Body: body})
}

// storeResult stores the outcome of an attempt and returns the new state of the webhook. It does so even if ctx has ended, so
// that an accepted delivery is not repeated.
func (t *term) storeResult(ctx context.Context, h webhook.Hook, d webhook.Delivery) result {
	now := t.Now().UTC()
	d.At = now.Truncate(time.Millisecond)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepBudget)
	defer cancel()
	if d.Error == "" {
		if err := t.Hooks.CompleteDelivery(bounded, d); err != nil {
			return t.reload(ctx, h, h.Cursor, "storing an accepted delivery failed; it will be repeated", err)
		}
		h.Cursor, h.Reason = max(h.Cursor, h.Through), ""
		h.DeliveryID, h.Through, h.Attempt = "", 0, 0
		h.FailingSince, h.NextAt = time.Time{}, time.Time{}
		return result{hook: h, at: h.Cursor}
	}
	if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	h.NextAt = now.Add(webhook.Backoff(h.Attempt, t.Chance()))
	h.Active = !webhook.Dead(h.FailingSince, now)
	h.Reason = failureReason(d.Outcome)
	if err := t.Hooks.FailDelivery(bounded, d, h.FailingSince, h.NextAt, h.Active, h.Reason); err != nil {
		return t.reload(ctx, h, h.Cursor, "storing the result of a failed delivery failed", err)
	}
	return result{hook: h, at: h.Cursor}
}

// failureReason returns the error code of an outcome, followed by the HTTP status if there was a response.
func failureReason(o webhook.Outcome) string {
	if o.Status > 0 {
		return o.Error + " " + strconv.Itoa(o.Status)
	}
	return o.Error
}

// collect builds the batch of the pending delivery again. If no delivery is pending, it builds the next batch, with at most
// webhook.MaxEvents frames. If the next events are deleted, the batch reports a gap. If a batch has no frames, no event up to
// through matches.
func (t *term) collect(ctx context.Context, h *webhook.Hook, at, head int64) (batch, error) {
	again := h.DeliveryID != ""
	b := batch{after: at, through: at}
	upTo := head
	if again {
		b.after, b.through, upTo = h.Cursor, h.Cursor, h.Through
	}
	chain := feed.NewChain(t.Feed)
	for n := 0; b.through < upTo && (again || n < pages); n++ {
		messages, ok := t.Memory.Recent(b.through, pageSize)
		if !ok {
			oldest, err := t.oldest(ctx)
			if err != nil {
				return b, err
			}
			if b.through+1 < oldest {
				if len(b.frames) > 0 {
					return b, nil
				}
				return gap(h, b.through, oldest, upTo, again), nil
			}
			if messages, err = t.readPage(ctx, chain, b.through); err != nil {
				return b, err
			}
		}
		for i := range messages {
			m := &messages[i]
			if m.Seq > upTo {
				return b, nil
			}
			links := h.Pick(m)
			if !again && len(b.frames)+len(links) > webhook.MaxEvents {
				return b, nil
			}
			b.add(m, links)
		}
		if len(messages) == 0 {
			return b, nil
		}
	}
	return b, nil
}

func (b *batch) add(m *feed.Message, links []feed.Link) {
	b.through = m.Seq
	for _, l := range links {
		if b.first == 0 {
			b.first = m.Seq
		}
		b.last = m.Seq
		b.frames = append(b.frames, broker.EventFrame(m, l))
	}
}

// gap returns a batch with a gap frame for every channel of the webhook, because the events with from < number < oldest are
// deleted. A repeated delivery reports the same range again, even if more events have been deleted since.
func gap(h *webhook.Hook, from, oldest, upTo int64, again bool) batch {
	if again {
		oldest = min(oldest, upTo+1)
	}
	b := batch{after: from, through: oldest - 1}
	for _, c := range h.Channels {
		b.frames = append(b.frames, broker.GapFrame(c, from, oldest))
	}
	return b
}

func (t *term) oldest(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	return t.Feed.FeedOldest(ctx)
}

// readPage reads up to pageSize events after a number from the database.
func (t *term) readPage(ctx context.Context, chain *feed.Chain, after int64) ([]feed.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	return chain.Read(ctx, after, pageSize)
}
