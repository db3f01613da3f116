package relay

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	pageSize   = 500              // maximum number of outbox entries per step, and of events per page
	chunkSize  = 1000             // maximum number of results of a market per step
	idleWait   = time.Second      // maximum pause if no notification arrives
	syncEvery  = 5 * time.Second  // interval at which the end of the stream is compared with the feed
	stepBudget = 10 * time.Second // time limit of one step, including its database statements
)

// LeaseKey is the key of the Postgres advisory lock that selects the one process that runs the Relay.
const LeaseKey int64 = 7201005

// Relay assigns feed numbers to committed outbox entries and publishes the events on the Redis stream. All fields are required.
// Run must be called only while this process holds the lease.
type Relay struct {
	Store feed.Store
	Redis *redisx.Client
	Now   func() time.Time
	Slog  *slog.Logger
}

// Run numbers and publishes events until ctx ends or the database fails. After a failure at any point, Run can be called again
// in this or another process.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	wake, listening := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(listening)
		r.listen(ctx, wake)
	}()
	defer func() {
		cancel()
		<-listening
	}()
	t := &term{Relay: r, chain: feed.NewChain(r.Store)}
	for ctx.Err() == nil {
		more, err := t.round(ctx)
		if err != nil {
			return err
		}
		if !more {
			select {
			case <-wake:
			case <-time.After(idleWait):
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// listen sends a value on the channel wake for each notification of the outbox until ctx ends. If notifications are lost,
// publication is delayed by up to idleWait.
func (r *Relay) listen(ctx context.Context, wake chan<- struct{}) {
	notify := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		if err := r.Store.ListenOutbox(ctx, notify); err != nil && ctx.Err() == nil {
			r.Slog.WarnContext(ctx, "outbox listener ended", "error", err)
		}
		_ = dbtime.Sleep(ctx, idleWait)
	}
}
