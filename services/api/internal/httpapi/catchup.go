package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	// historyPage is the maximum number of events in one read of missed events from the store.
	historyPage = 200
	// retryWait is the pause after a failed read of missed events.
	retryWait = time.Second
	// stateTries is the number of attempts for a snapshot, and stateWait is the pause between two. They bridge the time in
	// which the database is slow because many clients reconnect. The cache repeats a failure for one second, so stateWait is
	// longer.
	stateTries = 3
	stateWait  = 1200 * time.Millisecond
	// After stateTries failures, the snapshot is retried in the background. The pause grows from lateMin to lateMax.
	lateMin = time.Second
	lateMax = 15 * time.Second
	// aheadWait is the pause between two checks while this process has delivered fewer events than the client has received from
	// another process.
	aheadWait = 5 * time.Millisecond
)

// pendingSub is a subscription that does not receive live events yet.
type pendingSub struct {
	channel feed.Channel
	id      string // id of the client frame that requested it
	since   int64
	resumes bool // the client has set since
	ahead   bool // since is greater than the newest event number of this process
	sub     *broker.Subscription
}

// catchUp makes new subscriptions live. A subscription that needs neither a snapshot nor missed events becomes live at once,
// unless other subscriptions are pending. A separate goroutine processes the other subscriptions one by one, so a slow
// database does not delay the reading of client frames.
func (k *socket) catchUp(ctx context.Context, plans []pendingSub) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range plans {
		if !p.resumes && !hasSnapshot(p.channel) && k.stopCatchUp == nil {
			if step, _, _ := p.sub.CatchUp(); step == broker.Live {
				continue
			}
		}
		k.pending = append(k.pending, p)
	}
	if len(k.pending) == 0 || k.stopCatchUp != nil || k.closing {
		return
	}
	ctx, k.stopCatchUp = context.WithCancel(ctx)
	k.work.Go(func() { k.runCatchUp(ctx) })
}

// hasSnapshot reports whether a subscription to the channel begins with a snapshot.
func hasSnapshot(c feed.Channel) bool {
	return c != feed.Signals && c != feed.Resolutions && c.Lane() == "" && !c.HasPrices()
}

// runCatchUp processes the pending subscriptions in order until none is left or the socket ends.
func (k *socket) runCatchUp(ctx context.Context) {
	for {
		k.mu.Lock()
		if len(k.pending) == 0 || k.closing {
			k.stopCatchUp() // releases the context
			k.stopCatchUp, k.pending = nil, nil
			k.mu.Unlock()
			return
		}
		p := k.pending[0]
		k.pending = k.pending[1:]
		current := k.subs[p.channel] == p.sub
		k.mu.Unlock()
		if current && (k.sendSnapshot(ctx, p) != nil || k.replayMissed(ctx, p) != nil) {
			return // an error occurs only if the socket has ended
		}
	}
}

// sendSnapshot sends the snapshot of the channel of p. If the client did not set the member since, the subscription
// continues after the event number of the snapshot. If the snapshot cannot be read, the client receives an error frame and,
// later, the snapshot. An error is returned only if the socket has ended.
func (k *socket) sendSnapshot(ctx context.Context, p pendingSub) error {
	if !hasSnapshot(p.channel) {
		return nil
	}
	readCtx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	frame, seq, err := k.snapshot(readCtx, p.channel)
	for try := 1; err != nil && try < stateTries && dbtime.Sleep(readCtx, stateWait) == nil; try++ {
		frame, seq, err = k.snapshot(readCtx, p.channel)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // the events follow although the snapshot is missing
		k.sendError(p.id, p.channel.Shown(), err)
		k.sendSnapshotLater(p)
		return nil
	}
	if !p.resumes {
		p.sub.Start(seq)
	}
	return k.offer(ctx, broker.Text(frame))
}

// sendSnapshotLater reads the snapshot of p again in the background until it succeeds, and then sends it. It stops when the
// socket or the subscription ends.
func (k *socket) sendSnapshotLater(p pendingSub) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return
	}
	if k.deferred == nil {
		k.deferred, k.stopDeferred = context.WithCancel(context.Background())
	}
	ctx := k.deferred
	k.work.Go(func() {
		for wait := lateMin; dbtime.Sleep(ctx, wait/2+rand.N(wait)) == nil; wait = min(2*wait, lateMax) {
			k.mu.Lock()
			current := k.subs[p.channel] == p.sub
			k.mu.Unlock()
			if !current || k.reader.Closed() {
				return
			}
			readCtx, cancel := context.WithTimeout(ctx, readTimeout)
			frame, _, err := k.snapshot(readCtx, p.channel)
			cancel()
			if err == nil {
				_ = k.offer(ctx, broker.Text(frame)) // fails only if the socket has ended
				return
			}
		}
	})
}

