package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	maxFrame         = 4 << 20 // maximum size of a frame of the server in bytes
	channelsPerFrame = 20      // maximum number of channels in a subscribe frame, whose size must stay below 8 KiB
)

// Websocket close codes of the feed that the client handles specially.
const (
	closeUnauthenticated = websocket.StatusCode(4001)
	closeRateLimited     = websocket.StatusCode(4029)
)

// refusedError is the error for a handshake that the server refused, and for a connection that it closed because of a rate limit.
type refusedError struct {
	what  string
	after time.Duration // minimum time before the next attempt
}

func (e *refusedError) Error() string { return e.what }

// retryAfter returns the minimum time before the next connection attempt that err requires, or 0 if it requires none.
func retryAfter(err error) time.Duration {
	var r *refusedError
	if errors.As(err, &r) {
		return r.after
	}
	return 0
}

// connection is one websocket connection of a Client and the state of this connection.
type connection struct {
	*Client
	conn    *websocket.Conn
	silent  time.Duration   // maximum time without a frame before the client closes the connection
	head    *int64          // newest number of the feed when the connection started; nil: unknown
	open    map[string]bool // acknowledged channels
	repairs int             // number of repair requests since the last beat
	beats   int             // number of received beats
	live    bool            // all channels are acknowledged
}

// connect opens one connection and processes its frames until the connection ends. It returns the reason for the end.
func (c *Client) connect(ctx context.Context) error {
	c.refusals++ // reset when all channels are subscribed
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxFrame)
	l := &connection{Client: c, conn: conn, silent: c.timing.handshake, open: map[string]bool{}}
	defer c.setConnection(nil)
	for {
		f, err := l.read(ctx)
		if err == nil {
			err = l.handle(ctx, f)
		}
		if err != nil {
			return l.closeError(err)
		}
	}
}

// dial opens the websocket. Errors: ErrUnauthenticated for status 401, *refusedError for another status, or a network error.
func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.handshake)
	defer cancel()
	header := http.Header{}
	if c.Key != "" {
		header.Set("Authorization", "Bearer "+c.Key)
	}
	conn, res, err := websocket.Dial(ctx, c.URL, &websocket.DialOptions{
		HTTPClient: c.HTTPClient, HTTPHeader: header, Subprotocols: []string{"signal.v1"},
	})
	switch {
	case err == nil:
		return conn, nil
	case res == nil:
		return nil, err
	case res.StatusCode == http.StatusUnauthorized:
		return nil, ErrUnauthenticated
	}
	after, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	return nil, &refusedError{what: "the server answered " + res.Status, after: c.clamp(time.Duration(after) * c.timing.second)}
}

// clamp returns d, a wait time that the server requires, but at least 0 and at most ten times maxRefusedWait.
func (c *Client) clamp(d time.Duration) time.Duration {
	return min(max(d, 0), 10*c.timing.maxRefusedWait)
}

// read returns the next frame. It returns an error if no frame arrives within l.silent.
func (l *connection) read(ctx context.Context) (f frame, err error) {
	reading, cancel := context.WithTimeout(ctx, l.silent)
	defer cancel()
	_, raw, err := l.conn.Read(reading)
	if err != nil {
		if ctx.Err() == nil && reading.Err() != nil {
			err = fmt.Errorf("no frame received for %v: %w", l.silent, err)
		}
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("the received frame is not JSON: %w", err)
	}
	return f, nil
}

// closeError converts the error that ended the connection. The close code 4001 becomes ErrUnauthenticated, and 4029 a
// *refusedError. It returns other errors unchanged.
func (l *connection) closeError(err error) error {
	switch websocket.CloseStatus(err) {
	case closeUnauthenticated:
		return ErrUnauthenticated
	case closeRateLimited:
		l.refusals++
		return &refusedError{what: err.Error(), after: l.timing.maxWait}
	}
	return err
}

// handle processes one frame of the server. It ignores frames with an unknown operation. If it returns an error, the connection
// must be closed.
func (l *connection) handle(ctx context.Context, f frame) error {
	switch f.Op {
	case "hello":
		return l.handleHello(ctx, f)
	case "ack":
		l.handleAck(f)
	case "snapshot":
		return l.handleSnapshot(ctx, f)
	case "event":
		return l.handleEvent(ctx, f)
	case "gap":
		return l.handleGap(ctx, f)
	case "beat":
		l.repairs = 0
		l.updateHead(number(f.Head))
		if err := l.checkUnanswered(); err != nil {
			return err
		}
		return l.deliver(ctx, &Beat{Head: number(f.Head), At: f.At})
	case "error":
		return l.handleError(ctx, f)
	}
	return nil
}

