package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/test/system/stack"
)

// visits opens and ends connections to a host in every way, ordinary and hostile.
type visits struct {
	h         *host
	market    string
	operators []*stack.Operator
	next      atomic.Int64
}

// TestConnectionsLeaveNothingBehind checks that connections that open and end in any way leave no socket, goroutine, open file
// or memory in the process. A well-behaved client must be served at the same time.
func TestConnectionsLeaveNothingBehind(t *testing.T) {
	s := start(t)
	// With few database connections all of them are open from the start. Frequent garbage collection keeps the memory
	// close to what the process needs.
	h := newHost(t, s, map[string]string{"GOGC": "10", "DB_MAX_CONNS": "8"})
	v := &visits{h: h, market: s.NewNativeMarket(t, 5000, nil), operators: s.SeedOperators(t, stack.Size(t, 20, 80, 400))}
	for _, o := range v.operators[:10] { // events for connections that resume
		o.File(t, stack.Call(v.market, "YES", 5000)).Require(http.StatusOK)
	}
	stopCalm := v.openWellBehavedClient(t)
	before := v.warmUp(t)

	n := stack.Size(t, 200, 5_000, 100_000)
	began := time.Now()
	v.run(t, n)
	t.Logf("%d connections of %d kinds in %v", n, len(v.kinds()), time.Since(began))
	stopCalm()

	var after gauges
	for end := time.Now().Add(25 * time.Second); time.Now().Before(end); stack.Wait(t, 200*time.Millisecond) {
		after = h.gauges(t)
		if after.sockets() == 0 && after.near(before) && after.resident() <= before.resident()*11/10 {
			return
		}
	}
	t.Errorf("after all connections the process has %d sockets, %d goroutines, %d files and %d kB; want 0, %d, %d and at most 110%% of %d kB", after.sockets(),
		after.goroutines(), after.files(), after.resident()>>10, before.goroutines(), before.files(), before.resident()>>10)
}

// openWellBehavedClient opens a connection that sends valid messages and must receive answers until stop is called.
func (v *visits) openWellBehavedClient(t *testing.T) (stop func()) {
	t.Helper()
	c := v.h.openAll(t, 1, 100*perAddress)[0]
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			if err := errors.Join(c.send(`{"op":"ping","id":"calm"}`), c.await(`{"op":"pong","id":"calm"}`)); err != nil {
				t.Errorf("the well-behaved client: %v", err)
				return
			}
			select {
			case <-stopped:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(stopped)
		<-done
		_ = c.Close()
	}
}

// warmUp opens and ends connections until the process has collected garbage three times, because the memory of a new process
// grows even without a leak. It returns the metrics of the idle process, in which the memory is the maximum that was measured.
func (v *visits) warmUp(t *testing.T) gauges {
	t.Helper()
	rounds, most, first := stack.Size(t, 1, 4, 8), 0., v.h.gauges(t)
	for i := 1; ; i++ {
		v.run(t, stack.Size(t, 100, 1200, 1200))
		now := v.awaitIdle(t)
		most = max(most, now["process_resident_memory_bytes"])
		// A process that needs little memory may never collect garbage. All its growth then counts.
		if testing.Short() || i >= rounds && now.collections()-first.collections() >= 3 || i >= rounds+10 {
			now["process_resident_memory_bytes"] = most
			return now
		}
	}
}

// awaitIdle waits until only the well-behaved client is connected and the numbers of open files and goroutines no longer
// decrease. It returns the metrics. A connection that ends before its handshake does not count as a socket, but uses a file
// until the server closes it.
func (v *visits) awaitIdle(t *testing.T) (now gauges) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		last := now
		now = v.h.gauges(t)
		if last != nil && now.sockets() <= 1 && now.files() >= last.files() && now.goroutines() >= last.goroutines() {
			break
		}
		stack.Wait(t, 200*time.Millisecond)
	}
	now["go_goroutines"]-- // the goroutine of the well-behaved client, which ends before the comparison
	now["process_open_fds"]--
	return now
}

