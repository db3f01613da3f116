package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	// fanMark precedes the time in a message: 16 hexadecimal digits of nanoseconds. Every server returns the mark in
	// the delivery.
	fanMark = "@@"
	// perAddress is the number of listeners per IP address. It is below the limit of the service.
	perAddress = 16
	// settleTime is the time without traffic before the memory is measured.
	settleTime = 2 * time.Second
	// lateTime is the longest wait for missing deliveries.
	lateTime = 10 * time.Second

	fanSize   = 200 // bytes of one text in a frame
	fanWindow = 8   // number of unconfirmed messages in a burst
	fanRate   = 3   // single messages per second
)

// fan is the load generator of the section named fanout. It opens the connections of the listeners and publishes messages.
// Every message contains the time at which it was published.
type fan struct {
	url, publish, hello string // URL of the socket, URL to post messages to, first text that each listener sends
	conns, pid          int
	length              time.Duration
	http                *http.Client
	open                []net.Conn
	pad                 string

	mu     sync.Mutex
	busy   int             // publishing requests in progress
	got    int             // deliveries received
	lost   int             // lost connections
	frame  int             // bytes of the last text with a mark
	newest int64           // latest mark received
	timed  bool            // whether deliveries are recorded in first and waits
	first  []time.Duration // by message: time until the first listener received it
	waits  []time.Duration // delays of all deliveries
	fail   error
}

// fanLoad is the helper program fan-load, which measures a server. It opens the connections, publishes single messages and
// bursts, closes the connections, and prints its measurements as JSON.
func fanLoad(ctx context.Context, args []string) {
	f := &fan{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: fanWindow}}}
	fs := flag.NewFlagSet("fan-load", flag.ContinueOnError)
	fs.StringVar(&f.url, "url", "", "URL of the socket")
	fs.StringVar(&f.publish, "publish", "", "URL to which a message is posted")
	fs.StringVar(&f.hello, "hello", "", "text that each listener sends first")
	fs.IntVar(&f.conns, "conns", 0, "listeners")
	fs.DurationVar(&f.length, "for", 6*time.Second, "length of each phase")
	gone := fs.Bool("gone", false, "measure the memory after all connections are closed")
	fs.IntVar(&f.pid, "pid", 0, "process id of the server")
	check(fs.Parse(args))
	found := fanResult{Base: resident(f.pid)}
	cpu, began := procTime(f.pid), time.Now()
	f.connect(ctx)
	found.Connect = fanPhase{Deliveries: f.conns, CPU: procTime(f.pid) - cpu, Took: time.Since(began)}
	time.Sleep(settleTime)
	found.Idle = resident(f.pid)
	f.warm()
	found.Frame, f.timed = f.frame, true
	found.Steady = f.phase(f.single)
	f.timed = false
	found.P50, found.P99 = quantile(f.waits, 0.5), quantile(f.waits, 0.99)
	found.First, found.Late = quantile(f.first, 0.5), quantile(f.first, 0.99)
	found.Burst = f.phase(f.burst)
	found.Loaded, found.Lost = resident(f.pid), f.lost
	for _, conn := range f.open {
		_ = conn.Close()
	}
	if *gone {
		found.Gone, found.GoneAfter = f.settle(found.Base)
	}
	check(f.fail)
	check(json.NewEncoder(os.Stdout).Encode(found))
}

// connect opens the connections of all listeners, from several loopback addresses, and starts to read from them.
func (f *fan) connect(ctx context.Context) {
	var mu sync.Mutex
	var fail error
	stack.Each(f.conns, 16, func(i int) {
		group := i / perAddress
		from := &net.TCPAddr{IP: net.IPv4(127, byte(1+group>>16), byte(group>>8), byte(group))}
		conn, in, _, err := ws.Dialer{Timeout: 20 * time.Second, NetDial: (&net.Dialer{LocalAddr: from}).DialContext}.
			Dial(ctx, "ws"+strings.TrimPrefix(f.url, "http"))
		if err == nil && f.hello != "" {
			err = ws.WriteFrame(conn, ws.MaskFrameInPlace(ws.NewTextFrame([]byte(f.hello))))
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			fail = fmt.Errorf("listener %d: %w", i, err)
			return
		}
		f.open = append(f.open, conn)
		if in == nil { // the handshake contained no first frame
			in = bufio.NewReader(conn)
		}
		go f.listen(conn, in)
	})
	check(fail)
}

// listen reads the messages on the connection of one listener and replies to pings until the connection ends. It counts the end
// as a lost connection.
func (f *fan) listen(conn net.Conn, in *bufio.Reader) {
	var text []byte
	for {
		h, err := ws.ReadHeader(in)
		if err == nil {
			text = append(text[:0], make([]byte, h.Length)...)
			_, err = io.ReadFull(in, text)
		}
		if err == nil && h.OpCode == ws.OpPing {
			err = ws.WriteFrame(conn, ws.MaskFrame(ws.NewPongFrame(text)))
		}
		if err != nil {
			f.mu.Lock()
			f.lost++
			f.mu.Unlock()
			return
		}
		if h.OpCode == ws.OpText {
			f.deliver(text)
		}
	}
}

// deliver records the delivery of a message. It ignores a text that does not contain a valid mark, which is fanMark and a time.
func (f *fan) deliver(text []byte) {
	i := bytes.Index(text, []byte(fanMark))
	if i < 0 || i+18 > len(text) {
		return
	}
	at, err := strconv.ParseInt(string(text[i+2:i+18]), 16, 64)
	if err != nil {
		return
	}
	took := time.Duration(time.Now().UnixNano() - at)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got++
	f.frame = len(text)
	if !f.timed {
		return
	}
	f.waits = append(f.waits, took)
	if at > f.newest {
		f.newest = at
		f.first = append(f.first, took)
	}
}

