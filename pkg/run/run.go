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

// DefaultBudget is the time for all stopping together.
const DefaultBudget = 10 * time.Second

// ballast counts as memory in use and is never touched, so it takes none. With it
// a process that holds a few megabytes is not collected each few megabytes: under
// load that was a tenth of all work.
const ballast = 24 << 20

// Part is something that lives as long as the process. Every function may be
// nil.
type Part struct {
	Name string
	// Start makes the part ready and returns. An error ends the process.
	Start func(context.Context) error
	// Serve works until Stop; it runs in a goroutine that Run waits for.
	// Returning earlier, or with an error, ends the process.
	Serve func() error
	// Stop ends the part while its context lasts.
	Stop func(context.Context) error
}

// Lifecycle is what a part made elsewhere may offer.
type Lifecycle interface {
	Start(context.Context) error
	Serve() error
	Stop(context.Context) error
}

// Of makes a Part of a Lifecycle, such as a server.
func Of(name string, l Lifecycle) Part {
	return Part{Name: name, Start: l.Start, Serve: l.Serve, Stop: l.Stop}
}

// Loop makes a Part of work that runs until its context ends.
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

// Options of Run. Log is needed.
type Options struct {
	Log    *slog.Logger
	Budget time.Duration // DefaultBudget when zero
	Up     func()        // called when all parts have started
	Drain  func()        // called first when stopping: the process is not ready
	// Linger is the time between Drain and the first Stop, for balancers that
	// poll readiness. It counts against the budget.
	Linger time.Duration
}

// failure of a part that should still be running.
type failure struct {
	part string
	err  error
}

var errEnded = errors.New("ended by itself")

// Run starts the parts, waits for SIGTERM, SIGINT, the end of ctx or the first
// failure, and stops what was started. A second signal kills the process as
// signals do. It returns nil after an orderly stop that was asked for.
func Run(ctx context.Context, o Options, parts ...Part) error {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	weight := make([]byte, ballast)
	defer runtime.KeepAlive(weight)
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
			if err = guard(func() error { return p.Start(ctx) }); err != nil {
				err = fmt.Errorf("start %s: %w", p.Name, err)
				break
			}
		}
		started = append(started, part{p, serve(p, stopping, failed)})
	}
	if err == nil && ctx.Err() == nil {
		err = waitForEnd(ctx, o, failed)
	}
	release() // from here on a signal has its usual effect
	close(stopping)
	return errors.Join(err, stopAll(o, started, failed))
}

// part is a started Part and the end of its Serve.
type part struct {
	Part
	served <-chan struct{}
}

func waitForEnd(ctx context.Context, o Options, failed <-chan failure) error {
	if o.Up != nil {
		o.Up()
	}
	o.Log.Info("running")
	select {
	case <-ctx.Done():
		o.Log.Info("stopping", "cause", context.Cause(ctx).Error())
		return nil
	case f := <-failed:
		o.Log.Error("stopping", "part", f.part, "error", f.err.Error())
		return fmt.Errorf("%s: %w", f.part, f.err)
	}
}

// serve runs a part's Serve; what it returns before stopping is a failure.
func serve(p Part, stopping <-chan struct{}, failed chan<- failure) <-chan struct{} {
	served := make(chan struct{})
	if p.Serve == nil {
		close(served)
		return served
	}
	go func() {
		defer close(served)
		err := guard(p.Serve)
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

// stopAll stops in reverse order within the budget and waits for every Serve.
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
		go func() { done <- guard(func() error { return p.Stop(ctx) }) }()
		select {
		case err := <-done:
			if err != nil {
				return err
			}
		case <-ctx.Done(): // the budget is spent; the part is left behind
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

// guard turns a panic into an error, so that the other parts still stop well.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}
