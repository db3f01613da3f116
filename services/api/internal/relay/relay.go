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
	pageSize   = 500              // outbox rows a step, events a page
	chunkSize  = 1000             // signal.resolved rows a step
	idleWait   = time.Second      // without a notification
	syncEvery  = 5 * time.Second  // how often Redis is compared with the feed
	stepBudget = 10 * time.Second // of one step in the database
)

// LeaseKey is the advisory lock under which one Relay of all replicas runs.
const LeaseKey int64 = 7201005

// Relay numbers committed facts and publishes them. All fields are needed. Run it under the lease.
type Relay struct {
	Store feed.Store
	Redis *redisx.Client
	Now   func() time.Time
	Slog  *slog.Logger
}

// Run works until ctx ends or the database fails. It may be started again, here
// or in another process, at any point of its work.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	bell, listening := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(listening)
		r.listen(ctx, bell)
	}()
	defer func() {
		cancel()
		<-listening
	}()
	t := &term{Relay: r, chain: feed.NewChain(r.Store)}
	for ctx.Err() == nil {
		more, err := t.turn(ctx)
		if err != nil {
			return err
		}
		if !more {
			select {
			case <-bell:
			case <-time.After(idleWait):
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// listen keeps a connection that receives the notifications of the outbox. Without it the relay is late by up to a second.
func (r *Relay) listen(ctx context.Context, bell chan<- struct{}) {
	ring := func() {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		if err := r.Store.ListenOutbox(ctx, ring); err != nil && ctx.Err() == nil {
			r.Slog.WarnContext(ctx, "outbox listener ended", "error", err)
		}
		_ = dbtime.Sleep(ctx, idleWait)
	}
}
