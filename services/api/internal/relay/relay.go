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
	pageSize   = 500              // outbox entries per step; events per page
	chunkSize  = 1000             // results of a market per step
	idleWait   = time.Second      // longest pause without a notification
	syncEvery  = 5 * time.Second  // interval at which the stream is compared with the feed
	stepBudget = 10 * time.Second // time limit of one step in the database
)

// LeaseKey is the key of the advisory lock that elects the one process in which the Relay runs.
const LeaseKey int64 = 7201005

// Relay numbers committed outbox entries and publishes them. All fields are required. It must run under the lease.
type Relay struct {
	Store feed.Store
	Redis *redisx.Client
	Now   func() time.Time
	Slog  *slog.Logger
}

// Run works until ctx ends or the database fails. After a failure at any point, it can be started again in this or another
// process.
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

// listen receives the notifications of the outbox and signals each on wake. Without them, publication is delayed by up to one
// second.
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
