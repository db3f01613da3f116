package redisx

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/breaker"
)

// probeInterval is the time between two commands that are sent as probes while Redis is unavailable.
const probeInterval = time.Second

// guard is a hook around every command. It limits the duration of the command, records its outcome, and rejects it at
// once while Redis is unavailable.
type guard struct {
	*breaker.Breaker
	timeout time.Duration
}

// DialHook implements redis.Hook. It returns next unchanged.
func (g guard) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook. It guards one command.
func (g guard) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := g.run(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
		if errors.Is(err, ErrDown) {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. It guards a pipeline like one command.
func (g guard) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := g.run(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
		if errors.Is(err, ErrDown) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// guarded is the context key that marks an admitted command. The handshake of a new connection runs inside that command and calls
// the hook again. The hook then sends the commands of the handshake without another check.
type guarded struct{}

func (g guard) run(ctx context.Context, do func(context.Context) error) error {
	if ctx.Value(guarded{}) != nil {
		return do(ctx)
	}
	if !g.Enter() {
		return ErrDown
	}
	capped, cancel := context.WithTimeout(context.WithValue(ctx, guarded{}, true), g.timeout)
	defer cancel()
	err := do(capped)
	g.Leave(outcome(ctx, err))
	return err
}

// outcome classifies the error of a command. An error response of Redis counts as a success, unless it means that Redis cannot
// serve requests yet. A command that fails because the context of its caller has ended does not count.
func outcome(ctx context.Context, err error) breaker.Outcome {
	var answered redis.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return breaker.Success
	case errors.As(err, &answered) && !starting(answered.Error()):
		return breaker.Success
	case ctx.Err() != nil, errors.Is(err, context.Canceled):
		return breaker.Neither
	}
	return breaker.Failure
}

// starting reports whether an error response means that Redis cannot serve requests yet.
func starting(text string) bool {
	return strings.HasPrefix(text, "LOADING") || strings.HasPrefix(text, "MASTERDOWN") || strings.HasPrefix(text, "READONLY")
}
