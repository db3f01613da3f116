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
	historyPage = 200
	// retryWait is the pause after history could not be read.
	retryWait = time.Second
	// A state that cannot be read is asked for again: where many come back at once the
	// database is slow for a moment. A book gives a failure again for a second.
	stateTries = 3
	stateWait  = 1200 * time.Millisecond
	// A state that could not be read at all is looked for again, less and less often.
	lateLeast = time.Second
	lateMost  = 15 * time.Second
	// aheadWait is the pause while this process is behind the reader.
	aheadWait = 5 * time.Millisecond
)

// catchUp is what a new subscription needs before it is live.
type catchUp struct {
	channel feed.Channel
	id      string // of the client's frame
	since   int64
	resumes bool // since was given
	unseen  bool // since is ahead of what this process has seen
	sub     *broker.Subscription
}

// catchUp brings new subscriptions up to date, one after the other, on one
// goroutine beside the reader: a slow database must not keep pongs from being
// read. Subscriptions that need nothing are live at once.
func (k *socket) catchUp(ctx context.Context, plans []catchUp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range plans {
		if !p.resumes && !hasSnapshot(p.channel) && k.catching == nil {
			if step, _, _ := p.sub.Catch(); step == broker.Live {
				continue
			}
		}
		k.behind = append(k.behind, p)
	}
	if len(k.behind) == 0 || k.catching != nil || k.left {
		return
	}
	ctx, k.catching = context.WithCancel(ctx)
	k.work.Go(func() { k.catch(ctx) })
}

// hasSnapshot tells whether a channel is about something that has a state.
func hasSnapshot(c feed.Channel) bool {
	return c != feed.Signals && c != feed.Resolutions && c.Lane() == ""
}

// catch works until nothing is behind.
func (k *socket) catch(ctx context.Context) {
	for {
		k.mu.Lock()
		if len(k.behind) == 0 || k.left {
			k.catching() // of no more use to anybody
			k.catching, k.behind = nil, nil
			k.mu.Unlock()
			return
		}
		p := k.behind[0]
		k.behind = k.behind[1:]
		stands := k.subs[p.channel] == p.sub
		k.mu.Unlock()
		if stands && (k.show(ctx, p) != nil || k.follow(ctx, p) != nil) {
			return // the socket has ended
		}
	}
}

// show sends the snapshot; without since, the reader then gets every event
// behind the number of the snapshot.
func (k *socket) show(ctx context.Context, p catchUp) error {
	if !hasSnapshot(p.channel) {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	frame, seq, err := k.snapshot(asking, p.channel)
	for try := 1; err != nil && try < stateTries && dbtime.Sleep(asking, stateWait) == nil; try++ {
		frame, seq, err = k.snapshot(asking, p.channel)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // the events come all the same
		k.refuse(p.id, p.channel.Shown(), err)
		k.showLater(p)
		return nil
	}
	if !p.resumes {
		p.sub.Start(seq)
	}
	return k.offer(ctx, broker.Text(frame))
}

// showLater sends the snapshot once its channel can be read again.
func (k *socket) showLater(p catchUp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left {
		return
	}
	if k.late == nil {
		k.late, k.endLate = context.WithCancel(context.Background())
	}
	ctx := k.late
	k.work.Go(func() {
		for wait := lateLeast; dbtime.Sleep(ctx, wait/2+rand.N(wait)) == nil; wait = min(2*wait, lateMost) {
			k.mu.Lock()
			stands := k.subs[p.channel] == p.sub
			k.mu.Unlock()
			if !stands || k.reader.Closed() {
				return
			}
			asking, cancel := context.WithTimeout(ctx, askTime)
			frame, _, err := k.snapshot(asking, p.channel)
			cancel()
			if err == nil {
				_ = k.offer(ctx, broker.Text(frame)) // or the socket has ended
				return
			}
		}
	})
}

// follow replays what the reader missed and makes the subscription live.
func (k *socket) follow(ctx context.Context, p catchUp) error {
	if p.unseen {
		if err := k.ahead(ctx, p); err != nil {
			return err
		}
	}
	r := replay{socket: k, catchUp: p}
	for {
		step, from, upTo := p.sub.Catch()
		var err error
		switch step {
		case broker.Live:
			return nil
		case broker.Wait:
			err = k.reader.Room(ctx)
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

// ahead judges a since that this process has not seen: another one may have been
// quicker, or it is no number of this feed.
func (k *socket) ahead(ctx context.Context, p catchUp) error {
	var head int64
	err := k.ask(ctx, p, func(ctx context.Context) (err error) {
		head, err = k.all.Feed.FeedHead(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case p.since > head:
		k.refuse(p.id, p.channel.Shown(), errFuture)
	default:
		p.sub.Start(p.since)
	}
	return nil
}

// replay reads one channel from history.
type replay struct {
	*socket
	catchUp
	started bool
	prev    int64 // number of the last event on the channel up to at
	at      int64
}

// read offers the events of a stretch. What is older than the feed keeps is told as a
// gap, and then everything that it does keep follows.
func (r *replay) read(ctx context.Context, from, upTo int64) error {
	if !r.started || r.at != from {
		var oldest int64
		err := r.ask(ctx, r.catchUp, func(ctx context.Context) (err error) {
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
			r.sub.Caught(oldest - 1)
			return nil
		}
		r.started, r.at = true, from
	}
	var events []feed.Message
	var through int64
	err := r.ask(ctx, r.catchUp, func(ctx context.Context) (err error) {
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
	r.sub.Caught(through)
	r.at = through
	return nil
}

// ask reads from the database with a few others at a time. A failure is told
// once and tried again for as long as the socket lives: the reader was promised
// what it missed.
func (k *socket) ask(ctx context.Context, p catchUp, read func(context.Context) error) error {
	for told := false; ; {
		err := k.all.lookup(ctx, k.all.lookups, read)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if !told {
			told = true
			k.refuse(p.id, p.channel.Shown(), err)
		}
		if k.reader.Closed() {
			return errEnded
		}
		if err := dbtime.Sleep(ctx, retryWait); err != nil {
			return err
		}
	}
}

// offer waits until the reader has room for a frame of a replay.
func (k *socket) offer(ctx context.Context, frame []byte) error {
	for !k.reader.Offer(frame) {
		if err := k.reader.Room(ctx); err != nil {
			return err
		}
	}
	if k.reader.Closed() {
		return errEnded
	}
	return nil
}

// errEnded stops the catcher of a socket that is closing.
var errEnded = errors.New("the socket has ended")
