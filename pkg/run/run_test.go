package run_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eventLog records events in their order.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (d *eventLog) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *eventLog) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, ", ")
}

func (d *eventLog) options(up func()) run.Options {
	return run.Options{
		Log:   slog.New(slog.DiscardHandler),
		Up:    func() { d.add("up"); up() },
		Drain: func() { d.add("drain") },
	}
}

// server returns a part that serves until it is stopped.
func (d *eventLog) server(name string) run.Part {
	quit := make(chan struct{})
	return run.Part{
		Name:  name,
		Start: func(context.Context) error { d.add("start " + name); return nil },
		Serve: func() error { <-quit; return nil },
		Stop:  func(context.Context) error { d.add("stop " + name); close(quit); return nil },
	}
}

var errBroken = errors.New("broken")

func TestOrder(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	if err := run.Run(ctx, d.options(cancel), d.server("a"), d.server("b"), run.Part{Name: "nothing"}); err != nil {
		t.Error(err)
	}
	if got := d.String(); got != "start a, start b, up, drain, stop b, stop a" {
		t.Errorf("events: %s", got)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	bad := run.Part{Name: "bad", Start: func(context.Context) error { return errBroken }, Stop: func(context.Context) error { d.add("stop bad"); return nil }}
	err := run.Run(t.Context(), d.options(func() {}), d.server("a"), bad, d.server("c"))
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "start bad") {
		t.Error(err)
	}
	if got := d.String(); got != "start a, drain, stop a" {
		t.Errorf("events: %s", got)
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func() error{
		"error": func() error { return errBroken },
		"end":   func() error { return nil },
		"panic": func() error { panic("ouch") },
	} {
		d := &eventLog{}
		err := run.Run(t.Context(), d.options(func() {}), d.server("a"), run.Part{Name: "bad", Serve: serve})
		if err == nil || !strings.Contains(err.Error(), "bad: ") {
			t.Errorf("%s: %v", name, err)
		}
		if got := d.String(); !strings.HasSuffix(got, "drain, stop a") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestStopFailsAndPanics(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	err := run.Run(ctx, d.options(cancel), d.server("a"),
		run.Part{Name: "b", Stop: func(context.Context) error { return errBroken }},
		run.Part{Name: "c", Stop: func(context.Context) error { panic("ouch") }})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "stop c: panic: ouch") {
		t.Error(err)
	}
	if got := d.String(); !strings.HasSuffix(got, "stop a") {
		t.Errorf("a part was not stopped: %s", got)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	free := make(chan struct{})
	defer close(free)
	o := d.options(cancel)
	o.Budget = 50 * time.Millisecond
	start := time.Now()
	err := run.Run(ctx, o, run.Part{Name: "stuck", Stop: func(context.Context) error { <-free; return nil }})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "stop stuck") {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Run took %v with a budget of 50 ms", took)
	}
}

func TestLinger(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	o := d.options(cancel)
	o.Linger = 30 * time.Millisecond
	var drained, stopped time.Time
	o.Drain = func() { drained = time.Now() }
	if err := run.Run(ctx, o, run.Part{Name: "a", Stop: func(context.Context) error { stopped = time.Now(); return nil }}); err != nil {
		t.Error(err)
	}
	if gap := stopped.Sub(drained); gap < o.Linger {
		t.Errorf("stopped %v after Drain, want at least 30 ms", gap)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	loop := run.Loop("loop", func(ctx context.Context) error {
		<-ctx.Done()
		d.add("loop ends")
		return ctx.Err()
	})
	if err := run.Run(ctx, d.options(cancel), d.server("a"), loop); err != nil {
		t.Error(err)
	}
	if got := d.String(); got != "start a, up, drain, loop ends, stop a" {
		t.Errorf("events: %s", got)
	}
	err := run.Run(t.Context(), d.options(func() {}), run.Loop("bad", func(context.Context) error { return errBroken }))
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := run.Loop("idle", func(context.Context) error { return nil }).Stop(t.Context()); err != nil {
		t.Errorf("stop of a loop that was not started: %v", err)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	d := &eventLog{}
	ctx, cancel := context.WithCancel(t.Context())
	if err := run.Run(ctx, d.options(cancel), run.Of("life", &lifecycle{d: d, quit: make(chan struct{})})); err != nil {
		t.Error(err)
	}
	if got := d.String(); got != "start, up, drain, stop" {
		t.Errorf("events: %s", got)
	}
}

type lifecycle struct {
	d    *eventLog
	quit chan struct{}
}

func (l *lifecycle) Start(context.Context) error { l.d.add("start"); return nil }
func (l *lifecycle) Serve() error                { <-l.quit; return nil }
func (l *lifecycle) Stop(context.Context) error  { l.d.add("stop"); close(l.quit); return nil }

// TestSignal sends signals to the test process. It must not run in parallel, because signals affect the whole
// process.
func TestSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		d := &eventLog{}
		err := run.Run(t.Context(), d.options(func() {
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				t.Error(err)
			}
		}), d.server("a"))
		if err != nil || !slices.Contains(d.lines, "stop a") {
			t.Errorf("%v: %v, %s", sig, err, d)
		}
	}
}
