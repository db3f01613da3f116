package delivery_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// TestAnHourOfFailures makes an endpoint fail for an hour. Afterwards, all events must arrive in order, in requests with valid
// signatures.
func TestAnHourOfFailures(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t) // less memory than events in that hour
	h, secret := b.register(webhook.Draft{URL: r.url, Channels: []string{"resolutions", "market:1"}})
	b.startWorker(nil)
	r.setStatus(500)
	b.publish("market.disputed", "1", 3)
	wanted, attempts := 3, 0
	pauses := []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}
	for _, pause := range append([]time.Duration{0}, pauses...) {
		if pause > 0 { // there is no attempt before the pause has passed
			b.clock.Advance(pause - time.Second)
			b.publish("market.status", "1", 40)
			b.publish("market.status", "2", 10) // not on the webhook's channels
			b.publish("market.dispute_cleared", "2", 1)
			wanted += 41
			if n := len(r.received()); n != attempts {
				t.Fatalf("%d attempts before a pause of %v had passed, want %d", n, pause, attempts)
			}
			b.clock.Advance(time.Second)
		}
		attempts++
		r.waitFor(attempts)
		b.attempts(h.ID, attempts)
	}
	if since := b.get(h.ID); !since.Active || since.Cursor != 0 || !since.FailingSince.Equal(noon) || since.Reason != "status 500" {
		t.Errorf("after an hour: %+v", since)
	}
	r.setStatus(204)
	b.clock.Advance(66 * time.Minute) // the maximum pause after the sixth attempt
	testkit.Eventually(t, 30*time.Second, func() bool { return b.get(h.ID).Cursor == b.broker.Head() })
	posts := r.received()
	first := posts[0]
	last := map[string]int64{"resolutions": 0, "market:1": 0}
	seen := map[int64]bool{}
	for i := range posts {
		p := &posts[i]
		if i <= attempts {
			if p.DeliveryID != first.DeliveryID || p.Attempt != i+1 || cmp.Diff(first.Events, p.Events) != "" {
				t.Errorf("attempt %d of the first delivery: %s", i+1, p.body)
			}
			if i < attempts {
				continue
			}
		}
		if err := verify(p, secret, b.clock.Now()); err != nil {
			t.Errorf("delivery %d: %v", i, err)
		}
		if verify(p, secret+"x", b.clock.Now()) == nil {
			t.Error("the signature is valid with another secret")
		}
		if len(p.Events) > webhook.MaxEvents {
			t.Errorf("%d events in a delivery", len(p.Events))
		}
		for _, e := range p.Events {
			was, known := last[e.Channel]
			if !known || (e.Prev == nil) != (was == 0) || e.Prev != nil && *e.Prev != was || e.Seq <= was {
				t.Fatalf("event %d on %s after %d: prev %v", e.Seq, e.Channel, was, e.Prev)
			}
			last[e.Channel] = e.Seq
			seen[e.Seq] = true
		}
	}
	if len(seen) != wanted {
		t.Errorf("%d events arrived, want %d", len(seen), wanted)
	}
	if now := b.get(h.ID); !now.FailingSince.IsZero() || now.Reason != "" || now.DeliveryID != "" {
		t.Errorf("after the last delivery: %+v", now)
	}
	log := b.attempts(h.ID, len(posts))
	if oldest := log[len(log)-1]; oldest.First != 1 || oldest.Last != 3 || oldest.Events != 6 || oldest.Attempt != 1 || oldest.Status != 500 || oldest.Error != "status" {
		t.Errorf("log: %+v", oldest)
	}
}

// crashing is a store that fails before each step for which crash returns true.
type crashing struct {
	webhook.Store
	crash func(step string) bool
}

func (m crashing) BeginDelivery(ctx context.Context, h webhook.Hook, after int64) (webhook.Hook, bool, error) {
	if m.crash("before begin") {
		return webhook.Hook{}, false, ctx.Err()
	}
	return m.Store.BeginDelivery(ctx, h, after)
}

func (m crashing) CompleteDelivery(ctx context.Context, d webhook.Delivery) error {
	if m.crash("before store") {
		return context.Canceled
	}
	return m.Store.CompleteDelivery(ctx, d)
}

