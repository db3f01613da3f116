package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// DefaultBudget is the default time limit for stopping all parts together.
const DefaultBudget = 10 * time.Second

// ballast is the size in bytes of an allocation that makes garbage collections less frequent in a process with a small heap.
// Without it, these collections took a tenth of all CPU time under load. The memory is never written, so the operating system
// does not allocate it.
const ballast = 24 << 20

// Part is a component that runs as long as the process. Each function may be nil.
type Part struct {
	Name string
	// Start prepares the part and returns. An error ends the process.
	Start func(context.Context) error
	// Serve works until Stop is called. Run calls it in a goroutine. If it returns earlier or with an error, the
	// process ends.
	Serve func() error
	// Stop ends the part. It should return before its context ends.
	Stop func(context.Context) error
}

// Lifecycle is the interface of components that can be a Part, such as servers.
type Lifecycle interface {
	Start(context.Context) error
	Serve() error
	Stop(context.Context) error
}

// Of returns a Part with the given name whose functions are the methods of l.
func Of(name string, l Lifecycle) Part {
	return Part{Name: name, Start: l.Start, Serve: l.Serve, Stop: l.Stop}
}

// Loop returns a Part that runs the function work until Stop cancels its context.
func Loop(name string, work func(context.Context) error) Part {
	ctx, cancel := context.WithCancel(context.Background())
	return Part{
		Name: name,
		Serve: func() error {
			err := work(ctx)
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
			return err
		},
		Stop: func(context.Context) error { cancel(); return nil },
	}
}

// Options configure Run. Log is required.
type Options struct {
	Log    *slog.Logger
	Budget time.Duration // DefaultBudget when zero
	Up     func()        // called when all parts have started; may be nil
	Drain  func()        // called at the start of the stop, to make the process not ready; may be nil
	// Linger is the time between Drain and the first Stop, for load balancers that poll readiness. It counts towards
	// the budget.
	Linger time.Duration
}

// failure is the error of a part that returned too early or with an error.
type failure struct {
	part string
	err  error
}

var errEnded = errors.New("returned before it was stopped")

// Run starts the parts and waits for SIGTERM, SIGINT, the end of ctx or the first failure. It then stops the started
// parts. A second signal has its default effect and ends the process. Run returns nil if the stop was requested and
// no part failed.
func Run(ctx context.Context, o Options, parts ...Part) error {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	memory := make([]byte, ballast)
	defer runtime.KeepAlive(memory)
	ctx, release := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer release()
	failed := make(chan failure, len(parts))
	stopping := make(chan struct{})
	var started []part
	var err error
	for _, p := range parts {
		if ctx.Err() != nil {
			break
		}
		if p.Start != nil {
			if err = withRecover(func() error { return p.Start(ctx) }); err != nil {
				err = fmt.Errorf("start %s: %w", p.Name, err)
				break
			}
		}
		started = append(started, part{p, serve(p, stopping, failed)})
	}
	if err == nil && ctx.Err() == nil {
		err = waitForEnd(ctx, o, failed)
	}
	release() // from here on, a signal has its default effect
	close(stopping)
	return errors.Join(err, stopAll(o, started, failed))
}

// part is a started Part. served is closed when its Serve has returned.
type part struct {
	Part
	served <-chan struct{}
}

func waitForEnd(ctx context.Context, o Options, failed <-chan failure) error {
	if o.Up != nil {
		o.Up()
	}
	o.Log.Info("started")
	select {
	case <-ctx.Done():
		o.Log.Info("shutdown started", "cause", context.Cause(ctx).Error())
		return nil
	case f := <-failed:
		o.Log.Error("part failed", "part", f.part, "error", f.err.Error())
		return fmt.Errorf("%s: %w", f.part, f.err)
	}
}

// serve runs the function Serve of a part in a goroutine. It sends a failure to failed if Serve returns an error, or returns
// before stopping is closed. The returned channel is closed when Serve has returned.
func serve(p Part, stopping <-chan struct{}, failed chan<- failure) <-chan struct{} {
	served := make(chan struct{})
	if p.Serve == nil {
		close(served)
		return served
	}
	go func() {
		defer close(served)
		err := withRecover(p.Serve)
		select {
		case <-stopping:
			if err == nil {
				return
			}
		default:
			if err == nil {
				err = errEnded
			}
		}
		failed <- failure{p.Name, err}
	}()
	return served
}

// stopAll calls Options.Drain, waits for Options.Linger, and then stops the parts in reverse order. For each part it waits
// until Serve has returned. All this takes at most the budget. stopAll returns the errors of the parts.
func stopAll(o Options, started []part, failed <-chan failure) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.Budget)
	defer cancel()
	if o.Drain != nil {
		o.Drain()
	}
	if o.Linger > 0 && len(started) > 0 {
		linger := time.NewTimer(o.Linger)
		defer linger.Stop()
		select {
		case <-linger.C:
		case <-ctx.Done():
		}
	}
	var errs []error
	for _, p := range slices.Backward(started) {
		if err := stopOne(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.Name, err))
		}
	}
	for {
		select {
		case f := <-failed:
			errs = append(errs, fmt.Errorf("%s: %w", f.part, f.err))
			continue
		default:
		}
		break
	}
	if err := errors.Join(errs...); err != nil {
		o.Log.Error("stopped", "error", err.Error())
		return err
	}
	o.Log.Info("stopped")
	return nil
}

func stopOne(ctx context.Context, p part) error {
	if p.Stop != nil {
		done := make(chan error, 1)
		go func() { done <- withRecover(func() error { return p.Stop(ctx) }) }()
		select {
		case err := <-done:
			if err != nil {
				return err
			}
		case <-ctx.Done(): // the time limit is exceeded; the part is abandoned
			return ctx.Err()
		}
	}
	select {
	case <-p.served:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withRecover returns a panic of f as an error, so that the other parts can still be stopped.
func withRecover(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}
