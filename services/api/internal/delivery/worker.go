package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/broker"
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

// Worker sends the feed to webhooks. All fields are needed. Run it under the lease.
type Worker struct {
	Feed   feed.Store
	Hooks  webhook.Store
	Memory *broker.Broker // what this process has of the feed
	Send   webhook.Send
	Vault  *webhook.Vault
	Now    func() time.Time
	Chance func() float64
	Log    *slog.Logger
}

// Run works until ctx ends. It may be started again, here or in another process, at
// any point of its work.
func (w *Worker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	t := &term{Worker: w, hooks: make(map[string]*follower), owners: make(map[string]int), ended: make(chan ending, inFlight)}
	defer func() {
		cancel()
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
				return ctx.Err()
			case e := <-t.ended:
				t.settle(e)
				t.start(ctx)
			case <-tick.C:
				n, beating = n+1, false
			}
		}
	}
	return ctx.Err()
}
