package feed

import (
	"context"
	"fmt"
	"strconv"
)

// Refresh requests the snapshot of a channel again, for example after a ServerError for the channel. Each event of the channel is
// still delivered once. Without a connection, Refresh sends nothing, because each new connection starts with the snapshots. It
// sends two frames, which count against the limit of the server. Errors: ErrNotRead if the client does not read the channel; an
// error of the connection.
func (c *Client) Refresh(ctx context.Context, channel string) error {
	name := normalizeChannel(channel)
	c.mu.Lock()
	l, reads := c.conn, c.subscribed[name]
	at, known := c.last[name]
	c.refreshes++
	id := "r" + strconv.Itoa(c.refreshes)
	c.mu.Unlock()
	switch {
	case !reads:
		return fmt.Errorf("%w: %s", ErrNotRead, channel)
	case l == nil:
		return nil
	}
	// The server sends events again that are buffered but not delivered. The client drops these repeats.
	again := request{Op: "subscribe", ID: id, Channels: []string{name}}
	if known {
		again.Since = map[string]int64{name: at}
	}
	if err := l.send(ctx, request{Op: "unsubscribe", ID: id, Channels: again.Channels}); err != nil {
		return err
	}
	return l.send(ctx, again)
}

// setConnection sets the connection on which Refresh sends frames, or nil if there is none.
func (c *Client) setConnection(l *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = l
}

// drop removes a channel that the server has refused. If number is true, drop also removes the event number of the channel from
// the result of Last.
func (l *connection) drop(name string, number bool) {
	delete(l.positions, name)
	l.mu.Lock()
	delete(l.subscribed, name)
	if number {
		delete(l.last, name)
	}
	l.mu.Unlock()
	l.updateLive()
}
