//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// fanMark begins the time at which a message was published, 16 hex digits of
	// nanoseconds. Whatever a server puts around it, it comes back in the delivery.
	fanMark = "@@"
	// settleTime is how long connections stand idle before memory is read.
	settleTime = 2 * time.Second
	// lateTime is how long deliveries are waited for that are still missing.
	lateTime = 10 * time.Second
)

// fan is ten thousand listeners and what publishes to them, in one thread: nothing
// of it waits for anything but the kernel, so that its own work stays small and alike
// for every server.
type fan struct {
	o       fanOptions
	pid     int
	poll    int         // epoll
	open    []*listener // by descriptor
	count   int         // connected
	lost    int
	posters []*poster // that have nothing under way
	busy    int       // posters that wait for an answer
	pad     string
	buf     []byte
	fail    error

	got    int
	reads  int // that brought something
	length int // of the last text that carried a mark
	newest int64
	first  []time.Duration // until the first listener had a message
	waits  []time.Duration // of all deliveries
	timed  bool
}

type fanOptions struct {
	socket, publish *url.URL
	hello           string
	conns, size     int
	window          int
	rate            float64
	length          time.Duration
	gone            bool
}

// fanLoad connects, publishes single messages and bursts, and leaves.
func fanLoad(ctx context.Context, args []string) error {
	var o fanOptions
	var socket, publish string
	var pid int
	fs := flag.NewFlagSet("fan-load", flag.ContinueOnError)
	fs.StringVar(&socket, "url", "", "of the socket")
	fs.StringVar(&publish, "publish", "", "where a message is posted")
	fs.StringVar(&o.hello, "hello", "", "text frame that is sent first")
	fs.IntVar(&o.conns, "conns", 0, "listeners")
	fs.IntVar(&o.size, "size", 200, "bytes of one text on the wire")
	fs.IntVar(&o.window, "window", 8, "messages in flight in a burst")
	fs.Float64Var(&o.rate, "rate", 3, "single messages a second")
	fs.DurationVar(&o.length, "for", 6*time.Second, "length of each phase")
	fs.BoolVar(&o.gone, "gone", false, "wait for the memory when all have left")
	fs.IntVar(&pid, "pid", 0, "the server")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err, err2 error
	o.socket, err = url.Parse(socket)
	o.publish, err2 = url.Parse(publish)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	f := &fan{o: o, pid: pid, buf: make([]byte, 64<<10)}
	if f.poll, err = syscall.EpollCreate1(0); err != nil {
		return err
	}
	found, err := f.measure(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func (f *fan) measure(ctx context.Context) (fanFound, error) {
	found := fanFound{Base: resident(f.pid)}
	cpu, began := procTime(f.pid), time.Now()
	if err := f.connect(); err != nil {
		return found, fmt.Errorf("connect: %w", err)
	}
	found.Connect = fanPhase{Deliveries: f.count, CPU: procTime(f.pid) - cpu, Took: time.Since(began)}
	f.wait(ctx, settleTime, func() bool { return false })
	found.Idle = resident(f.pid)
	if err := f.warm(ctx); err != nil {
		return found, err
	}
	found.Frame = f.length
	f.timed = true
	found.Steady = f.phase(ctx, f.single)
	f.timed = false
	found.P50, found.P99 = quantile(f.waits, 0.5), quantile(f.waits, 0.99)
	found.First, found.Late = quantile(f.first, 0.5), quantile(f.first, 0.99)
	found.Burst = f.phase(ctx, f.burst)
	found.Loaded, found.Lost = resident(f.pid), f.lost
	f.leave()
	if f.o.gone {
		found.Gone, found.GoneAfter = f.settle(ctx, found.Base)
	}
	return found, errors.Join(f.fail, ctx.Err())
}

// warm publishes until everybody hears, and finds how much has to be added to a
// message for its size on the wire.
func (f *fan) warm(ctx context.Context) error {
	for range 2 {
		f.post()
		want := f.got + f.count
		if !f.wait(ctx, lateTime, func() bool { return f.got >= want && f.busy == 0 }) {
			return errors.Join(f.fail, fmt.Errorf("%d of %d listeners have the first message, %d were lost", f.count-(want-f.got), f.count, f.lost))
		}
		f.pad += strings.Repeat("x", max(0, f.o.size-f.length))
	}
	return nil
}

// phase runs a way of publishing and waits for the last deliveries.
func (f *fan) phase(ctx context.Context, publish func(context.Context) int) fanPhase {
	base, reads, cpu, began := f.got, f.reads, procTime(f.pid), time.Now()
	sent := publish(ctx)
	want := base + sent*f.o.conns
	f.wait(ctx, lateTime, func() bool { return f.got >= want })
	return fanPhase{
		Sent: sent, Deliveries: f.got - base, Missing: want - f.got, Reads: f.reads - reads,
		CPU: procTime(f.pid) - cpu, Took: time.Since(began),
	}
}

// single publishes one message at a time.
func (f *fan) single(ctx context.Context) (sent int) {
	every := time.Duration(float64(time.Second) / f.o.rate)
	end := time.Now().Add(f.o.length)
	for next := time.Now(); next.Before(end) && ctx.Err() == nil && f.fail == nil; next = next.Add(every) {
		f.wait(ctx, time.Until(next), func() bool { return false })
		// A server that answers only when everybody has the message may be behind.
		if f.wait(ctx, lateTime, func() bool { return len(f.posters) > 0 }) {
			f.post()
			sent++
		}
	}
	return sent
}

// burst keeps messages in flight.
func (f *fan) burst(ctx context.Context) (sent int) {
	base, end := f.got, time.Now().Add(f.o.length)
	for time.Now().Before(end) && ctx.Err() == nil && f.fail == nil {
		f.wait(ctx, time.Until(end), func() bool {
			return sent-(f.got-base)/f.o.conns < f.o.window && f.busy < f.o.window
		})
		if time.Now().Before(end) {
			f.post()
			sent++
		}
	}
	return sent
}

// settle waits until the server has given back what the listeners took.
func (f *fan) settle(ctx context.Context, base int64) (int64, time.Duration) {
	began, least := time.Now(), int64(0)
	for ctx.Err() == nil && time.Since(began) < 20*time.Second {
		if now := resident(f.pid); least == 0 || now < least {
			least = now
		}
		if least <= base+base/10 {
			break
		}
		pause(ctx, 100*time.Millisecond)
	}
	return least, time.Since(began)
}

// wait takes what comes until done, at most for a while; it tells whether it is done.
func (f *fan) wait(ctx context.Context, most time.Duration, done func() bool) bool {
	events := make([]syscall.EpollEvent, 512)
	for end := time.Now().Add(most); ; {
		if done() {
			return true
		}
		left := time.Until(end)
		if left <= 0 || ctx.Err() != nil || f.fail != nil {
			return false
		}
		n, err := syscall.EpollWait(f.poll, events, int(min(left, time.Second).Milliseconds())+1)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			f.fail = err
			return false
		}
		for i := range max(n, 0) {
			f.ready(int(events[i].Fd))
		}
	}
}

// ready takes what a descriptor has.
func (f *fan) ready(fd int) {
	l := f.open[fd]
	n, err := syscall.Read(fd, f.buf)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
	case n <= 0 && l.poster != nil:
		f.fail = fmt.Errorf("the publisher's connection ended: %w", err)
	case n <= 0:
		_ = syscall.Close(fd)
		f.open[fd] = nil
		f.count--
		f.lost++
	case l.poster != nil:
		f.answered(l.poster, f.buf[:n])
	default:
		f.reads++
		l.feed(f.buf[:n], f.deliver)
	}
}

// deliver counts a text that carries a mark.
func (f *fan) deliver(text []byte) {
	i := bytes.Index(text, []byte(fanMark))
	if i < 0 || i+18 > len(text) {
		return
	}
	ns, err := strconv.ParseInt(string(text[i+2:i+18]), 16, 64)
	if err != nil {
		return
	}
	f.got++
	f.length = len(text)
	if !f.timed {
		return
	}
	took := time.Duration(time.Now().UnixNano() - ns)
	f.waits = append(f.waits, took)
	if ns > f.newest {
		f.newest = ns
		f.first = append(f.first, took)
	}
}