// updateHead records n as the newest number of the feed if it is higher than the last one.
func (l *connection) updateHead(n int64) { l.count(func(s *Stats) { s.Head = max(s.Head, n) }) }

// deliver adds a message to the buffer for Next. It waits while the buffer is full.
func (l *connection) deliver(ctx context.Context, m Message) error {
	select {
	case l.out <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handleHello subscribes to all channels, each from its last delivered event. A channel without a delivered event starts after
// the newest event of the feed. The client therefore misses no event of this channel if the connection is lost before the first
// one.
func (l *connection) handleHello(ctx context.Context, f frame) error {
	l.head = f.Head
	l.count(func(s *Stats) { s.Connections++; s.Head = max(s.Head, number(f.Head)) })
	if f.HeartbeatS > 0 {
		l.silent = time.Duration(f.HeartbeatS) * l.timing.second * 5 / 2
	}
	for name, p := range l.positions {
		p.repair, p.answered = "", false
		if !p.known && f.Head != nil {
			p.reset(*f.Head, true)
			l.setLast(name, p.at)
		}
	}
	for names := range slices.Chunk(slices.Sorted(maps.Keys(l.positions)), channelsPerFrame) {
		if _, err := l.subscribe(ctx, names); err != nil {
			return err
		}
	}
	l.setConnection(l)
	l.updateLive() // no channel is left if the server has refused all of them
	return nil
}

// setLast sets the number that Last returns for a channel.
func (l *connection) setLast(name string, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[name] = at
}

// subscribe sends a subscribe frame for the named channels and returns the ID of the frame. Each channel starts at its read
// position, if it has one.
func (l *connection) subscribe(ctx context.Context, names []string) (string, error) {
	l.frames++
	s := request{Op: "subscribe", ID: "s" + strconv.Itoa(l.frames), Channels: names, Since: map[string]int64{}}
	for _, name := range names {
		if p := l.positions[name]; p.known {
			s.Since[name] = p.at
		}
	}
	return s.ID, l.send(ctx, s)
}

// send sends one frame to the server. It may be called concurrently.
func (l *connection) send(ctx context.Context, r request) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.ack)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, raw)
}

// handleAck marks the acknowledged channels as subscribed. The server may spell a channel name in another case than the request;
// the client then uses the spelling of the server.
func (l *connection) handleAck(f frame) {
	for _, name := range f.Channels {
		if l.positions[name] == nil {
			l.rename(name)
		}
		if p := l.positions[name]; p != nil {
			l.open[name] = true
			if p.repair == f.ID {
				p.answered = true
			}
		}
	}
	l.updateLive()
}

// checkUnanswered returns an error if a subscribe frame is still unanswered at the third beat. Call it once for each beat.
func (l *connection) checkUnanswered() error {
	l.beats++
	late := !l.live && l.beats > 2
	for _, p := range l.positions {
		late = late || p.repair != "" && !p.answered && l.beats-p.since > 2
	}
	if late {
		return errors.New("feed: the server did not answer a subscribe frame within 2 heartbeats")
	}
	return nil
}

// updateLive reports the phase Live when all channels are subscribed. It reports it only once for each connection.
func (l *connection) updateLive() {
	for name := range l.positions {
		if !l.open[name] {
			return
		}
	}
	if !l.live {
		l.live, l.refusals = true, 0
		l.OnState(State{Phase: Live})
	}
}

// rename changes the name of a channel to name, the spelling of the server. It finds the channel by comparing names without
// regard to case.
func (l *connection) rename(name string) {
	for mine, p := range l.positions {
		if !strings.EqualFold(mine, name) {
			continue
		}
		delete(l.positions, mine)
		l.positions[name] = p
		l.mu.Lock()
		delete(l.subscribed, mine)
		l.subscribed[name] = true
		if n, ok := l.last[mine]; ok {
			delete(l.last, mine)
			l.last[name] = n
		}
		l.mu.Unlock()
		return
	}
}
