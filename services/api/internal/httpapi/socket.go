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

// readTimeout is the time limit of one read of the database for a socket.
const readTimeout = 5 * time.Second

// transport is the connection of a socket: a websocket or a stream of server-sent events.
type transport interface {
	broker.Conn
	// wait returns when the last frame was written, the connection was aborted, or ctx has ended.
	wait(ctx context.Context)
	// abandon aborts the connection, even during a write, so that its handler ends.
	abandon()
}

// socket is one open websocket or stream of server-sent events. The broker writes to it. While its client sends nothing, it has
// one waiting goroutine, and a second one while it sends missed events.
type socket struct {
	all     *sockets
	conn    transport
	in      *inbound // nil for a stream of server-sent events
	reader  *broker.Reader
	address string
	me      holder       // written by the reading goroutine with mu locked
	missed  atomic.Int64 // heartbeats that were sent since the last pong

	mu           sync.Mutex
	subs         map[feed.Channel]*broker.Subscription
	pending      []pendingSub       // subscriptions that are not live yet
	stopCatchUp  context.CancelFunc // stops the goroutine of runCatchUp; nil if it does not run
	deferred     context.Context    // context of deferred snapshots; nil before the first
	stopDeferred context.CancelFunc
	closing      bool           // the socket is closing; no new goroutine may start
	work         sync.WaitGroup // counts the catch-up goroutine and those of deferred snapshots
}

func newSocket(all *sockets, conn transport, me holder, address string) *socket {
	return &socket{all: all, conn: conn, address: address, me: me, subs: make(map[feed.Channel]*broker.Subscription)}
}

// holder is the operator key of a request or a socket, with its operator. The zero value means that there is no key.
type holder struct {
	hash        []byte // SHA-256 of the key
	id          string // id of the operator
	handle      string
	keyID       string
	permissions []string
	strict      bool // the websocket, too, checks the permissions of the key
}

// owner returns the operator and the key of the holder, as the owner of webhooks.
func (h holder) owner() webhook.Owner {
	return webhook.Owner{ID: h.id, Handle: h.handle, KeyID: h.keyID}
}

// permit returns the error insufficient_scope if the key is strict and does not have the permission. Without a key, it returns
// nil.
func (h holder) permit(permission string) error {
	if h.strict && !slices.Contains(h.permissions, permission) {
		return scopeError(permission)
	}
	return nil
}

// name returns the hexadecimal hash of the key. The limits of the key are counted by this name, so the key itself is not
// stored.
func (h holder) name() string { return hex.EncodeToString(h.hash) }

// holder returns the holder of the key with the given SHA-256 hash. Errors: unauthenticated, db_unavailable.
func (s *sockets) holder(ctx context.Context, hash []byte) (holder, error) {
	o, key, err := s.Operators.Verify(ctx, hash)
	if err != nil {
		return holder{}, err
	}
	return holder{
		hash: hash, id: o.ID, handle: o.Handle, keyID: key.ID, permissions: key.Permissions, strict: key.Strict,
	}, nil
}

// setHolder sets the key of the socket. It ends the subscriptions to private channels of another operator and returns these
// channels.
func (k *socket) setHolder(me holder) (ended []feed.Channel) {
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

// recheck verifies the key of the socket again, and closes the socket if the key was revoked.
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

// pong handles a pong: it resets the number of heartbeats since the last pong.
func (k *socket) pong() { k.missed.Store(0) }

// timedOut counts a heartbeat and reports whether the client has sent no pong for PongTimeout. It counts heartbeats instead of
// reading the clock, because a clock that is set forward would end every connection at once. A stream of server-sent events
// never times out.
func (k *socket) timedOut() bool {
	l := k.all.Limits
	return k.in != nil && time.Duration(k.missed.Add(1)-1)*l.Beat >= l.PongTimeout
}

// greet registers the socket for heartbeats and sends the hello frame.
func (k *socket) greet() {
	k.all.add(k)
	l := k.all.Limits
	k.send(helloJSON{
		Op: "hello", Protocol: subprotocol, ConnectionID: uuid.Must(uuid.NewV7()).String(), HeartbeatS: int(l.Beat / time.Second),
		Limits:     helloLimitsJSON{Subscriptions: l.Subscriptions, FramesPerSecond: l.FrameRate, FrameBytes: l.FrameBytes},
		ServerTime: protocol.Stamp(k.all.Now()), Head: k.all.Broker.Head(),
	})
}

// finish closes the socket with a code, unless it is closed already. It waits for the goroutines and the last write, and then
// releases the resources and the limits of the socket.
func (k *socket) finish(ctx context.Context, code broker.Code) {
	k.reader.Close(code)
	k.stop()
	k.conn.wait(ctx) // the close frame may not be written yet
	k.work.Wait()
	k.all.remove(k)
	k.all.Closed(k.reader.Code().Status)
	k.all.release(k.address, k.me.name())
}

// send queues a frame that the client cannot request again, such as a reply.
func (k *socket) send(frame any) { k.reader.Push(broker.Text(encode(frame))) }

// stop closes all subscriptions and stops the goroutines of the socket. No new ones can start.
func (k *socket) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sub := range k.subs {
		sub.Close()
	}
	k.closing = true
	if k.stopCatchUp != nil {
		k.stopCatchUp()
	}
	if k.stopDeferred != nil {
		k.stopDeferred()
	}
}

// readBuffers contains buffers that sockets share, each for a single read of a connection.
var readBuffers = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// start processes the bytes that the client sent directly after its handshake, and then waits for more bytes.
func (k *socket) start(p *wsConn, early []byte) {
	if len(early) == 0 {
		k.awaitData(p)
		return
	}
	code, ok := k.in.consume(early)
	k.continueOrClose(p, code, ok)
}

// awaitData waits until the connection is readable. Waiting and processing run in separate goroutines. The stack of a goroutine
// grows during processing and shrinks only at the next garbage collection, and an idle connection needs only a small stack.
func (k *socket) awaitData(p *wsConn) {
	err := p.waitReadable()
	go k.readData(p, err)
}

// readData reads and processes the available bytes. err is the error of the preceding wait, or nil.
func (k *socket) readData(p *wsConn, err error) {
	code, ok := broker.ConnLost, false
	if err == nil {
		b := readBuffers.Get().(*[4 << 10]byte)
		var n int
		if n, err = p.Conn.Read(b[:]); n > 0 {
			code, ok = k.in.consume(b[:n])
		}
		readBuffers.Put(b)
	}
	if ok && err != nil {
		code, ok = broker.ConnLost, false
	}
	k.continueOrClose(p, code, ok)
}

// continueOrClose waits for more bytes if ok is true. Otherwise it closes the socket with the code.
func (k *socket) continueOrClose(p *wsConn, code broker.Code, ok bool) {
	if ok {
		go k.awaitData(p)
		return
	}
	k.finish(context.Background(), code)
	p.closeGracefully()
}

// onFrame handles a message or a control frame of the client. If the socket must be closed, it returns the close code and
// false.
func (k *socket) onFrame(op ws.OpCode, payload []byte) (broker.Code, bool) {
	switch op {
	case ws.OpText:
		return k.handle(context.Background(), payload)
	case ws.OpPing:
		k.reader.Push(broker.Pong(payload))
	case ws.OpPong:
		k.pong()
	case ws.OpClose:
		status, ok := closeStatus(payload)
		if !ok {
			return broker.BrokenRules, false
		}
		return broker.Code{Status: status}, false // the answer has the status of the client's close frame
	}
	return broker.Code{}, true
}
