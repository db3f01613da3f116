//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// perAddress is how many listeners share an address: less than the service allows.
const perAddress = 16

// listener is one descriptor: a websocket, or a connection that publishes.
type listener struct {
	fd     int
	rest   []byte  // of a frame that has not come whole
	poster *poster // nil for a websocket
}

// poster publishes one message after the other.
type poster struct {
	fd   int
	seen []byte // of the answer
}

// connect opens all listeners and what publishes.
func (f *fan) connect() error {
	all := make([]*listener, f.o.conns)
	var (
		wg   sync.WaitGroup
		next atomic.Int64
		mu   sync.Mutex
		fail error
	)
	for range 16 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				l, err := listen(f.o.socket, f.o.hello, i)
				for errors.Is(err, syscall.EINTR) { // the runtime's own signals interrupt, too
					l, err = listen(f.o.socket, f.o.hello, i)
				}
				mu.Lock()
				if err != nil {
					fail = fmt.Errorf("listener %d: %w", i, err)
				}
				broken := fail != nil
				mu.Unlock()
				if broken {
					return
				}
				all[i] = l
			}
		})
	}
	wg.Wait()
	if fail != nil {
		return fail
	}
	for _, l := range all {
		if err := f.add(l); err != nil {
			return err
		}
		f.count++
	}
	for range f.o.window {
		fd, err := dialFrom(f.o.publish, netip.Addr{})
		if err != nil {
			return err
		}
		p := &poster{fd: fd}
		if err := f.add(&listener{fd: fd, poster: p}); err != nil {
			return err
		}
		f.posters = append(f.posters, p)
	}
	return nil
}

func (f *fan) add(l *listener) error {
	for len(f.open) <= l.fd {
		f.open = append(f.open, nil)
	}
	f.open[l.fd] = l
	if err := syscall.SetNonblock(l.fd, true); err != nil {
		return err
	}
	return syscall.EpollCtl(f.poll, syscall.EPOLL_CTL_ADD, l.fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(l.fd)})
}

// leave ends all listeners at once.
func (f *fan) leave() {
	for i, l := range f.open {
		if l != nil && l.poster == nil {
			_ = syscall.Close(l.fd)
			f.open[i] = nil
		}
	}
}

// post publishes a message with the time in it.
func (f *fan) post() {
	if len(f.posters) == 0 {
		f.fail = fmt.Errorf("all %d publishers wait for an answer", f.busy)
		return
	}
	p := f.posters[len(f.posters)-1]
	f.posters = f.posters[:len(f.posters)-1]
	f.busy++
	body := fmt.Sprintf(`{"m":"%s%016x","pad":"%s"}`, fanMark, time.Now().UnixNano(), f.pad)
	if err := writeAll(p.fd, []byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		f.o.publish.RequestURI(), f.o.publish.Host, len(body), body))); err != nil {
		f.fail = fmt.Errorf("publish: %w", err)
	}
}

// answered takes the answer to a message: it has no body unless it is a refusal.
func (f *fan) answered(p *poster, b []byte) {
	p.seen = append(p.seen, b...)
	if !bytes.Contains(p.seen, []byte("\r\n\r\n")) {
		return
	}
	if !bytes.HasPrefix(p.seen, []byte("HTTP/1.1 204")) {
		f.fail = fmt.Errorf("publish: %.300q", p.seen)
	}
	p.seen = p.seen[:0]
	f.busy--
	f.posters = append(f.posters, p)
}

// listen opens one websocket, from the address of its group.
func listen(u *url.URL, hello string, i int) (*listener, error) {
	group := i / perAddress
	fd, err := dialFrom(u, netip.AddrFrom4([4]byte{127, byte(1 + group>>16), byte(group >> 8), byte(group)}))
	if err != nil {
		return nil, err
	}
	l := &listener{fd: fd}
	if err := l.upgrade(u, hello); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return l, nil
}

func dialFrom(u *url.URL, from netip.Addr) (int, error) {
	to, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return 0, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	if from.IsValid() {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: from.As4()})
	}
	if err == nil {
		// Nothing answers for seconds when ten thousand come at once.
		err = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 20})
	}
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, err
	}
	return fd, nil
}

func (l *listener) upgrade(u *url.URL, hello string) error {
	if err := writeAll(l.fd, []byte("GET "+u.RequestURI()+" HTTP/1.1\r\nHost: "+u.Host+"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")); err != nil {
		return err
	}
	buf := make([]byte, 4<<10)
	for have := 0; ; {
		n, err := syscall.Read(l.fd, buf[have:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		have += n
		head, rest, whole := bytes.Cut(buf[:have], []byte("\r\n\r\n"))
		switch {
		case !whole && have < len(buf):
			continue
		case !bytes.HasPrefix(head, []byte("HTTP/1.1 101")):
			return fmt.Errorf("refused: %.200q", buf[:have])
		}
		l.feed(rest, func([]byte) {})
		break
	}
	if hello == "" {
		return nil
	}
	return writeAll(l.fd, clientFrame(1, []byte(hello)))
}

// feed takes bytes of the connection, answers pings and gives out whole texts.
func (l *listener) feed(b []byte, deliver func([]byte)) {
	if len(l.rest) > 0 {
		l.rest = append(l.rest, b...)
		b = l.rest
	}
	for len(b) >= 2 {
		size, head := int(b[1]&0x7f), 2
		switch {
		case size == 126 && len(b) >= 4:
			size, head = int(binary.BigEndian.Uint16(b[2:])), 4
		case size == 127 && len(b) >= 10:
			size, head = int(binary.BigEndian.Uint64(b[2:])), 10
		case size >= 126:
			size = len(b) // more of the head has to come
		}
		if len(b) < head+size {
			break
		}
		switch body := b[head : head+size]; b[0] & 0x0f {
		case 1:
			deliver(body)
		case 9:
			_ = writeAll(l.fd, clientFrame(10, body)) // a connection that is gone shows when it is read
		}
		b = b[head+size:]
	}
	if len(b) == 0 {
		l.rest = nil
		return
	}
	l.rest = append(l.rest[:0], b...)
}

// clientFrame masks with zeros, as the protocol allows.
func clientFrame(kind byte, body []byte) []byte {
	b := []byte{0x80 | kind}
	if len(body) < 126 {
		b = append(b, 0x80|byte(len(body)))
	} else {
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(len(body)))
	}
	return append(append(b, 0, 0, 0, 0), body...)
}

// writeAll writes little to a connection that has room for it.
func writeAll(fd int, b []byte) error {
	n, err := syscall.Write(fd, b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
