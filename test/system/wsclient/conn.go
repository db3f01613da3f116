package wsclient

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// The kinds of frames (RFC 6455, 5.2).
const (
	More   = 0x0 // a further piece of a message
	Text   = 0x1
	Binary = 0x2
	Bye    = 0x8
	Ping   = 0x9
	Pong   = 0xa

	last = 0x80 // the bit of a message's last piece
)

// Cut is the code of a connection that ended without one.
const Cut = 1006

// Conn is one open connection. Its methods are for one goroutine at a time, but those
// that end it.
type Conn struct {
	Head http.Header // of the answer that opened it
	Mute bool        // answers no ping

	tcp  *net.TCPConn
	in   []byte // what was read and is no whole frame yet
	done chan struct{}
	code int
	why  string
}

// Frame writes a frame with any kind, whole or as a piece of something longer.
func Frame(kind byte, whole bool, payload []byte) []byte {
	if whole {
		kind |= last
	}
	b := Head(kind, uint64(len(payload)))
	at := len(b)
	b = append(b, payload...)
	for i := range payload {
		b[at+i] ^= mask[i%4]
	}
	return b
}

var mask = [4]byte{0x37, 0xfa, 0x21, 0x3d}

// Head is the head of a masked frame that claims to have so many bytes.
func Head(first byte, size uint64) []byte {
	b := []byte{first, 0x80}
	switch {
	case size < 126:
		b[1] |= byte(size)
	case size < 1<<16:
		b[1] |= 126
		b = binary.BigEndian.AppendUint16(b, uint16(size))
	default:
		b[1] |= 127
		b = binary.BigEndian.AppendUint64(b, size)
	}
	return append(b, mask[:]...)
}

// Say sends a text.
func (c *Conn) Say(text string) error { return c.Send(Frame(Text, true, []byte(text))) }

// Send sends bytes as they are.
func (c *Conn) Send(b []byte) error {
	_, err := c.tcp.Write(b)
	return err
}

func (c *Conn) pong(payload []byte) {
	if !c.Mute {
		_ = c.Send(Frame(Pong, true, payload)) // a connection that is gone shows by itself
	}
}

// Next waits for a frame and answers pings meanwhile. At the end of the connection it
// fails with an *Ended.
func (c *Conn) Next(within time.Duration) (kind byte, payload []byte, err error) {
	if err := c.tcp.SetReadDeadline(time.Now().Add(within)); err != nil {
		return 0, nil, err
	}
	buf := make([]byte, 4<<10)
	for {
		if kind, payload, rest, ok := split(c.in); ok {
			payload = append([]byte(nil), payload...)
			c.in = rest
			switch kind {
			case Ping:
				c.pong(payload)
				continue
			case Bye:
				return kind, nil, ended(payload)
			}
			return kind, payload, nil
		}
		n, err := c.tcp.Read(buf)
		c.in = append(c.in, buf[:n]...)
		if err != nil && n == 0 {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				return 0, nil, err
			}
			return 0, nil, &Ended{Code: Cut, Reason: err.Error()}
		}
	}
}

// Ended is how a connection ended.
type Ended struct {
	Code   int
	Reason string
}

func (e *Ended) Error() string { return fmt.Sprintf("ended with %d %s", e.Code, e.Reason) }

func ended(payload []byte) *Ended {
	if len(payload) < 2 {
		return &Ended{Code: 1005}
	}
	return &Ended{Code: int(binary.BigEndian.Uint16(payload)), Reason: string(payload[2:])}
}

// End reads to the end of the connection and gives how it ended, and how many texts
// came before.
func (c *Conn) End(within time.Duration) (e *Ended, texts int, err error) {
	for until := time.Now().Add(within); ; texts++ {
		_, _, err := c.Next(time.Until(until))
		if errors.As(err, &e) {
			return e, texts, nil
		}
		if err != nil {
			return nil, texts, err
		}
	}
}

// Hear gives every text to a function from here on, on a goroutine of its own, until
// the connection ends; pings are answered. The bytes are the function's until it returns.
func (c *Conn) Hear(hear func(text []byte)) error {
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return err
	}
	go func() {
		defer close(c.done)
		defer func() { _ = c.tcp.Close() }()
		over := c.take(c.in, hear)
		for err := error(nil); !over; {
			if over, err = c.read(raw, hear); err != nil {
				c.code = Cut
				return
			}
		}
	}()
	return nil
}

// buffers are shared: who waits for the network has none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// read waits until something comes and takes it.
func (c *Conn) read(raw syscall.RawConn, hear func([]byte)) (over bool, err error) {
	ended := raw.Read(func(fd uintptr) bool {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		n, failed := syscall.Read(int(fd), *buf)
		switch {
		case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
			return false
		case failed != nil:
			err = failed
		case n == 0:
			err = io.EOF
		case len(c.in) == 0:
			over = c.take((*buf)[:n], hear)
		default:
			c.in = append(c.in, (*buf)[:n]...)
			over = c.take(c.in, hear)
		}
		return true
	})
	return over, errors.Join(ended, err)
}

// take hands out the whole frames and keeps the rest; over tells that the other side
// has closed.
func (c *Conn) take(b []byte, hear func([]byte)) (over bool) {
	for {
		kind, payload, rest, ok := split(b)
		if !ok {
			break
		}
		b = rest
		switch kind {
		case Text:
			hear(payload)
		case Ping:
			c.pong(payload)
		case Bye:
			e := ended(payload)
			c.code, c.why = e.Code, e.Reason
			return true
		}
	}
	c.in = append([]byte(nil), b...)
	return false
}

// split takes the first frame of a server, which masks none.
func split(b []byte) (kind byte, payload, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, b, false
	}
	size, head := int(b[1]&0x7f), 2
	switch {
	case size == 126 && len(b) >= 4:
		size, head = int(binary.BigEndian.Uint16(b[2:])), 4
	case size == 127 && len(b) >= 10:
		size, head = int(binary.BigEndian.Uint64(b[2:])), 10
	case size >= 126:
		return 0, nil, b, false
	}
	if len(b) < head+size {
		return 0, nil, b, false
	}
	return b[0] & 0x0f, b[head : head+size], b[head+size:], true
}

// Done is closed when a connection that is heard has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Code is how a connection ended, after Done.
func (c *Conn) Code() int { return c.code }

// Why is what the other side said about it.
func (c *Conn) Why() string { return c.why }

// Close ends the connection without a word.
func (c *Conn) Close() { _ = c.tcp.Close() }

// HalfClose says that nothing more will be sent.
func (c *Conn) HalfClose() error { return c.tcp.CloseWrite() }

// Reset ends the connection so that the other side sees it broken.
func (c *Conn) Reset() {
	_ = c.tcp.SetLinger(0)
	_ = c.tcp.Close()
}
