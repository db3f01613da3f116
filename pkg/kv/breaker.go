package kv

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// probeEvery is how often one command is let through while Redis is down.
const probeEvery = time.Second

// breaker is a hook around every command: it caps its time, notes its outcome
// and refuses at once while Redis is down.
type breaker struct {
	now      func() time.Time
	timeout  time.Duration
	onChange func(down bool)

	down  atomic.Bool
	probe atomic.Int64 // when the next probe may run, Unix nanoseconds
}

// DialHook leaves dialling as it is.
func (b *breaker) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook guards one command.
func (b *breaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := b.guard(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
		if errors.Is(err, ErrDown) {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook guards a pipeline as one command.
func (b *breaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := b.guard(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
		if errors.Is(err, ErrDown) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// guarded marks the context of a command that was let through: the handshake of
// a new connection passes the hook again, inside of that command.
type guarded struct{}

func (b *breaker) guard(ctx context.Context, do func(context.Context) error) error {
	if ctx.Value(guarded{}) != nil {
		return do(ctx)
	}
	if !b.admit() {
		return ErrDown
	}
	capped, cancel := context.WithTimeout(context.WithValue(ctx, guarded{}, true), b.timeout)
	defer cancel()
	err := do(capped)
	b.note(ctx, err)
	return err
}

// admit lets everything through while Redis is up, else one command a second.
func (b *breaker) admit() bool {
	if !b.down.Load() {
		return true
	}
	now, due := b.now().UnixNano(), b.probe.Load()
	return now >= due && b.probe.CompareAndSwap(due, now+int64(probeEvery))
}

// note records what a command showed about Redis. A caller that left says
// nothing about it, and neither does an error that Redis itself answered.
func (b *breaker) note(ctx context.Context, err error) {
	switch {
	case failed(err) && ctx.Err() == nil:
		b.probe.Store(b.now().Add(probeEvery).UnixNano())
		b.change(true)
	case !failed(err):
		b.change(false)
	}
}

func (b *breaker) change(down bool) {
	if b.down.CompareAndSwap(!down, down) && b.onChange != nil {
		b.onChange(down)
	}
}

// failed tells whether err means that Redis did not answer.
func failed(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return false
	}
	var answered redis.Error
	if errors.As(err, &answered) {
		return starting(answered.Error())
	}
	return !errors.Is(err, context.Canceled)
}

// starting tells whether Redis answers but cannot serve yet.
func starting(text string) bool {
	return strings.HasPrefix(text, "LOADING") || strings.HasPrefix(text, "MASTERDOWN") || strings.HasPrefix(text, "READONLY")
}
