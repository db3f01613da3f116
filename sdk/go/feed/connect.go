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
	frameLimit = 4 << 20 // of what the server says
	together   = 20      // channels in one subscribe frame, which stays below 8 KiB
)

// The close codes that mean something of their own.
const (
	closeUnauthenticated = websocket.StatusCode(4001)
	closeRateLimited     = websocket.StatusCode(4029)
)

// refusedError is an answer to a handshake that is no websocket, or a close that asks to
// come later.
type refusedError struct {
	what  string
	after time.Duration
}

func (e *refusedError) Error() string { return e.what }

// asked is how long the server said to stay away.
func asked(err error) time.Duration {
	var r *refusedError
	if errors.As(err, &r) {
		return r.after
	}
	return 0
}

// line is one connection.
type line struct {
	*Client
	conn   *websocket.Conn
	silent time.Duration // after this long without a frame it is dead
	head   *int64        // newest number when it began
	open   map[string]bool
	asked  int // frames that asked for a hole since the last beat
	beats  int
	live   bool
}

// connect lives through one connection and tells why it ended.
func (c *Client) connect(ctx context.Context) error {
	c.refusals++ // until it is subscribed
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(frameLimit)
	l := &line{Client: c, conn: conn, silent: c.pace.handshake, open: map[string]bool{}}
	defer c.leads(nil)
	for {
		f, err := l.read(ctx)
		if err == nil {
			err = l.take(ctx, f)
		}
		if err != nil {
			return l.ended(err)
		}
	}
}

func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.handshake)
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
	return nil, &refusedError{what: "the server answered " + res.Status, after: c.clamp(time.Duration(after) * c.pace.second)}
}

// clamp bounds what a server may ask for.
func (c *Client) clamp(d time.Duration) time.Duration { return min(max(d, 0), 10*c.pace.refused) }

// read gives the next frame. A connection that says nothing for too long is dead.
func (l *line) read(ctx context.Context) (f frame, err error) {
	reading, cancel := context.WithTimeout(ctx, l.silent)
	defer cancel()
	_, raw, err := l.conn.Read(reading)
	if err != nil {
		if ctx.Err() == nil && reading.Err() != nil {
			err = fmt.Errorf("silent for %v: %w", l.silent, err)
		}
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("a frame is no JSON: %w", err)
	}
	return f, nil
}

// ended says what the end of the connection means.
func (l *line) ended(err error) error {
	switch websocket.CloseStatus(err) {
	case closeUnauthenticated:
		return ErrUnauthenticated
	case closeRateLimited:
		l.refusals++
		return &refusedError{what: err.Error(), after: l.pace.most}
	}
	return err
}

// take acts on a frame.
func (l *line) take(ctx context.Context, f frame) error {
	switch f.Op {
	case "hello":
		return l.hello(ctx, f)
	case "ack":
		l.acked(f)
	case "snapshot":
		return l.snapshot(ctx, f)
	case "event":
		return l.event(ctx, f)
	case "gap":
		return l.gap(ctx, f)
	case "beat":
		l.asked = 0
		l.heard(number(f.Head))
		if err := l.overdue(); err != nil {
			return err
		}
		return l.give(ctx, &Beat{Head: number(f.Head), At: f.At})
	case "error":
		return l.refused(ctx, f)
	}
	return nil
}

// heard notes a number of the feed.
func (l *line) heard(n int64) { l.count(func(s *Stats) { s.Head = max(s.Head, n) }) }

// give passes a message to the program, and waits until the program takes it.
func (l *line) give(ctx context.Context, m Message) error {
	select {
	case l.out <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hello subscribes to everything, each channel from where it was read to. What was
// never read begins at the newest event of this moment, so that a cut before its
// first event loses nothing.
func (l *line) hello(ctx context.Context, f frame) error {
	l.head = f.Head
	l.count(func(s *Stats) { s.Connections++; s.Head = max(s.Head, number(f.Head)) })
	if f.HeartbeatS > 0 {
		l.silent = time.Duration(f.HeartbeatS) * l.pace.second * 5 / 2
	}
	for name, p := range l.places {
		p.repair, p.answered = "", false
		if !p.known && f.Head != nil {
			p.from(*f.Head, true)
			l.begins(name, p.at)
		}
	}
	for names := range slices.Chunk(slices.Sorted(maps.Keys(l.places)), together) {
		if _, err := l.ask(ctx, names); err != nil {
			return err
		}
	}
	l.leads(l)
	l.alive() // every channel may have been refused before
	return nil
}

// begins notes from where a channel is read.
func (l *line) begins(name string, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[name] = at
}

// ask subscribes and gives the id of the frame.
func (l *line) ask(ctx context.Context, names []string) (string, error) {
	l.frames++
	s := request{Op: "subscribe", ID: "s" + strconv.Itoa(l.frames), Channels: names, Since: map[string]int64{}}
	for _, name := range names {
		if p := l.places[name]; p.known {
			s.Since[name] = p.at
		}
	}
	return s.ID, l.say(ctx, s)
}

// say sends a frame; any goroutine may.
func (l *line) say(ctx context.Context, r request) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.pace.ack)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, raw)
}

// acked notes what is subscribed. The server answers with its own spelling of a name.
func (l *line) acked(f frame) {
	for _, name := range f.Channels {
		if l.places[name] == nil {
			l.rename(name)
		}
		if p := l.places[name]; p != nil {
			l.open[name] = true
			if p.repair == f.ID {
				p.answered = true
			}
		}
	}
	l.alive()
}

// overdue gives a connection up on which a frame was not answered for two beats.
func (l *line) overdue() error {
	l.beats++
	late := !l.live && l.beats > 2
	for _, p := range l.places {
		late = late || p.repair != "" && !p.answered && l.beats-p.since > 2
	}
	if late {
		return errors.New("a subscribe frame is not answered")
	}
	return nil
}

// alive tells once that every channel is subscribed.
func (l *line) alive() {
	for name := range l.places {
		if !l.open[name] {
			return
		}
	}
	if !l.live {
		l.live, l.refusals = true, 0
		l.OnState(State{Phase: Live})
	}
}

func (l *line) rename(name string) {
	for mine, p := range l.places {
		if !strings.EqualFold(mine, name) {
			continue
		}
		delete(l.places, mine)
		l.places[name] = p
		l.mu.Lock()
		delete(l.reads, mine)
		l.reads[name] = true
		if n, ok := l.last[mine]; ok {
			delete(l.last, mine)
			l.last[name] = n
		}
		l.mu.Unlock()
		return
	}
}
