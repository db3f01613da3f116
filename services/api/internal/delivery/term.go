package delivery

import (
	"context"
	"sync"

	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// term is one run of a worker. Its members belong to the goroutine of Run;
// deliveries work on copies and report on ended.
type term struct {
	*Worker
	hooks  map[string]*follower
	owners map[string]int // deliveries under way
	flying int
	ended  chan ending
	work   sync.WaitGroup

	// The page that was read last: most webhooks continue from the same number.
	pageAfter int64
	page      []feed.Message
}

// follower is a webhook and the number up to which the feed was read for it.
type follower struct {
	hook  webhook.Hook
	at    int64 // nothing up to here is left to send; at least hook.Cursor
	busy  bool
	stale bool // changed or deleted while it was busy
}

// ending is the result of one turn of a webhook.
type ending struct {
	hook webhook.Hook
	at   int64
	lost bool // the webhook must be read from the database again
}

// load reads the active webhooks. The follower of a webhook that did not change stays, because it can be further than the
// database.
func (t *term) load(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	list, err := t.Hooks.ActiveWebhooks(bounded)
	if err != nil {
		if ctx.Err() == nil {
			t.Log.WarnContext(ctx, "webhooks cannot be read", "error", err)
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
		case f.hook.Revision == h.Revision:
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

// pass notes how far webhooks have come for which there was nothing.
func (t *term) pass(ctx context.Context) {
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
	if err := t.Hooks.PassWebhooks(bounded, moved); err != nil {
		if ctx.Err() == nil {
			t.Log.WarnContext(ctx, "cursors of webhooks were not noted", "error", err)
		}
		return
	}
	for i := range moved {
		t.hooks[moved[i].ID].hook.Cursor = moved[i].Cursor
	}
}

// start gives a turn to each webhook that has something to send, while there is room.
// The order is one of chance, so that none is always last.
func (t *term) start(ctx context.Context) {
	if !t.Memory.Ready() {
		return
	}
	now, head := t.Now(), t.Memory.Head()
	t.pageAfter, t.page = -1, nil
	for _, f := range t.hooks {
		if t.flying == inFlight {
			return
		}
		if f.busy || t.owners[f.hook.OwnerID] >= perOwner || now.Before(f.hook.NextAt) || f.hook.DeliveryID == "" && !t.look(f, head) {
			continue
		}
		f.busy = true
		t.flying++
		t.owners[f.hook.OwnerID]++
		h, at := f.hook, f.at
		t.work.Go(func() { t.ended <- t.turn(ctx, h, at, head) })
	}
}

// look tells whether something may wait for a webhook, and moves it over what is in
// memory and not for it.
func (t *term) look(f *follower, head int64) bool {
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

// settle takes in what came of a turn.
func (t *term) settle(e ending) {
	f := t.hooks[e.hook.ID]
	t.flying--
	if t.owners[e.hook.OwnerID]--; t.owners[e.hook.OwnerID] == 0 {
		delete(t.owners, e.hook.OwnerID)
	}
	if f.stale || e.lost || !e.hook.Active {
		delete(t.hooks, e.hook.ID) // the next load finds it as it is
		return
	}
	f.hook, f.at, f.busy = e.hook, e.at, false
}
