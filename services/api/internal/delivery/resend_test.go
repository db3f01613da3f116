package delivery_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// requireRefused checks the code and the reason of the error of Resend.
func (b *bundle) requireRefused(id, deliveryID, code, reason string) {
	b.t.Helper()
	_, err := b.webhooks.Resend(b.t.Context(), b.mara, id, deliveryID)
	var refused *apperr.Fault
	if !errors.As(err, &refused) || refused.Code != code || reason != "" && refused.Extra["reason"] != reason {
		b.t.Errorf("resend: %v, want %s %s", err, code, reason)
	}
}

// TestResend requests an attempt of a failed delivery. There must be exactly one additional attempt, also after several requests,
// with the same events and the same id. Later events must arrive after these. Other deliveries must be refused.
func TestResend(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	r.setStatus(500)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
	b.publish("market.status", "1", 2)
	stop := b.startWorker(nil)
	failed := b.attempts(h.ID, 1)[0].ID
	b.requireRefused(h.ID, failed, "rate_limited", "")
	b.clock.Advance(5 * time.Second)
	b.attempts(h.ID, 2)
	b.clock.Advance(6 * time.Second) // the next attempt would be due in 9 s
	b.publish("market.status", "1", 3)
	stop() // the requests below arrive before the attempt
	for range 8 {
		again, err := b.webhooks.Resend(t.Context(), b.mara, h.ID, failed)
		if err != nil || !again.NextAt.IsZero() || again.DeliveryID != failed {
			t.Fatalf("resend: %+v, %v", again, err)
		}
	}
	stop = b.startWorker(nil)
	log := b.attempts(h.ID, 3)
	time.Sleep(3 * time.Second) // more than the interval at which the worker reads webhooks
	if posts := r.received(); len(posts) != 3 || posts[2].DeliveryID != failed || posts[2].Attempt != 3 || !slices.Equal(posts[2].seqs(), []int64{1, 2}) {
		t.Fatalf("%d requests, want 3; the last is %s", len(posts), posts[len(posts)-1].body)
	}
	if log[0].Message() != "the endpoint answered 500; 2xx accepts a delivery" {
		t.Errorf("message %q", log[0].Message())
	}
	if next := b.get(h.ID).NextAt; !next.Equal(b.clock.Now().Add(time.Minute)) {
		t.Errorf("next attempt at %v, want one minute after the third", next)
	}
	// A running worker must make the attempt as well.
	r.setStatus(204)
	b.clock.Advance(6 * time.Second)
	if _, err := b.webhooks.Resend(t.Context(), b.mara, h.ID, failed); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return b.get(h.ID).Cursor == 5 })
	stop()
	if posts := r.received(); len(posts) != 5 || posts[3].DeliveryID != failed || !slices.Equal(posts[4].seqs(), []int64{3, 4, 5}) {
		t.Errorf("%d requests; the last is %s", len(posts), posts[len(posts)-1].body)
	}
	b.clock.Advance(time.Minute)
	b.requireRefused(h.ID, failed, "delivery_not_pending", "accepted")
	b.requireRefused(h.ID, h.ID, "not_found", "")
}

// TestResendAfterChanges checks that a delivery is not sent again if its webhook is inactive, or if a change has ended it.
func TestResendAfterChanges(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 64), newReceiver(t)
	r.setStatus(500)
	h, _ := b.register(webhook.Draft{URL: r.url, Channels: []string{"market:1"}})
	b.publish("market.status", "1", 1)
	b.startWorker(func(w *delivery.Worker, _ func()) { w.Chance = func() float64 { return 0 } })
	failed := b.attempts(h.ID, 1)[0].ID
	yes, no := true, false
	for _, step := range []struct {
		active *bool
		reason string
	}{{&no, "inactive"}, {&yes, "replaced"}} {
		if _, err := b.webhooks.Change(t.Context(), b.mara, h.ID, webhook.Change{Active: step.active}); err != nil {
			t.Fatal(err)
		}
		b.requireRefused(h.ID, failed, "delivery_not_pending", step.reason)
	}
	d, err := b.webhooks.Test(t.Context(), b.mara, h.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.requireRefused(h.ID, d.ID, "delivery_not_pending", "test")
}
