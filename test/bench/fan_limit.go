//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // what the handshake of a websocket asks for
	"encoding/base64"
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

// limitServer is the least that a process can do to tell everybody: IMPL ADDR, where
// IMPL is epoll or epoll-batch. It takes connections on /ws and writes every body that
// is posted to /publish, in one frame made once, to each descriptor; with epoll-batch it
// waits two milliseconds first and writes what came meanwhile in one piece. It keeps no
// limits, no order between listeners, and drops whoever does not read.
func limitServer(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("fan-limit IMPL ADDR")
	}
	l := &limitHub{in: make(chan []byte, 1024), fds: map[int]bool{}}
	if args[0] == fanJoined {
		l.join = 2 * time.Millisecond
	}
	var err error
	if l.poll, err = syscall.EpollCreate1(0); err != nil {
		return err
	}
	go l.watch()
	go l.write()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) {
		if err := l.open(w, r.Header.Get("Sec-Websocket-Key")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /publish", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) > 1<<16-1 {
			http.Error(w, "at most 64 kB", http.StatusBadRequest)
			return
		}
		frame := []byte{0x81, byte(len(body))}
		if len(body) > 125 {
			frame = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(len(body)))
		}
		l.in <- append(frame, body...)
		w.WriteHeader(http.StatusNoContent)
	})
	s := &http.Server{Addr: args[1], Handler: mux, ReadHeaderTimeout: time.Hour}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type limitHub struct {
	poll int
	join time.Duration
	in   chan []byte

	mu  sync.Mutex
	fds map[int]bool
}

// open takes the descriptor away from Go's own poller and buffers.
func (l *limitHub) open(w http.ResponseWriter, key string) error {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	if err := shake(rw.Writer, sum[:]); err != nil {
		return err
	}
	file, err := conn.(*net.TCPConn).File()
	_ = conn.Close()
	if err != nil {
		return err
	}
	fd, err := syscall.Dup(int(file.Fd()))
	_ = file.Close()
	if err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fds[fd] = true
	return syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLRDHUP, Fd: int32(fd)})
}

func shake(w *bufio.Writer, sum []byte) error {
	_, err := fmt.Fprintf(w, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum))
	return errors.Join(err, w.Flush())
}

// watch finds who has gone; what listeners say is read and forgotten.
func (l *limitHub) watch() {
	events, buf := make([]syscall.EpollEvent, 256), make([]byte, 4096)
	for {
		n, _ := syscall.EpollWait(l.poll, events, -1)
		l.mu.Lock()
		for i := range max(n, 0) {
			fd := int(events[i].Fd)
			if k, err := syscall.Read(fd, buf); k == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) {
				l.drop(fd)
			}
		}
		l.mu.Unlock()
	}
}

func (l *limitHub) drop(fd int) {
	if l.fds[fd] {
		delete(l.fds, fd)
		_ = syscall.Close(fd)
	}
}

// write is the sweep.
func (l *limitHub) write() {
	for frame := range l.in {
		joined := frame
		if l.join > 0 {
			time.Sleep(l.join)
			for more := true; more; {
				select {
				case next := <-l.in:
					joined = append(joined, next...)
				default:
					more = false
				}
			}
		}
		l.mu.Lock()
		for fd := range l.fds {
			if n, err := syscall.Write(fd, joined); err != nil || n < len(joined) {
				l.drop(fd)
			}
		}
		l.mu.Unlock()
	}
}
