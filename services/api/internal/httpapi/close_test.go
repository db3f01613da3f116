package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestShutdown checks that a shutdown closes every socket with code 1001, and that new sockets are rejected.
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
		b.server.Close(t.Context())
	}()
	for _, c := range clients {
		if got := c.ends(); got != 1001 {
			t.Errorf("closed with %d, want 1001", got)
		}
	}
	<-done
	if _, resp, err := b.dial("127.0.0.1", nil); err == nil || resp == nil || resp.StatusCode != 503 {
		t.Errorf("a new socket: %v", err)
	}
	if b.server.Sockets() != 0 || b.broker.Count() != 0 {
		t.Errorf("%d sockets, %d subscriptions", b.server.Sockets(), b.broker.Count())
	}
}

// TestShutdownAbortsSilentClients checks that a shutdown ends with its context, although clients do not answer the close frame.
func TestShutdownAbortsSilentClients(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.socket()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	b.server.Close(ctx)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the shutdown took %v; want about 300 ms", took)
	}
}

// TestEarlyFrames checks that the server processes frames that a client sends before it has received the response to its
// handshake.
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

// TestHandshakeHeaders checks unusual spellings of the handshake headers. After a rejected handshake, the server must close the
// connection.
func TestHandshakeHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, noRelay: true})
	const head = "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for name, c := range map[string]struct {
		headers  string
		status   int
		protocol string
	}{
		"empty host":             {"Host:\r\nConnection: Upgrade\r\n", 400, ""},
		"two connection headers": {"Host: x\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n", 101, ""},
		"empty subprotocol":      {"Host: x\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol:\r\n", 101, ""},
		"other subprotocols":     {"Host: x\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: a/b, Signal.v1\r\n", 101, "Signal.v1"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", b.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, head+c.headers+"\r\n"); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != c.status || resp.Header.Get("Sec-WebSocket-Protocol") != c.protocol {
				t.Fatalf("answered %v, %v; want status %d and subprotocol %q", resp, err, c.status, c.protocol)
			}
			if c.status == http.StatusSwitchingProtocols {
				return
			}
			if _, err := io.Copy(io.Discard, in); err != nil {
				t.Errorf("the connection stays open: %v", err)
			}
		})
	}
}
