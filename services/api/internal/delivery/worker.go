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
	tickEvery   = 200 * time.Millisecond // interval between looks at the head of the feed
	loadEvery   = 5                      // ticks between reads of the webhooks
	cursorEvery = 25                     // ticks between updates of cursors of webhooks that had nothing to send
	maxInFlight = 32                     // concurrent deliveries
	perOwner    = 4                      // concurrent deliveries of one operator
	pageSize    = 500                    // events that are examined at once
	pages       = 20                     // pages that are examined before other webhooks
	stepBudget  = 10 * time.Second       // time limit of one step in the database
)

// LeaseKey is the key of the advisory lock that elects the one process in which the Worker runs.
const LeaseKey int64 = 7201014

// Worker sends the feed to webhooks. All fields are required. It must run under the lease.
type Worker struct {
	Feed   feed.Store
	Hooks  webhook.Store
	Memory *broker.Broker // memory of this process
	Send   webhook.Send
	Vault  *webhook.Vault
	Now    func() time.Time
	Chance func() float64
	Log    *slog.Logger
}

// Run works until ctx ends. After it has stopped at any point, it can be started again in this or another process.
func (w *Worker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	t := &term{Worker: w, hooks: make(map[string]*follower), owners: make(map[string]int), results: make(chan result, maxInFlight)}
	defer func() {
		cancel()
		t.work.Wait()
	}()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; {
		if n%loadEvery == 0 {
			t.load(ctx)
		}
		if n%cursorEvery == cursorEvery-1 {
			t.storeCursors(ctx)
		}
		t.start(ctx)
		// Until the next tick, each finished delivery allows another one to start.
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case e := <-t.results:
				t.finish(e)
				t.start(ctx)
			case <-tick.C:
				n, waiting = n+1, false
			}
		}
	}
	return ctx.Err()
}