// until calls the function done repeatedly, with f.mu locked. It stops when done returns true, when publishing fails, or when
// the duration most has passed. It returns the last result of done.
func (f *fan) until(most time.Duration, done func() bool) bool {
	for end := time.Now().Add(most); ; time.Sleep(500 * time.Microsecond) {
		f.mu.Lock()
		is, failed := done(), f.fail != nil
		f.mu.Unlock()
		if is || failed || time.Now().After(end) {
			return is
		}
	}
}

// post publishes a message that contains the current time. It does not wait for the response; it stores an error in f.fail.
func (f *fan) post() {
	f.mu.Lock()
	f.busy++
	f.mu.Unlock()
	body := fmt.Sprintf(`{"m":"%s%016x","pad":"%s"}`, fanMark, time.Now().UnixNano(), f.pad)
	go func() {
		res, err := f.http.Post(f.publish, "application/json", strings.NewReader(body))
		if err == nil {
			if _ = res.Body.Close(); res.StatusCode != http.StatusNoContent {
				err = fmt.Errorf("a message was answered %s", res.Status)
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.busy--
		if err != nil {
			f.fail = err
		}
	}()
}

// warm publishes two messages. It chooses the padding of later messages, so that the text that a listener receives has fanSize
// bytes.
func (f *fan) warm() {
	for range 2 {
		want := f.got + f.conns
		f.post()
		if !f.until(lateTime, func() bool { return f.got >= want && f.busy == 0 }) {
			check(f.fail)
			check(fmt.Errorf("%d of %d listeners received the first message, and %d connections were lost", f.conns-(want-f.got), f.conns, f.lost))
		}
		f.pad += strings.Repeat("x", max(0, fanSize-f.frame))
	}
}

// phase calls the function publish, which returns the number of messages that it has published. phase then waits up to
// lateTime until all listeners have received them. It returns the numbers of received and missing deliveries, the CPU time of
// the server, and the duration.
func (f *fan) phase(publish func() int) fanPhase {
	base, cpu, began := f.got, procTime(f.pid), time.Now()
	want := base + publish()*f.conns
	f.until(lateTime, func() bool { return f.got >= want })
	f.mu.Lock()
	defer f.mu.Unlock()
	return fanPhase{Deliveries: f.got - base, Missing: want - f.got, CPU: procTime(f.pid) - cpu, Took: time.Since(began)}
}

// single publishes fanRate messages per second for f.length and returns the number of messages. It omits a message if fanWindow
// requests stay unanswered for lateTime.
func (f *fan) single() (sent int) {
	end := time.Now().Add(f.length)
	for next := time.Now(); next.Before(end); next = next.Add(time.Second / fanRate) {
		time.Sleep(time.Until(next))
		// A server that responds to a request after the last write may be slow.
		if f.until(lateTime, func() bool { return f.busy < fanWindow }) {
			f.post()
			sent++
		}
	}
	return sent
}

// burst publishes messages as fast as all listeners can receive them, for f.length. It returns the number of messages. At most
// fanWindow messages wait for delivery at any time.
func (f *fan) burst() (sent int) {
	base, end := f.got, time.Now().Add(f.length)
	free := func() bool { return sent-(f.got-base)/f.conns < fanWindow && f.busy < fanWindow }
	for f.until(time.Until(end), free) && time.Now().Before(end) {
		f.post()
		sent++
	}
	return sent
}

// settle waits up to 20 s until the server has released the memory of the listeners, that is until its memory is at most 10%
// above base. It returns the lowest memory in bytes and the duration of the wait.
func (f *fan) settle(base int64) (least int64, after time.Duration) {
	began := time.Now()
	for least = resident(f.pid); least > base+base/10 && time.Since(began) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
		least = min(least, resident(f.pid))
	}
	return least, time.Since(began)
}

// limitServer is the helper program fan-limit, a minimal websocket server. It is the limit for the comparison if the
// reference program is missing. It sends each body that is posted to /publish to all connections, in one frame. Its arguments
// are fanLimit or fanJoined, and an address. Clients must read from all connections, because a write has no timeout.
func limitServer(ctx context.Context, args []string) {
	var mu sync.Mutex
	var open []net.Conn
	in := make(chan []byte, 1024)
	go func() {
		for frame := range in {
			if args[0] == fanJoined {
				time.Sleep(2 * time.Millisecond)
				for len(in) > 0 {
					frame = append(frame, <-in...)
				}
			}
			mu.Lock()
			for _, conn := range open {
				_, _ = conn.Write(frame) // an error means that the listener has closed its connection
			}
			mu.Unlock()
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) {
		conn, _, _, err := ws.UpgradeHTTP(r, w)
		if err != nil {
			return // UpgradeHTTP has sent an error response
		}
		mu.Lock()
		defer mu.Unlock()
		open = append(open, conn)
	})
	mux.HandleFunc("POST /publish", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			var frame []byte
			frame, err = ws.CompileFrame(ws.NewTextFrame(body))
			in <- frame
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	s := &http.Server{Addr: args[1], Handler: mux, ReadHeaderTimeout: time.Hour}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	_ = s.ListenAndServe() // returns when ctx ends; on other errors the caller finds no listener
}
