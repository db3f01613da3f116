package edge

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/live"
)

const (
	// writeTime is how long one frame may wait for a full connection.
	writeTime = 5 * time.Second
	// askTime bounds what a socket asks of the database.
	askTime = 5 * time.Second
)

// socket is one open connection: a reader of client frames, a writer of what
// waits in the queue and, while somebody catches up, one more for that.
type socket struct {
	all   *sockets
	conn  *websocket.Conn
	raw   net.Conn // beneath conn
	queue *live.Queue
	key   string // of the operator key, empty without; the reader's own
	pongs atomic.Int64
	times []time.Time // of the last client frames, a ring; the reader's own
	next  int

	mu       sync.Mutex
	subs     map[feed.Channel]*live.Subscription
	behind   []catchUp // what the catcher has to do
	catching bool
	left     bool           // nothing is started any more
	work     sync.WaitGroup // the catcher
}

func newSocket(all *sockets, key string) *socket {
	k := &socket{
		all: all, key: key, queue: live.NewQueue(), subs: make(map[feed.Channel]*live.Subscription),
		times: make([]time.Time, 2*all.limits.FrameRate),
	}
	k.pong(context.Background(), nil)
	return k
}

// keyName is how a key is counted: never by itself.
func keyName(hash []byte) string { return hex.EncodeToString(hash) }

func (k *socket) pong(context.Context, []byte) { k.pongs.Store(k.all.Now().UnixNano()) }

func (k *socket) lastPong() time.Time { return time.Unix(0, k.pongs.Load()) }

// ping asks for a sign of life; the answer is noted when it comes.
func (k *socket) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), k.all.limits.Beat)
	defer cancel()
	// A ping that finds no answer is judged by the time of the last pong.
	_ = k.conn.Ping(ctx)
}

// cut ends the connection without a word, even while the library waits for an
// answer to its own.
func (k *socket) cut() { _ = k.raw.Close() }

// run serves the socket to its end and leaves nothing of it behind.
func (k *socket) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.all.add(k)
	defer k.all.remove(k)
	l := k.all.limits
	k.queue.Push(encode(helloJSON{
		Op: "hello", Protocol: subprotocol, ConnectionID: k.all.NewID(), HeartbeatS: int(l.Beat / time.Second),
		Limits:     helloLimitsJSON{Subscriptions: l.Subscriptions, FramesPerSecond: l.FrameRate, FrameBytes: l.FrameBytes},
		ServerTime: syntax.Stamp(k.all.Now()),
	}))
	written := make(chan struct{})
	go func() {
		defer close(written)
		k.write(ctx)
	}()
	k.queue.Close(k.read(ctx))
	k.leave()
	<-written // it may still be saying why
	cancel()
	k.work.Wait()
	_ = k.conn.CloseNow() // gives back what the library holds
}

// leave ends every subscription.
func (k *socket) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sub := range k.subs {
		sub.Close()
	}
	k.left = true
}

// read takes client frames until the socket ends, and tells why it does.
func (k *socket) read(ctx context.Context) live.Code {
	k.conn.SetReadLimit(int64(k.all.limits.FrameBytes))
	for {
		kind, data, err := k.conn.Read(ctx)
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			return live.TooLarge
		case websocket.CloseStatus(err) != -1:
			return live.Normal
		case err != nil:
			return live.Gone
		case kind != websocket.MessageText:
			return live.Unsupported
		case !k.inRate(k.all.Now()):
			return live.RateLimited
		}
		if code, ok := k.handle(ctx, data); !ok {
			return code
		}
	}
}

// inRate counts a client frame: at most twice the rate in any two seconds.
func (k *socket) inRate(now time.Time) bool {
	oldest := k.times[k.next]
	if !oldest.IsZero() && now.Sub(oldest) < 2*time.Second {
		return false
	}
	k.times[k.next] = now
	k.next = (k.next + 1) % len(k.times)
	return true
}

// write sends what waits. When the queue is closed it says why and ends.
func (k *socket) write(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // what ends a write is the end of the connection
	// A connection that takes nothing for so long is cut, and the queue knows why
	// before the reader sees the end of it.
	stuck := time.AfterFunc(time.Hour, func() {
		k.queue.Close(live.SlowConsumer)
		k.cut()
	})
	defer stuck.Stop()
	for {
		frame, code, open := k.queue.Next()
		switch {
		case !open:
			k.all.Closed(code.Status)
			if code == live.Gone {
				k.cut()
				return
			}
			// The other side may be gone or deaf; the library waits a while.
			_ = k.conn.Close(websocket.StatusCode(code.Status), code.Reason)
			return
		case frame == nil:
			stuck.Stop()
			<-k.queue.Wake() // closing wakes, too
		default:
			stuck.Reset(writeTime)
			if err := k.conn.Write(ctx, websocket.MessageText, frame); err != nil {
				k.queue.Close(live.Gone)
			}
		}
	}
}
