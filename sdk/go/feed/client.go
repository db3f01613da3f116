package feed

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"
	"time"
)

// bufferSize is the maximum number of messages that are buffered for Next.
const bufferSize = 32

// Client reads channels of the feed until it is closed. Its methods may be called concurrently. Concurrent calls of Next return
// different messages.
type Client struct {
	Options
	cancel context.CancelCauseFunc
	out    chan Message
	done   chan struct{} // closed when the reading goroutine has ended
	err    error         // the reason why it ended; set before done is closed

	mu         sync.Mutex
	stats      Stats
	last       map[string]int64 // number of the last delivered event, by channel
	subscribed map[string]bool  // channels that the server has not refused
	conn       *connection      // the subscribed connection; nil: none
	refreshes  int              // number of calls of Refresh, for frame ids

	// Only the reading goroutine uses these fields.
	positions map[string]*position
	refusals  int // number of consecutive failed connections
	frames    int // number of subscribe frames, for frame ids
}

// Open starts to read the channels. It does not wait for the connection, so an unavailable server is not an error. The
// client reads until Close is called, ctx ends, or the server refuses the key. Open returns an error only for invalid
// options.
func Open(ctx context.Context, o Options) (*Client, error) {
	o, err := o.normalize()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Client{
		Options: o, cancel: cancel, out: make(chan Message, bufferSize), done: make(chan struct{}),
		last: map[string]int64{}, subscribed: map[string]bool{}, positions: map[string]*position{},
	}
	for _, name := range o.Channels {
		p := &position{}
		c.subscribed[name] = true
		if since, ok := o.Since[name]; ok {
			p.known, p.at = true, since
			c.last[name] = since
		}
		c.positions[name] = p
	}
	go c.run(ctx)
	return c, nil
}

// Next waits for the next message and returns it. If ctx ends first, it returns the error of ctx. After the client has ended and
// Next has returned all buffered messages, it returns ErrClosed, ErrUnauthenticated, ErrNoChannel, or the error of the context
// that Open received.
func (c *Client) Next(ctx context.Context) (Message, error) {
	select {
	case m := <-c.out:
		return c.recordDelivery(m), nil
	default:
	}
	select {
	case m := <-c.out:
		return c.recordDelivery(m), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.done:
	}
	select {
	case m := <-c.out:
		return c.recordDelivery(m), nil
	default:
		return nil, c.err
	}
}

// Messages returns an iterator over the messages. The iteration ends after the first error of Next, which is its last element.
func (c *Client) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := c.Next(ctx)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Last returns, by channel, the number of the last event that Next has returned. Before the first event, it is the number after
// which the channel started. Pass the result as Options.Since to resume reading. The channel names are spelled as the server
// spells them. Last omits channels that do not exist.
func (c *Client) Last() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.last)
}

// Stats returns a copy of the counters of the client since Open.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Close closes the connection and waits until the goroutine of the client has ended. Next still returns the buffered messages.
func (c *Client) Close() {
	c.cancel(ErrClosed)
	<-c.done
}

// recordDelivery returns m. If m is a numbered event, it first records the number of the event for Last.
func (c *Client) recordDelivery(m Message) Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := m.(*Event); ok && e.Numbered() {
		c.last[e.Channel] = e.Seq
	}
	return m
}

func (c *Client) count(change func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.stats)
}

// run opens connections until the client ends. After each lost connection, it waits before the next attempt.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for {
		c.OnState(State{Phase: Connecting})
		err := c.connect(ctx)
		switch {
		case ctx.Err() != nil:
			c.err = context.Cause(ctx)
		case errors.Is(err, ErrUnauthenticated), errors.Is(err, ErrNoChannel):
			c.err = err
		}
		if c.err != nil {
			c.OnState(State{Phase: Closed, Err: c.err})
			c.cancel(c.err)
			return
		}
		wait := max(c.timing.wait(c.refusals), retryAfter(err))
		c.Logger.WarnContext(ctx, "feed connection lost", "error", err, "wait", wait)
		c.OnState(State{Phase: Reconnecting, Wait: wait, Err: err})
		pause(ctx, wait)
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