// TestKilledBetweenSendAndStore stops a worker before it has stored the result of a delivery. The next worker must repeat the
// same delivery with the same id, and then continue with the next events.
func TestKilledBetweenSendAndStore(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"before begin", "before send", "before store"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b, r := setup(t, 64), newReceiver(t)
			h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
			b.publish("market.status", "1", 5)
			var killed atomic.Bool
			stop := b.startWorker(func(w *delivery.Worker, kill func()) {
				crash := func(at string) bool {
					if at == step {
						killed.Store(true)
						kill()
					}
					return at == step
				}
				send := w.Send
				w.Hooks = crashing{w.Hooks, crash}
				w.Send = func(ctx context.Context, p webhook.Post) webhook.Outcome {
					if crash("before send") {
						return webhook.Outcome{Error: webhook.FailedConnect}
					}
					return send(ctx, p)
				}
			})
			testkit.Eventually(t, 20*time.Second, killed.Load)
			stop()
			b.publish("market.status", "1", 4) // must not become part of the repeated delivery
			if at := b.get(h.ID).Cursor; at != 0 {
				t.Fatalf("cursor %d before a result was stored", at)
			}
			b.startWorker(nil)
			testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 9 })
			posts := r.received()
			var all []int64
			for _, p := range posts {
				all = append(all, p.seqs()...)
			}
			slices.Sort(all)
			if got := slices.Compact(slices.Clone(all)); len(got) != 9 {
				t.Errorf("events %v arrived, want each of 1 to 9", all)
			}
			if step == "before store" {
				if len(posts) != 3 || posts[0].DeliveryID != posts[1].DeliveryID || posts[1].Attempt != 2 || !slices.Equal(posts[0].seqs(), posts[1].seqs()) {
					t.Errorf("%d requests: %+v", len(posts), posts)
				}
			}
		})
	}
}

// TestDeactivation checks that a webhook is deactivated after three days of failures. When it is activated again, it must
// continue at its cursor.
func TestDeactivation(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
	r.setStatus(503)
	b.publish("market.status", "1", 2)
	b.startWorker(nil)
	b.attempts(h.ID, 1)
	b.clock.Advance(72*time.Hour - time.Minute)
	b.attempts(h.ID, 2)
	if !b.get(h.ID).Active {
		t.Fatal("deactivated before three days")
	}
	b.clock.Advance(time.Minute)
	b.attempts(h.ID, 3)
	testkit.Eventually(t, 20*time.Second, func() bool { return !b.get(h.ID).Active })
	dead := b.get(h.ID)
	if dead.Cursor != 0 || dead.Reason != "status 503" || !dead.FailingSince.Equal(noon) {
		t.Errorf("deactivated: %+v", dead)
	}
	r.setStatus(200)
	b.publish("market.status", "1", 2)
	yes := true
	if _, err := b.webhooks.Change(t.Context(), b.mara, h.ID, webhook.Change{Active: &yes}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 4 })
	posts := r.received()
	if p := posts[len(posts)-1]; !slices.Equal(p.seqs(), []int64{1, 2, 3, 4}) || p.Attempt != 1 || len(posts) != 4 {
		t.Errorf("%d requests, the last %s", len(posts), p.body)
	}
}

// TestGap checks that the receiver gets a gap frame on each channel if events were deleted.
func TestGap(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 1), newReceiver(t)
	b.publish("market.status", "1", 6)
	b.exec(`ALTER TABLE api.protocol_events DISABLE TRIGGER USER`)
	b.exec(`DELETE FROM api.protocol_events WHERE seq <= 3`)
	since := int64(1)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1", "resolutions"}, Since: &since})
	b.startWorker(nil)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 6 })
	posts := r.waitFor(2)
	want := []frame{{Op: "gap", Channel: "market:1", From: 1, Oldest: 4}, {Op: "gap", Channel: "resolutions", From: 1, Oldest: 4}}
	if diff := cmp.Diff(want, posts[0].Events); diff != "" || !slices.Equal(posts[1].seqs(), []int64{4, 5, 6}) {
		t.Errorf("gaps (-want +got):\n%s\nsecond request: %s", diff, posts[1].body)
	}
}

// TestFilters checks that only events of the requested types are sent, and that channel me contains the events of the owner.
// Events that are not sent must advance the cursor.
func TestFilters(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1", "me"}, Types: []string{"market.disputed", "signal.created"}})
	tide := b.owner("tide")
	b.publish("market.status", "1", 2)
	for _, id := range []string{tide.ID, b.mara.ID} {
		b.exec(`INSERT INTO api.outbox (type, market_id, user_id, data, at) VALUES ('signal.created', '2', $1, '{}', now())`, id)
	}
	b.publish("market.disputed", "1", 1)
	b.publish("market.status", "1", 30)
	b.startWorker(nil)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == b.broker.Head() })
	posts := r.received()
	if len(posts) != 1 || len(posts[0].Events) != 2 || posts[0].Events[0].Channel != "me" || posts[0].Events[1].Type != "market.disputed" {
		t.Fatalf("%d requests: %s", len(posts), posts[0].body)
	}
	b.publish("market.status", "9", 5)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == b.broker.Head() })
	if n := len(r.received()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestSlowEndpoint checks that endpoints without an answer do not delay the deliveries of other webhooks.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	b, slow, quick := setup(t, 64), newReceiver(t), newReceiver(t)
	b.sender = delivery.NewSender(safedial.Options{Private: true, Timeout: 5 * time.Minute}, b.clock.Now)
	t.Cleanup(b.sender.Close)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	slow.answer = func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	for range 3 {
		b.register(webhook.Draft{URL: slow.url, Channels: []string{"market:1"}})
	}
	h, _ := b.register(webhook.Draft{URL: quick.url, Channels: []string{"market:1"}})
	b.startWorker(nil)
	b.publish("market.status", "1", 1)
	slow.waitFor(3)
	quick.waitFor(1)
	b.publish("market.status", "1", 1)
	quick.waitFor(2)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 2 })
}

