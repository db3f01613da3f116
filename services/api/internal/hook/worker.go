package hook

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

const (
	beat       = 200 * time.Millisecond // between looks at the feed's head
	loadEvery  = 5                      // beats between reads of the webhooks
	passEvery  = 25                     // beats between notes of cursors that moved alone
	inFlight   = 32                     // deliveries at once
	perOwner   = 4                      // of them, of one operator
	pageSize   = 500                    // events that are looked at in one go
	pages      = 20                     // of them, before another webhook's turn
	stepBudget = 10 * time.Second       // of one step in the database
)

// LeaseKey is the advisory lock under which one Worker of all replicas runs.
const LeaseKey int64 = 7201014

// Work is what the database does for a Worker. Each method is one transaction.
type Work interface {
	feed.Heads
	ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error)
	FeedOldest(ctx context.Context) (int64, error)
	ActiveWebhooks(ctx context.Context) ([]webhook.Hook, error)
	BeginDelivery(ctx context.Context, h webhook.Hook, after int64) (webhook.Hook, bool, error)
	TakenDelivery(ctx context.Context, d webhook.Delivery) error
	FailedDelivery(ctx context.Context, d webhook.Delivery, since, next time.Time, active bool, reason string) error
	PassWebhooks(ctx context.Context, hooks []webhook.Hook) error
}

// Memory is what this process has of the feed (live.Hub).
type Memory interface {
	Ready() bool
	Head() int64
	Recent(after int64, limit int) ([]feed.Message, bool)
}

// Options of a Worker; all but Step are needed.
type Options struct {
	Work   Work
	Memory Memory
	Sender webhook.Sender
	Vault  *webhook.Vault
	Now    func() time.Time
	NewID  func() string // uuid v7
	Chance func() float64
	Log    *slog.Logger

	// Step is called between any two steps of a delivery; an error ends the run
	// there. For tests that kill the worker.
	Step func(name string) error
}

// Worker sends the feed to webhooks. Run it under the lease.
type Worker struct{ o Options }

// New makes a worker.
func New(o Options) *Worker {
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	return &Worker{o: o}
}

// Run works until ctx ends. It may be started again, here or in another process, at
// any point of its work.
func (w *Worker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &term{Options: w.o, hooks: make(map[string]*follower), owners: make(map[string]int), ended: make(chan ending, inFlight)}
	defer func() {
		cancel(nil)
		t.work.Wait()
	}()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; {
		if n%loadEvery == 0 {
			t.load(ctx)
		}
		if n%passEvery == passEvery-1 {
			t.pass(ctx)
		}
		t.start(ctx)
		// Until the next beat, what ends makes room for what waits.
		for beating := true; beating; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case e := <-t.ended:
				if e.fatal != nil {
					return e.fatal
				}
				t.settle(e)
				t.start(ctx)
			case <-tick.C:
				n, beating = n+1, false
			}
		}
	}
	return context.Cause(ctx)
}
