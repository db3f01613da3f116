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

// batch is what a delivery holds: the frames of events behind after and up to through.
type batch struct {
	frames      [][]byte
	first, last int64 // 0: no event
	after       int64
	through     int64
}

// turn sends one delivery of a webhook, or finds that there is nothing for it.
func (t *term) turn(ctx context.Context, h webhook.Hook, at, head int64) ending {
	b, err := t.collect(ctx, &h, at, head)
	if err != nil {
		return t.trouble(ctx, h, at, "the feed cannot be read for a webhook", err)
	}
	if len(b.frames) == 0 && h.DeliveryID == "" {
		return ending{hook: h, at: b.through}
	}
	if h.DeliveryID == "" {
		h.DeliveryID, h.Through = uuid.Must(uuid.NewV7()).String(), b.through
	}
	h.Attempt++
	bounded, cancel := context.WithTimeout(ctx, stepBudget)
	fresh, ok, err := t.Hooks.BeginDelivery(bounded, h, b.after)
	cancel()
	if err != nil || !ok {
		return t.trouble(ctx, h, at, "a delivery was not begun", err)
	}
	d := webhook.Delivery{HookID: h.ID, ID: h.DeliveryID, First: b.first, Last: b.last, Events: len(b.frames), Attempt: h.Attempt}
	d.Outcome = t.send(ctx, &fresh, b.frames)
	if d.Error != "" && ctx.Err() != nil {
		return ending{hook: h, lost: true} // it was us who ended it
	}
	return t.note(ctx, fresh, d)
}

// trouble ends a turn that is to be made again from what the database knows; err is
// nil when the webhook has changed.
func (t *term) trouble(ctx context.Context, h webhook.Hook, at int64, what string, err error) ending {
	if err != nil && ctx.Err() == nil {
		t.Log.WarnContext(ctx, what, "webhook", h.ID, "error", err)
	}
	return ending{hook: h, at: at, lost: true}
}

func (t *term) send(ctx context.Context, h *webhook.Hook, frames [][]byte) webhook.Outcome {
	now := t.Now()
	body := webhook.Body(h.ID, h.DeliveryID, h.Attempt, frames)
	signature, err := t.Vault.Signature(h, now, body)
	if err != nil {
		t.Log.WarnContext(ctx, "a delivery cannot be signed", "webhook", h.ID, "error", err)
		return webhook.Outcome{Error: webhook.FailedSecret}
	}
	return t.Send(ctx, webhook.Post{URL: h.URL, DeliveryID: h.DeliveryID, Signature: signature, Body: body})
}

// note writes down what came of a delivery, even when the term ends meanwhile: what was
// taken need not come again.
func (t *term) note(ctx context.Context, h webhook.Hook, d webhook.Delivery) ending {
	now := t.Now().UTC()
	d.At = now.Truncate(time.Millisecond)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepBudget)
	defer cancel()
	if d.Error == "" {
		if err := t.Hooks.TakenDelivery(bounded, d); err != nil {
			return t.trouble(ctx, h, h.Cursor, "a delivery that was taken is not noted and comes again", err)
		}
		h.Cursor, h.Reason = max(h.Cursor, h.Through), ""
		h.DeliveryID, h.Through, h.Attempt = "", 0, 0
		h.FailingSince, h.NextAt = time.Time{}, time.Time{}
		return ending{hook: h, at: h.Cursor}
	}
	if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	h.NextAt = now.Add(webhook.Backoff(h.Attempt, t.Chance()))
	h.Active = !webhook.Dead(h.FailingSince, now)
	h.Reason = why(d.Outcome)
	if err := t.Hooks.FailedDelivery(bounded, d, h.FailingSince, h.NextAt, h.Active, h.Reason); err != nil {
		return t.trouble(ctx, h, h.Cursor, "a delivery that failed is not noted", err)
	}
	return ending{hook: h, at: h.Cursor}
}

// why is an outcome in one word, with the status of an answer.
func why(o webhook.Outcome) string {
	if o.Status > 0 {
		return o.Error + " " + strconv.Itoa(o.Status)
	}
	return o.Error
}

// collect makes the batch of the delivery under way again, or that of the next one.
// Without frames it tells how far there was nothing.
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
			if messages, err = t.stored(ctx, chain, b.through); err != nil {
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

// gap tells on every channel that the feed begins behind what the webhook has. Made
// again it says the same, although the feed may begin later by then.
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

// stored reads a page of the feed from the database.
func (t *term) stored(ctx context.Context, chain *feed.Chain, after int64) ([]feed.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	return chain.Read(ctx, after, pageSize)
}
