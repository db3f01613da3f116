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
	tickEvery   = 200 * time.Millisecond // interval at which the head of the feed is checked
	loadEvery   = 5                      // number of ticks between two reads of the webhooks
	cursorEvery = 25                     // number of ticks between two calls of storeCursors
	maxInFlight = 32                     // concurrent deliveries
	perOwner    = 4                      // concurrent deliveries of one operator
	pageSize    = 500                    // maximum number of events that are read at once
	pages       = 20                     // maximum number of pages that one delivery reads
	stepBudget  = 10 * time.Second       // time limit of one read or write of the database
)

// LeaseKey is the key of the Postgres advisory lock that selects the one process that runs the Worker.
const LeaseKey int64 = 7201014

// Worker sends the events of the feed to all active webhooks. All fields are required. Run must be called only while this
// process holds the lease.
type Worker struct {
	Feed   feed.Store
	Hooks  webhook.Store
	Memory *broker.Broker // broker of this process, from whose memory events are read first
	Send   webhook.Send
	Vault  *webhook.Vault
	Now    func() time.Time
	Chance func() float64 // returns a random number from 0 to 1, for pauses
	Log    *slog.Logger
}

// Run sends deliveries until ctx ends. After it has stopped at any point, it can be called again in this or another process.
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
