package edge_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// A reader that reads nothing is cut with 4008 and delays nobody.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1000})
	b.market("1", "OTHER")
	slow, quick := b.socket(), b.socket()
	for _, c := range []*client{slow, quick} {
		c.send(`{"op":"subscribe","channels":["market:1"]}`)
		c.want(frame{"op": "ack", "channels": []any{"market:1"}}, frame{"op": "snapshot", "channel": "market:1", "seq": 0.0, "data": marketState()})
	}
	const n = 12_000
	pad := strings.Repeat("x", 2000)
	began := time.Now()
	for range n / 500 {
		b.exec(`INSERT INTO api.outbox (type, market_id, data, at) SELECT 'market.status', '1', jsonb_build_object('pad', $1::text), now() FROM generate_series(1, 500)`, pad)
		b.exec(`SELECT pg_notify('sc_outbox', '')`)
		for range 500 {
			if f := quick.next(); f["op"] != "event" {
				t.Fatal(f)
			}
		}
	}
	t.Logf("%d events in %v", n, time.Since(began))
	testkit.Eventually(t, 15*time.Second, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.closed) == 1 && b.closed[0] == 4008
	})
	testkit.Eventually(t, 15*time.Second, func() bool { return b.edge.Sockets() == 1 })
}

// At the end every socket hears 1001, and nobody new is let in.
func TestShutdown(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	clients := make([]*client, 15)
	for i := range clients {
		clients[i] = b.socket()
		clients[i].send(`{"op":"subscribe","channels":["signals"]}`)
		clients[i].want(frame{"op": "ack", "channels": []any{"signals"}})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.edge.Close(t.Context())
	}()
	for _, c := range clients {
		if got := c.ends(); got != 1001 {
			t.Errorf("closed with %d", got)
		}
	}
	<-done
	if _, resp, err := b.dial("127.0.0.1", nil); err == nil || resp == nil || resp.StatusCode != 503 {
		t.Errorf("a new socket: %v", err)
	}
	if b.edge.Sockets() != 0 || b.hub.Count() != 0 {
		t.Errorf("%d sockets, %d subscriptions", b.edge.Sockets(), b.hub.Count())
	}
}

// A shutdown does not wait for those who do not listen.
func TestShutdownCutsTheDeaf(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.socket()
	ctx, cancel := contextFor(300 * time.Millisecond)
	defer cancel()
	began := time.Now()
	b.edge.Close(ctx)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Sockets that come and go in every way leave nothing behind.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.market("1", "OTHER")
	for i := range 200 {
		c := b.socket()
		c.send(`{"op":"subscribe","channels":["market:1","signals"],"since":{"signals":0}}`)
		switch i % 4 {
		case 0:
			_ = c.conn.CloseNow()
		case 1:
			_ = c.conn.Close(websocket.StatusNormalClosure, "")
		case 2:
			_ = c.conn.Write(t.Context(), websocket.MessageBinary, nil)
			if got := c.ends(); got != 1003 {
				t.Fatal(got)
			}
		case 3:
			c.next()
			_ = c.conn.CloseNow()
		}
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return b.edge.Sockets() == 0 && b.hub.Count() == 0 })
	if _, resp, err := b.dial("127.0.0.1", nil); err != nil {
		t.Errorf("places were not given back: %v %v", resp, err)
	}
}

// A client that does not wait for the answer to its handshake loses nothing.
func TestEarlyFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	for _, size := range []int{40, 900, 3000} {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		text := `{"op":"ping","id":"early","pad":"` + strings.Repeat("x", size) + `"}`
		head := "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
		masked := append([]byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, text...)
		if len(text) < 126 {
			masked = append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
		}
		if _, err := conn.Write(append([]byte(head), masked...)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var got []byte
		buffer := make([]byte, 4096)
		for !strings.Contains(string(got), `{"op":"pong","id":"early"}`) {
			n, err := conn.Read(buffer)
			if err != nil {
				t.Fatalf("%d bytes: %v after %q", size, err, got)
			}
			got = append(got, buffer[:n]...)
		}
		_ = conn.Close()
	}
}
