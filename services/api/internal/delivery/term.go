package delivery

import (
	"context"
	"sync"

	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// term is the state of one call of Worker.Run. Only the goroutine of Run changes its fields. Deliveries run in other goroutines.
// They use copies of webhooks and send their results on the channel results.
type term struct {
	*Worker
	hooks   map[string]*follower
	owners  map[string]int // number of running deliveries by operator id
	running int
	results chan result
	work    sync.WaitGroup

	// page is the page of events that was last read from memory, and pageAfter is the number before it. Most webhooks are at
	// the same number, so they share the page.
	pageAfter int64
	page      []feed.Message
}

// follower is an active webhook and its position in the feed.
type follower struct {
	hook  webhook.Hook
	at    int64 // all events up to this number were sent or do not match; at least hook.Cursor
	busy  bool
	stale bool // the webhook was changed or deleted during a delivery
}

// result is the state of a webhook after a delivery attempt.
type result struct {
	hook webhook.Hook
	at   int64
	lost bool // the webhook must be read from the database again
}

// load reads the active webhooks from the database. Of an unchanged webhook, it takes only the time of the next attempt. It does
// not replace the follower, because its position can be above the stored cursor.
func (t *term) load(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	list, err := t.Hooks.ActiveWebhooks(bounded)
	if err != nil {
		if ctx.Err() == nil {
			t.Log.WarnContext(ctx, "reading webhooks failed", "error", err)
		}
		return
	}
	found := make(map[string]bool, len(list))
	for _, h := range list {
		found[h.ID] = true
		f, known := t.hooks[h.ID]
		switch {
		case !known:
			t.hooks[h.ID] = &follower{hook: h, at: h.Cursor}
		case f.hook.Revision == h.Revision && f.busy:
		case f.hook.Revision == h.Revision:
			f.hook.NextAt = h.NextAt // webhook.Service.Resend makes an attempt due
		case f.busy:
			f.stale = true
		default:
			*f = follower{hook: h, at: h.Cursor}
		}
	}
	for id, f := range t.hooks {
		switch {
		case found[id]:
		case f.busy:
			f.stale = true
		default:
			delete(t.hooks, id)
		}
	}
}

// storeCursors stores the positions of webhooks that had nothing to send. Without it, a restart would search the same events
// again.
func (t *term) storeCursors(ctx context.Context) {
	var moved []webhook.Hook
	for _, f := range t.hooks {
		if !f.busy && f.hook.DeliveryID == "" && f.at > f.hook.Cursor {
			h := f.hook
			h.Cursor = f.at
			moved = append(moved, h)
		}
	}
	if len(moved) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	if err := t.Hooks.AdvanceWebhooks(bounded, moved); err != nil {
		if ctx.Err() == nil {
			t.Log.WarnContext(ctx, "storing webhook cursors failed", "error", err)
		}
		return
	}
	for i := range moved {
		t.hooks[moved[i].ID].hook.Cursor = moved[i].Cursor
	}
}

// start starts a delivery for each webhook that has something to send, up to maxInFlight in total and perOwner for each
// operator. The order of a map is random, so no webhook is always last.
func (t *term) start(ctx context.Context) {
	if !t.Memory.Ready() {
		return
	}
	now, head := t.Now(), t.Memory.Head()
	t.pageAfter, t.page = -1, nil
	for _, f := range t.hooks {
		if t.running == maxInFlight {
			return
		}
		if f.busy || t.owners[f.hook.OwnerID] >= perOwner || now.Before(f.hook.NextAt) || f.hook.DeliveryID == "" && !t.hasWork(f, head) {
			continue
		}
		f.busy = true
		t.running++
		t.owners[f.hook.OwnerID]++
		h, at := f.hook, f.at
		t.work.Go(func() { t.results <- t.deliver(ctx, h, at, head) })
	}
}

// hasWork reports whether an event up to head matches the webhook, or must be read from the database. It advances the position
// of the webhook past events in memory that do not match.
func (t *term) hasWork(f *follower, head int64) bool {
	for f.at < head {
		if t.pageAfter != f.at {
			page, ok := t.Memory.Recent(f.at, pageSize)
			if !ok || len(page) == 0 {
				return !ok
			}
			t.pageAfter, t.page = f.at, page
		}
		for i := range t.page {
			if len(f.hook.Pick(&t.page[i])) > 0 {
				return true
			}
		}
		f.at = t.page[len(t.page)-1].Seq
	}
	return false
}

// finish applies the result of a delivery attempt to the follower of the webhook.
func (t *term) finish(e result) {
	f := t.hooks[e.hook.ID]
	t.running--
	if t.owners[e.hook.OwnerID]--; t.owners[e.hook.OwnerID] == 0 {
		delete(t.owners, e.hook.OwnerID)
	}
	if f.stale || e.lost || !e.hook.Active {
		delete(t.hooks, e.hook.ID) // load reads the webhook again
		return
	}
	f.hook, f.at, f.busy = e.hook, e.at, false
}