// TestDeletedAndChanged checks that a deleted webhook receives no further requests, and that a changed one receives the events
// of its new channels.
func TestDeletedAndChanged(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
	b.startWorker(nil)
	r.setStatus(500)
	b.publish("market.status", "1", 1)
	b.attempts(h.ID, 1)
	if _, err := b.webhooks.Change(t.Context(), b.mara, h.ID, webhook.Change{Channels: []feed.Channel{"market:2"}}); err != nil {
		t.Fatal(err)
	}
	r.setStatus(200)
	b.publish("market.status", "2", 1)
	b.clock.Advance(time.Hour)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 2 })
	posts := r.received()
	if p := posts[len(posts)-1]; len(posts) != 2 || p.Attempt != 1 || p.DeliveryID == posts[0].DeliveryID || p.Events[0].Channel != "market:2" {
		t.Errorf("%d requests, the last %s", len(posts), p.body)
	}
	r.setStatus(500)
	b.publish("market.status", "2", 1)
	b.attempts(h.ID, 3)
	if err := b.webhooks.Delete(t.Context(), b.mara, h.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Hour)
	other, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:3"}})
	r.setStatus(200)
	b.publish("market.status", "2", 1)
	b.publish("market.status", "3", 1)
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(other.ID).Cursor == b.broker.Head() })
	for _, p := range r.received()[3:] {
		if p.WebhookID != other.ID {
			t.Errorf("request of a deleted webhook: %s", p.body)
		}
	}
}

// TestChangedDuringDelivery changes a webhook during a delivery attempt. The attempt must be in the log with its status, and
// its events must be sent again.
func TestChangedDuringDelivery(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 500} {
		b, r := setup(t, 64), newReceiver(t)
		arrived, goOn := make(chan struct{}, 9), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		t.Cleanup(release)
		r.answer = func(w http.ResponseWriter, _ *http.Request) {
			arrived <- struct{}{}
			<-goOn
			w.WriteHeader(status)
		}
		h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
		b.startWorker(nil)
		b.publish("market.status", "1", 2)
		<-arrived
		if _, err := b.webhooks.Change(t.Context(), b.mara, h.ID, webhook.Change{Channels: []feed.Channel{"market:1", "market:2"}}); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.answer = nil
		r.mu.Unlock()
		release()
		log := b.attempts(h.ID, 2)
		first, second := log[len(log)-1], log[len(log)-2]
		if first.Status != status || first.Attempt != 1 || first.Events != 2 || second.Status != 200 || second.Attempt != 1 || second.ID == first.ID || second.First != 1 {
			t.Errorf("status %d: log %+v", status, log)
		}
		testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 2 })
	}
}

// TestRenewal checks that after a renewal, a delivery is signed with the new and the old secret. TestRenewals of package
// webhook checks how long the old secret signs.
func TestRenewal(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	h, before := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
	b.startWorker(nil)
	_, after, err := b.webhooks.Renew(t.Context(), b.mara, h.ID)
	if err != nil || after == before {
		t.Fatal(err)
	}
	b.publish("market.status", "1", 1)
	p := r.waitFor(1)[0]
	if verify(&p, before, b.clock.Now()) != nil || verify(&p, after, b.clock.Now()) != nil {
		t.Errorf("after the renewal: %s", p.signature)
	}
	var stored []byte
	if err := b.admin.QueryRow(t.Context(), `SELECT secret FROM api.webhooks`).Scan(&stored); err != nil || len(stored) < 40 || slices.Equal(stored, []byte(after)) {
		t.Errorf("stored as %q, %v", stored, err)
	}
	if _, err := b.vault.Open(uuid.NewString(), stored); err == nil {
		t.Error("a sealed secret can be opened for another webhook")
	}
}