// run opens and ends n connections, 32 at the same time.
func (v *visits) run(t *testing.T, n int) {
	t.Helper()
	kinds := v.kinds()
	stack.Each(n, 32, func(int) {
		if t.Failed() {
			return
		}
		i := int(v.next.Add(1))
		kind := kinds[i%len(kinds)]
		if err := kind.visit(t.Context(), i/len(kinds)); err != nil {
			t.Errorf("connection %q: %v", kind.name, err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
}

type kind struct {
	name  string
	visit func(ctx context.Context, i int) error
}

// kinds returns all ways in which connections are opened and ended.
func (v *visits) kinds() []kind {
	address := func(i int) int { return i % 50 }
	socket := func(name string, use func(c *conn) error) kind {
		return kind{name, func(ctx context.Context, i int) error {
			c, err := v.h.open(ctx, v.h.address(address(i)), "", 0)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			return use(c)
		}}
	}
	stream := func(name, query string, use func(c *conn) error) kind {
		return kind{name, func(ctx context.Context, i int) error {
			c, err := v.h.stream(ctx, v.h.address(50+address(i)), query)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			return use(c)
		}}
	}
	// hostile returns a kind of connection that sends frames and requires that the server closes the connection with this code
	hostile := func(name string, code ws.StatusCode, frames ...[]byte) kind {
		return socket(name, func(c *conn) error {
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				_, _ = c.Write(slices.Concat(frames...)) // the server may close the connection before it has read everything
			}()
			defer func() { _ = c.Close(); <-sent }()
			if err := c.SetReadDeadline(time.Now().Add(dialTimeout)); err != nil {
				return err
			}
			for {
				_, err := c.next()
				if closed := (closedError{}); errors.As(err, &closed) && closed.code == code {
					return nil
				}
				if err != nil {
					return fmt.Errorf("%w; want close code %d", err, code)
				}
			}
		})
	}
	masked := func(f ws.Frame) []byte { return ws.MustCompileFrame(ws.MaskFrame(f)) }
	text := func(s string) []byte { return masked(ws.NewTextFrame([]byte(s))) }
	announced := func(length int64) []byte {
		var b bytes.Buffer
		_ = ws.WriteHeader(&b, ws.Header{Fin: true, OpCode: ws.OpText, Masked: true, Length: length}) // does not fail
		return b.Bytes()
	}
	start := masked(ws.NewFrame(ws.OpText, false, []byte(`{"op":`)))
	piece := masked(ws.NewFrame(ws.OpContinuation, false, make([]byte, 1024)))
	none := func(*conn) error { return nil }
	all := `{"op":"subscribe","channels":["signals","market:` + v.market + `","wire"]}`
	return []kind{
		hostile("a close frame", ws.StatusNormalClosure, masked(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusNormalClosure, "")))),
		socket("closed after the handshake", none),
		socket("reset", (*conn).reset),
		socket("subscribed", func(c *conn) error { return errors.Join(c.send(all), c.await(`"channel":"wire"`)) }),
		socket("reset during a replay", func(c *conn) error {
			return errors.Join(c.send(`{"op":"subscribe","channels":["signals"],"since":{"signals":0}}`), c.reset())
		}),
		socket("closed within a frame", func(c *conn) error {
			_, err := c.Write(announced(5000))
			return err
		}),
		socket("half closed", func(c *conn) error { return c.CloseWrite() }),
		stream("a stream", "channels=signals,market:"+v.market, none),
		stream("a stream reset during a replay", "channels=signals,wire&since=0", (*conn).reset),
		{"a key", v.withKey},
		{"an unknown key", v.unknownKey},
		{"reset within the handshake", v.halfHandshake},
		hostile("a binary frame", ws.StatusUnsupportedData, masked(ws.NewBinaryFrame(nil))),
		hostile("a frame above 8 KiB", ws.StatusMessageTooBig, text(strings.Repeat(" ", 8<<10+1))),
		hostile("an announced gigabyte", ws.StatusMessageTooBig, announced(1<<30), make([]byte, 16<<10)),
		hostile("an endless message", ws.StatusMessageTooBig, start, bytes.Repeat(piece, 12)),
		hostile("10,000 messages", 4029, bytes.Repeat(text(`{"op":"ping"}`), 10_000)),
		hostile("10,000 pings", 4029, bytes.Repeat(masked(ws.NewPingFrame([]byte("?"))), 10_000)),
		hostile("10,000 empty pieces", 4029, start, bytes.Repeat(masked(ws.NewFrame(ws.OpContinuation, false, nil)), 10_000)),
		hostile("an unmasked frame", ws.StatusProtocolError, ws.MustCompileFrame(ws.NewTextFrame([]byte(`{"op":"ping"}`)))),
		hostile("an unknown opcode", ws.StatusProtocolError, masked(ws.NewFrame(0x3, true, nil))),
		socket("deep JSON", func(c *conn) error {
			return errors.Join(c.send(strings.Repeat("[", 8<<10)), c.await(`"error":"invalid_frame"`),
				c.send(`{"op":"ping"}`), c.await(`"op":"pong"`))
		}),
	}
}

// withKey subscribes to the private channel of an operator with the operator's key.
func (v *visits) withKey(ctx context.Context, i int) error {
	c, err := v.h.open(ctx, v.h.address(i%50), v.operators[i%len(v.operators)].Key, 0)
	if isStatus(err, http.StatusTooManyRequests) || isStatus(err, http.StatusServiceUnavailable) {
		return nil // refused: a key may have five connections, and the database may be busy
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return errors.Join(c.send(`{"op":"subscribe","channels":["me"]}`), c.await(`"op":"ack"`))
}

func (v *visits) unknownKey(ctx context.Context, i int) error {
	c, err := v.h.open(ctx, v.h.address(i%50), "dk_unknown", 0)
	if err == nil {
		_ = c.Close()
		return errors.New("a connection with an unknown key was accepted; want status 401")
	}
	if !isStatus(err, http.StatusUnauthorized) {
		return err
	}
	return nil
}

func isStatus(err error, status int) bool {
	var refused ws.StatusError
	return errors.As(err, &refused) && int(refused) == status
}

func (v *visits) halfHandshake(ctx context.Context, i int) error {
	c, err := v.h.connect(ctx, v.h.address(i%50), 0)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("GET /ws HTTP/1.1\r\nHost: x\r\nConnec"))
	return errors.Join(err, c.SetLinger(0), c.Close())
}
