package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is why a command was ended from outside.
type interrupted struct{ by syscall.Signal }

// Error implements error.
func (i *interrupted) Error() string {
	if i.by == syscall.SIGTERM {
		return "ended by SIGTERM"
	}
	return "ended by Ctrl-C"
}

// interruptible ends a context at the first SIGINT or SIGTERM, with interrupted as its cause.
// The second one ends the program at once, whatever it is about.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(came)
		select {
		case s := <-came:
			by, _ := s.(syscall.Signal)
			end(&interrupted{by})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(nil) }
}

// interruption returns the exit code of a command that a signal ended: 128 plus the number of the signal, as in shells. It is
// false without a signal.
func interruption(ctx context.Context) (code int, ok bool) {
	var i *interrupted
	if !errors.As(context.Cause(ctx), &i) {
		return 0, false
	}
	return 128 + int(i.by), true
}
