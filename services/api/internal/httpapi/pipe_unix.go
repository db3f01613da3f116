//go:build unix

package httpapi

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// nonblocking writes to a connection what it takes at once, one caller at a time, and
// waits for what comes, one other.
type nonblocking struct {
	raw   syscall.RawConn // nil: the connection cannot do it
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
		return true // also after a part: the hub never waits for a connection
	}
}

// Try implements live.Pipe.
func (w *nonblocking) Try(b []byte) (int, error) {
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

// arrived waits until a read would not wait. It needs little of a stack and no buffer:
// ten thousand stand here.
func (w *nonblocking) arrived() error {
	if w.raw == nil {
		return nil
	}
	return w.raw.Read(something)
}

// something tells whether a descriptor has bytes, its end, or a fault to tell of.
func something(fd uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		switch err { //nolint:errorlint // a number of the kernel, as it is
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		return true
	}
}
