package edge

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/live"
)

// askTime bounds what a socket asks of the database.
const askTime = 5 * time.Second

// transport is the connection of a socket, as what serves it sees it.
type transport interface {
	live.Pipe
	// wait is until the last frame was written, or the connection cut.
	wait(ctx context.Context)
	// abandon ends the connection whatever is being written; what serves it sees the end.
	abandon()
}

// socket is one open connection: a reader of client frames and, while somebody
// catches up, one more goroutine for that. The hub writes to it.
type socket struct {
	all     *sockets
	conn    *websocket.Conn // nil for a stream of server-sent events
	pipe    transport
	reader  *live.Reader
	end     context.CancelFunc
	address string
	me      holder       // written by the reading goroutine, under mu
	silent  atomic.Int64 // beats since the last pong

	mu       sync.Mutex
	subs     map[feed.Channel]*live.Subscription
	behind   []catchUp // what the catcher has to do
	catching bool
	left     bool           // nothing is started any more
	work     sync.WaitGroup // the catcher
}

func newSocket(all *sockets, pipe transport, me holder, address string, end context.CancelFunc) *socket {
	return &socket{
		all: all, pipe: pipe, end: end, address: address, me: me,
		subs: make(map[feed.Channel]*live.Subscription),
	}
}

// holder is whose key a socket carries; the zero value is nobody's.
type holder struct {
	hash        []byte // of the key
	id          string // of the operator
	handle      string
	permissions []string
}

// name is how a key is counted: never by itself.
func (h holder) name() string { return hex.EncodeToString(h.hash) }

// holder finds out whose key this is. Faults: unauthenticated, db_unavailable.
func (s *sockets) holder(ctx context.Context, hash []byte) (holder, error) {
	o, key, err := s.Operators.Verify(ctx, hash)
	if err != nil {
		return holder{}, err
	}
	return holder{hash: hash, id: o.ID, handle: o.Handle, permissions: key.Permissions}, nil
}

// become makes the socket another's; what only the one before may hear ends.
func (k *socket) become(me holder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, sub := range k.subs {
		if c.Owner() != "" && c.Owner() != me.handle {
			sub.Close()
			delete(k.subs, c)
		}
	}
	k.me = me
}

// recheck ends a socket whose key was revoked.
func (k *socket) recheck(ctx context.Context) {
	k.mu.Lock()
	hash := k.me.hash
	k.mu.Unlock()
	err := k.all.lookup(ctx, k.all.lookups, func(ctx context.Context) error {
		_, err := k.all.holder(ctx, hash)
		return err
	})
	if err != nil && fault.Of(err).Kind == fault.Unauthenticated {
		k.reader.Close(live.Unauthenticated)
	}
}

// pong notes a sign of life.
func (k *socket) pong(context.Context, []byte) { k.silent.Store(0) }

// dead counts the beats without a pong. It goes by no clock: one that is set on would
// end every connection at once.
func (k *socket) dead() bool {
	l := k.all.limits
	return k.conn != nil && time.Duration(k.silent.Add(1)-1)*l.Beat >= l.PongTimeout
}

// run serves a websocket to its end.
func (k *socket) run(ctx context.Context) {
	k.serve(ctx, func() live.Code { return k.read(ctx) })
	_ = k.conn.CloseNow() // gives back what the library holds
}

// serve greets, lets listen go on until it knows why the socket ends, and leaves
// nothing of it behind.
func (k *socket) serve(ctx context.Context, listen func() live.Code) {
	defer func() { k.all.release(k.address, k.me.name()) }()
	k.all.add(k)
	l := k.all.limits
	k.say(helloJSON{
		Op: "hello", Protocol: subprotocol, ConnectionID: k.all.NewID(), HeartbeatS: int(l.Beat / time.Second),
		Limits:     helloLimitsJSON{Subscriptions: l.Subscriptions, FramesPerSecond: l.FrameRate, FrameBytes: l.FrameBytes},
		ServerTime: syntax.Stamp(k.all.Now()), Head: k.all.Hub.Head(),
	})
	k.reader.Close(listen())
	k.leave()
	k.pipe.wait(ctx) // it may still be saying why
	k.end()
	k.work.Wait()
	k.all.remove(k)
	k.all.Closed(k.reader.Code().Status)
}

// say sends a frame that cannot come later.
func (k *socket) say(frame any) { k.reader.Push(live.Text(encode(frame))) }

// leave ends every subscription.
func (k *socket) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sub := range k.subs {
		sub.Close()
	}
	k.left = true
}

// read takes client frames until the socket ends, and tells why it does. What
// ends a read is the end of the connection.
func (k *socket) read(ctx context.Context) live.Code {
	k.conn.SetReadLimit(int64(k.all.limits.FrameBytes))
	for {
		kind, data, err := k.conn.Read(context.Background())
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			return live.TooLarge
		case websocket.CloseStatus(err) != -1:
			return live.Normal
		case err != nil:
			return live.Gone
		case kind != websocket.MessageText:
			return live.Unsupported
		}
		if code, ok := k.handle(ctx, data); !ok {
			return code
		}
	}
}
