package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the cause of a context that a process signal ended.
type interrupted struct{ by syscall.Signal }

// Error implements error.
func (i *interrupted) Error() string {
	if i.by == syscall.SIGTERM {
		return "ended by SIGTERM"
	}
	return "ended by Ctrl-C"
}

// Is reports whether target is context.Canceled.
func (i *interrupted) Is(target error) bool { return target == context.Canceled }

// interruptible returns a context that ends at the first SIGINT or SIGTERM, with interrupted as its cause. The second signal
// ends the process at once.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			by, _ := s.(syscall.Signal)
			end(&interrupted{by})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(nil) }
}

// interruption returns the exit code of a command that a process signal ended: 128 plus the number of the signal, as in shells.
// ok is false if no signal ended the command.
func interruption(ctx context.Context) (code int, ok bool) {
	var i *interrupted
	if !errors.As(context.Cause(ctx), &i) {
		return 0, false
	}
	return 128 + int(i.by), true
}
