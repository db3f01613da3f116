//go:build unix

package httpapi

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// nonblocking writes to a connection without blocking, and waits until the connection is readable. One goroutine at a time may
// write, and one may wait.
type nonblocking struct {
	raw   syscall.RawConn // nil if the connection has no file descriptor
	write func(fd uintptr) bool
	b     []byte
	n     int
	err   error
}

func (w *nonblocking) init(conn net.Conn) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	w.raw = raw
	w.write = func(fd uintptr) bool {
		n, err := syscall.Write(int(fd), w.b[w.n:])
		w.n, w.err = w.n+max(n, 0), err
		return true // also after a partial write: the broker must not wait for the connection
	}
}

// TryWrite implements broker.Conn. It writes nothing if the connection has no file descriptor.
func (w *nonblocking) TryWrite(b []byte) (int, error) {
	if w.raw == nil {
		return 0, nil
	}
	w.b, w.n = b, 0
	err := w.raw.Write(w.write)
	w.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(w.err, syscall.EAGAIN), errors.Is(w.err, syscall.EINTR):
		return 0, nil
	case w.err == nil && w.n <= 0 && len(b) > 0:
		return 0, io.ErrUnexpectedEOF
	}
	return w.n, w.err
}

// waitReadable waits until a read would not block. It needs no buffer and little stack, so that ten thousand goroutines can
// wait in it. It returns at once if the connection has no file descriptor.
func (w *nonblocking) waitReadable() error {
	if w.raw == nil {
		return nil
	}
	return w.raw.Read(readable)
}

// readable reports whether a read of the descriptor would return at once, with bytes, the end of the stream or an error.
func readable(fd uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		return true
	}
}
