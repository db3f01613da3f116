package relay

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/kv"
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

// Log is the feed in the database. Each method is one transaction.
type Log interface {
	feed.Heads
	// NumberFeed moves up to limit committed outbox rows into the feed.
	NumberFeed(ctx context.Context, limit int, newID func() string) (int, error)
	// DrainFeed numbers up to chunk results of one resolved market not in skip.
	DrainFeed(ctx context.Context, chunk int, skip []string, newID func() string) (feed.Drained, error)
	ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error)
	FeedHead(ctx context.Context) (int64, error)
	// FeedOldest is the oldest number that is kept; in an empty feed the next one.
	FeedOldest(ctx context.Context) (int64, error)
	KeepFeed(ctx context.Context) error
	// ListenOutbox calls ring when the outbox has something, until it fails.
	ListenOutbox(ctx context.Context, ring func()) error
}

// Options of a Relay; all but Step are needed.
type Options struct {
	Log   Log
	Redis *kv.Client
	Now   func() time.Time
	NewID func() string // uuid v7
	Slog  *slog.Logger

	// Step is called between any two steps; an error ends the run there. For
	// tests that kill the relay.
	Step func(name string) error
}

// Relay numbers committed facts and publishes them. Run it under the lease.
type Relay struct {
	o    Options
	bell chan struct{}
}

// New makes a relay.
func New(o Options) *Relay {
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	return &Relay{o: o, bell: make(chan struct{}, 1)}
}

// Run works until ctx ends or the database fails. It may be started again, here
// or in another process, at any point of its work.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		r.listen(ctx)
	}()
	defer func() {
		cancel()
		<-listening
	}()
	t := &term{Options: r.o, chain: feed.NewChain(r.o.Log)}
	for ctx.Err() == nil {
		more, err := t.turn(ctx)
		if err != nil {
			return err
		}
		if !more {
			r.idle(ctx)
		}
	}
	return ctx.Err()
}

// listen keeps one connection listening. Without it the relay still works, a
// second late.
func (r *Relay) listen(ctx context.Context) {
	ring := func() {
		select {
		case r.bell <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		if err := r.o.Log.ListenOutbox(ctx, ring); err != nil && ctx.Err() == nil {
			r.o.Slog.WarnContext(ctx, "outbox listener ended", "error", err)
		}
		pause(ctx, idleWait)
	}
}

func (r *Relay) idle(ctx context.Context) {
	t := time.NewTimer(idleWait)
	defer t.Stop()
	select {
	case <-r.bell:
	case <-t.C:
	case <-ctx.Done():
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
