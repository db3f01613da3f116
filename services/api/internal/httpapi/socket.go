package httpapi

import (
	"context"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// askTime bounds what a socket asks of the database.
const askTime = 5 * time.Second

// transport is the connection of a socket, as what serves it sees it.
type transport interface {
	broker.Pipe
	// wait is until the last frame was written, or the connection cut.
	wait(ctx context.Context)
	// abandon ends the connection whatever is being written; what serves it sees the end.
	abandon()
}

// socket is one open connection. The hub writes to it; while its client is silent a
// goroutine waits and nothing more, and while somebody catches up there is one more.
type socket struct {
	all     *sockets
	pipe    transport
	in      *inbound // nil for a stream of server-sent events
	reader  *broker.Reader
	address string
	me      holder       // written by the reading goroutine, under mu
	silent  atomic.Int64 // beats since the last pong

	mu       sync.Mutex
	subs     map[feed.Channel]*broker.Subscription
	behind   []catchUp          // what the catcher has to do
	catching context.CancelFunc // ends the catcher; nil while there is none
	late     context.Context    // of snapshots that come later; nil before there are any
	endLate  context.CancelFunc
	left     bool           // nothing is started any more
	work     sync.WaitGroup // the catcher, and snapshots that come later
}

func newSocket(all *sockets, pipe transport, me holder, address string) *socket {
	return &socket{all: all, pipe: pipe, address: address, me: me, subs: make(map[feed.Channel]*broker.Subscription)}
}

// holder is the operator of the key of a request or a socket; the zero value is a request without a key.
type holder struct {
	hash        []byte // of the key
	id          string // of the operator
	handle      string
	keyID       string
	permissions []string
	strict      bool // the key needs the permission on every route
}

// owner returns the holder as the owner of webhooks.
func (h holder) owner() webhook.Owner {
	return webhook.Owner{ID: h.id, Handle: h.handle, KeyID: h.keyID}
}

// permit faults with insufficient_scope for a strict key without the permission. A socket
// without a key needs none.
func (h holder) permit(permission string) error {
	if h.strict && !slices.Contains(h.permissions, permission) {
		return errScope.With("required", permission)
	}
	return nil
}

// name is how a key is counted: never by itself.
func (h holder) name() string { return hex.EncodeToString(h.hash) }

// holder finds out whose key this is. Faults: unauthenticated, db_unavailable.
func (s *sockets) holder(ctx context.Context, hash []byte) (holder, error) {
	o, key, err := s.Operators.Verify(ctx, hash)
	if err != nil {
		return holder{}, err
	}
	return holder{
		hash: hash, id: o.ID, handle: o.Handle, keyID: key.ID, permissions: key.Permissions, strict: key.Strict,
	}, nil
}

// become makes the socket another's; what only the one before may hear ends, and is
// given back.
func (k *socket) become(me holder) (ended []feed.Channel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, sub := range k.subs {
		if c.Owner() != "" && c.Owner() != me.handle {
			sub.Close()
			delete(k.subs, c)
			ended = append(ended, c)
		}
	}
	k.me = me
	return ended
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
	if err != nil && apperr.Of(err).Kind == apperr.Unauthenticated {
		k.reader.Close(broker.Unauthenticated)
	}
}

// pong notes a sign of life.
func (k *socket) pong() { k.silent.Store(0) }

// dead counts the beats without a pong. It goes by no clock: one that is set on would
// end every connection at once.
func (k *socket) dead() bool {
	l := k.all.Limits
	return k.in != nil && time.Duration(k.silent.Add(1)-1)*l.Beat >= l.PongTimeout
}

// greet makes the socket known and says the first word.
func (k *socket) greet() {
	k.all.add(k)
	l := k.all.Limits
	k.say(helloJSON{
		Op: "hello", Protocol: subprotocol, ConnectionID: uuid.Must(uuid.NewV7()).String(), HeartbeatS: int(l.Beat / time.Second),
		Limits:     helloLimitsJSON{Subscriptions: l.Subscriptions, FramesPerSecond: l.FrameRate, FrameBytes: l.FrameBytes},
		ServerTime: protocol.Stamp(k.all.Now()), Head: k.all.Broker.Head(),
	})
}

// finish ends the socket with a code, unless it has ended, and leaves nothing of it
// behind.
func (k *socket) finish(ctx context.Context, code broker.Code) {
	k.reader.Close(code)
	k.leave()
	k.pipe.wait(ctx) // it may still be saying why
	k.work.Wait()
	k.all.remove(k)
	k.all.Closed(k.reader.Code().Status)
	k.all.release(k.address, k.me.name())
}

// say sends a frame that cannot come later.
func (k *socket) say(frame any) { k.reader.Push(broker.Text(encode(frame))) }

// leave ends every subscription and what catches up.
func (k *socket) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sub := range k.subs {
		sub.Close()
	}
	k.left = true
	if k.catching != nil {
		k.catching()
	}
	if k.endLate != nil {
		k.endLate()
	}
}

// arrivals is the room for what is read at once.
var arrivals = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// begin takes what came behind the handshake, and then what comes.
func (k *socket) begin(p *pipe, early []byte) {
	if len(early) == 0 {
		k.await(p)
		return
	}
	code, ok := k.in.take(early)
	k.then(p, code, ok)
}

// await is where a websocket is while its client is silent. A stack that has grown does
// not shrink until the next collection, and then not to what this needs: so waiting is a
// goroutine of its own, and what is done with the bytes is another.
func (k *socket) await(p *pipe) {
	err := p.arrived()
	go k.receive(p, err)
}

// receive takes what has come.
func (k *socket) receive(p *pipe, err error) {
	code, ok := broker.Gone, false
	if err == nil {
		b := arrivals.Get().(*[4 << 10]byte)
		var n int
		if n, err = p.Conn.Read(b[:]); n > 0 {
			code, ok = k.in.take(b[:n])
		}
		arrivals.Put(b)
	}
	if ok && err != nil {
		code, ok = broker.Gone, false
	}
	k.then(p, code, ok)
}

// then waits for more, or ends the socket.
func (k *socket) then(p *pipe, code broker.Code, ok bool) {
	if ok {
		go k.await(p)
		return
	}
	k.finish(context.Background(), code)
	p.shut()
}

// hear serves a message or a control frame of the client; false ends the socket.
func (k *socket) hear(op ws.OpCode, payload []byte) (broker.Code, bool) {
	switch op {
	case ws.OpText:
		return k.handle(context.Background(), payload)
	case ws.OpPing:
		k.reader.Push(broker.Pong(payload))
	case ws.OpPong:
		k.pong()
	case ws.OpClose:
		status, ok := closing(payload)
		if !ok {
			return broker.BrokenRules, false
		}
		return broker.Code{Status: status}, false // it is told what it told
	}
	return broker.Code{}, true
}
