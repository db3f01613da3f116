package feed

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"
	"time"
)

// ahead is the number of messages that are read before Next takes them.
const ahead = 32

// Client reads channels of the feed until it is closed. Its methods may be called
// from several goroutines; each message is given to one of them.
type Client struct {
	Options
	cancel context.CancelCauseFunc
	out    chan Message
	done   chan struct{} // the goroutine has ended
	err    error         // why; set before done is closed

	mu    sync.Mutex
	stats Stats
	last  map[string]int64 // what was handed on
	reads map[string]bool  // the channels, but for those that were refused
	line  *line            // the connection once it has asked for them; nil: none
	asks  int              // for snapshots, which names their frames

	places   map[string]*place // the reading goroutine's own
	refusals int               // in a row
	frames   int               // sent, which names them
}

// Open begins to read. It does not wait for the connection, so an unavailable server is no error. The client reads until Close,
// until ctx ends or until its key is refused.
func Open(ctx context.Context, o Options) (*Client, error) {
	o, err := o.settle()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Client{
		Options: o, cancel: cancel, out: make(chan Message, ahead), done: make(chan struct{}),
		last: map[string]int64{}, reads: map[string]bool{}, places: map[string]*place{},
	}
	for _, name := range o.Channels {
		p := &place{}
		c.reads[name] = true
		if since, ok := o.Since[name]; ok {
			p.known, p.at = true, since
			c.last[name] = since
		}
		c.places[name] = p
	}
	go c.run(ctx)
	return c, nil
}

// Next waits for the next message. It fails when ctx ends, and for good when the
// client has ended and everything that it read was handed on: ErrClosed,
// ErrUnauthenticated, or the error of the context given to Open.
func (c *Client) Next(ctx context.Context) (Message, error) {
	select {
	case m := <-c.out:
		return c.hand(m), nil
	default:
	}
	select {
	case m := <-c.out:
		return c.hand(m), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.done:
	}
	select {
	case m := <-c.out:
		return c.hand(m), nil
	default:
		return nil, c.err
	}
}

// Messages gives one message after the other and ends with the error of Next.
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

// Last is, by channel, the number up to which everything was handed on: what
// Options.Since takes to go on from here. Names are those of the server, and a channel
// that does not exist is not among them.
func (c *Client) Last() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.last)
}

// Stats is what the client lived through so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Close ends the connection and waits until nothing runs any more. What was read
// and not taken can still be taken.
func (c *Client) Close() {
	c.cancel(ErrClosed)
	<-c.done
}

func (c *Client) hand(m Message) Message {
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

// run connects again and again.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for {
		c.OnState(State{Phase: Connecting})
		err := c.connect(ctx)
		switch {
		case ctx.Err() != nil:
			c.err = context.Cause(ctx)
		case errors.Is(err, ErrUnauthenticated):
			c.err = err
		}
		if c.err != nil {
			c.OnState(State{Phase: Closed, Err: c.err})
			c.cancel(c.err)
			return
		}
		wait := max(c.pace.wait(c.refusals), asked(err))
		c.Logger.WarnContext(ctx, "the feed was cut", "error", err, "wait", wait)
		c.OnState(State{Phase: Reconnecting, Wait: wait, Err: err})
		pause(ctx, wait)
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
