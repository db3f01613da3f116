package wsclient

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Dialer opens connections to one host.
type Dialer struct {
	Addr   string        // host and port
	Path   string        // /ws when empty
	Buffer int           // of the kernel, for what was not read; its own size when zero
	Within time.Duration // for the handshake; 20 s when zero
}

// Refusal is an answer that opened nothing.
type Refusal struct {
	Status int
	Header http.Header
	Body   string
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused with %d %.200s", r.Status, r.Body) }

// key and accept are those of the example in RFC 6455, 1.3.
const (
	key    = "dGhlIHNhbXBsZSBub25jZQ=="
	accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
)

// Open opens a websocket from an address of this machine, with further lines in its
// head. It fails with a *Refusal when the host says no.
func (d Dialer) Open(ctx context.Context, from net.IP, lines ...string) (*Conn, error) {
	path := d.Path
	if path == "" {
		path = "/ws"
	}
	return d.ask(ctx, from, path, append([]string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + key,
	}, lines...))
}

// Stream opens a stream of server-sent events.
func (d Dialer) Stream(ctx context.Context, from net.IP, path string, lines ...string) (*Conn, error) {
	return d.ask(ctx, from, path, append([]string{"Accept: text/event-stream"}, lines...))
}

// Connect only connects.
func (d Dialer) Connect(ctx context.Context, from net.IP) (*net.TCPConn, error) {
	dial := net.Dialer{Timeout: d.within(), LocalAddr: &net.TCPAddr{IP: from}}
	if d.Buffer > 0 {
		// Before it connects, so that the other side is never told of more room.
		dial.Control = func(_, _ string, c syscall.RawConn) (err error) {
			if out := c.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, d.Buffer)
			}); out != nil {
				return out
			}
			return err
		}
	}
	conn, err := dial.DialContext(ctx, "tcp", d.Addr)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

func (d Dialer) within() time.Duration {
	if d.Within > 0 {
		return d.Within
	}
	return 20 * time.Second
}

// ask sends the head of a request and takes the connection over when it is let in.
func (d Dialer) ask(ctx context.Context, from net.IP, path string, lines []string) (*Conn, error) {
	tcp, err := d.Connect(ctx, from)
	if err != nil {
		return nil, err
	}
	c, err := handshake(tcp, d, path, lines)
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	return c, nil
}

func handshake(tcp *net.TCPConn, d Dialer, path string, lines []string) (*Conn, error) {
	if err := tcp.SetDeadline(time.Now().Add(d.within())); err != nil {
		return nil, err
	}
	head := "GET " + path + " HTTP/1.1\r\nHost: " + d.Addr + "\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	if _, err := io.WriteString(tcp, head); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(tcp, 1<<10)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, fmt.Errorf("read the head of the answer: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols && resp.Header.Get("Sec-WebSocket-Accept") == accept:
	case resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == "text/event-stream":
	default:
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		if err != nil {
			return nil, err
		}
		return nil, &Refusal{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}
	}
	early, err := in.Peek(in.Buffered())
	if err != nil {
		return nil, err
	}
	c := &Conn{Head: resp.Header, tcp: tcp, in: append([]byte(nil), early...), done: make(chan struct{})}
	return c, tcp.SetDeadline(time.Time{})
}