// replayMissed sends the events that the client missed, and makes the subscription live. It returns an error if the socket
// ends.
func (k *socket) replayMissed(ctx context.Context, p pendingSub) error {
	if p.ahead {
		if err := k.checkSince(ctx, p); err != nil {
			return err
		}
	}
	r := replay{socket: k, pendingSub: p}
	for {
		step, from, upTo := p.sub.CatchUp()
		var err error
		switch step {
		case broker.Live:
			return nil
		case broker.Wait:
			err = k.reader.WaitForSpace(ctx)
		case broker.Ahead:
			err = dbtime.Sleep(ctx, aheadWait)
		case broker.Read:
			err = r.read(ctx, from, upTo)
		}
		if err != nil {
			return err
		}
	}
}

// checkSince handles a value of since that is above the head of this process. If the stored feed has reached this value,
// another process was ahead, and the subscription starts at the value. Otherwise the value is invalid, and the client
// receives the error future_cursor.
func (k *socket) checkSince(ctx context.Context, p pendingSub) error {
	var head int64
	err := k.retryRead(ctx, p, func(ctx context.Context) (err error) {
		head, err = k.all.Feed.FeedHead(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case p.since > head:
		k.sendError(p.id, p.channel.Shown(), errFuture)
	default:
		p.sub.Start(p.since)
	}
	return nil
}

// replay sends the missed events of one channel that are no longer in memory. It reads them from the store.
type replay struct {
	*socket
	pendingSub
	started bool
	prev    int64 // number of the last event on the channel that is not above at; 0: none
	// at is the event number up to which read has searched.
	at int64
}

// read sends at most historyPage events of the channel with from < number <= upTo. If some of these events are no longer
// stored, it sends a gap frame instead, and the next read starts with the oldest stored event.
func (r *replay) read(ctx context.Context, from, upTo int64) error {
	if !r.started || r.at != from {
		var oldest int64
		err := r.retryRead(ctx, r.pendingSub, func(ctx context.Context) (err error) {
			if oldest, err = r.all.Feed.FeedOldest(ctx); err != nil || from < oldest-1 {
				return err
			}
			heads, err := r.all.Feed.FeedHeads(ctx, from, []feed.Channel{r.channel})
			r.prev = heads[r.channel]
			return err
		})
		if err != nil {
			return err
		}
		if from < oldest-1 {
			if err := r.offer(ctx, broker.Text(broker.GapFrame(r.channel, from, oldest))); err != nil {
				return err
			}
			r.sub.CaughtUp(oldest - 1)
			return nil
		}
		r.started, r.at = true, from
	}
	var events []feed.Message
	var through int64
	err := r.retryRead(ctx, r.pendingSub, func(ctx context.Context) (err error) {
		events, through, err = r.all.Feed.ListFeedChannel(ctx, r.channel, from, upTo, historyPage)
		return err
	})
	if err != nil {
		return err
	}
	for i := range events {
		m := &events[i]
		if err := r.offer(ctx, broker.Text(broker.EventFrame(m, feed.Link{Channel: r.channel, Prev: r.prev}))); err != nil {
			return err
		}
		r.prev = m.Seq
	}
	r.sub.CaughtUp(through)
	r.at = through
	return nil
}

// retryRead calls the function read until it succeeds or the socket ends, because the protocol guarantees that a client
// receives every event after since. The client receives an error frame for the first failure only. The number of concurrent
// reads of all sockets is limited.
func (k *socket) retryRead(ctx context.Context, p pendingSub, read func(context.Context) error) error {
	for reported := false; ; {
		err := k.all.lookup(ctx, k.all.lookups, read)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if !reported {
			reported = true
			k.sendError(p.id, p.channel.Shown(), err)
		}
		if k.reader.Closed() {
			return errEnded
		}
		if err := dbtime.Sleep(ctx, retryWait); err != nil {
			return err
		}
	}
}

// offer queues a frame of a replay. While the queue is full, it waits. It returns errEnded if the socket is closed.
func (k *socket) offer(ctx context.Context, frame []byte) error {
	for !k.reader.Offer(frame) {
		if err := k.reader.WaitForSpace(ctx); err != nil {
			return err
		}
	}
	if k.reader.Closed() {
		return errEnded
	}
	return nil
}

// errEnded is returned by a replay if the socket is closed.
var errEnded = errors.New("the socket is closed")
