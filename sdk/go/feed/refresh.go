package feed

import (
	"context"
	"fmt"
	"strconv"
)

// Refresh asks for the snapshot of a channel again, as after a ServerError that named
// it. Its events continue, each once. While there is no connection nothing is sent: every connection begins with the
// snapshots. Errors: ErrNotRead for a channel that is not read; that of the connection. The server counts both frames against
// its limit.
func (c *Client) Refresh(ctx context.Context, channel string) error {
	name := fold(channel)
	c.mu.Lock()
	l, reads := c.line, c.reads[name]
	at, known := c.last[name]
	c.asks++
	id := "r" + strconv.Itoa(c.asks)
	c.mu.Unlock()
	switch {
	case !reads:
		return fmt.Errorf("%w: %s", ErrNotRead, channel)
	case l == nil:
		return nil
	}
	// What was read and not yet handed on comes again, and is passed over.
	again := request{Op: "subscribe", ID: id, Channels: []string{name}}
	if known {
		again.Since = map[string]int64{name: at}
	}
	if err := l.say(ctx, request{Op: "unsubscribe", ID: id, Channels: again.Channels}); err != nil {
		return err
	}
	return l.say(ctx, again)
}

// leads notes the connection that takes frames.
func (c *Client) leads(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = l
}

// forget reads a channel no longer that the server refused.
func (l *line) forget(name string, number bool) {
	delete(l.places, name)
	l.mu.Lock()
	delete(l.reads, name)
	if number {
		delete(l.last, name)
	}
	l.mu.Unlock()
	l.alive()
}
