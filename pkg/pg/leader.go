package pg

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// leaseBeat is how often a lease is tried for and how often it is checked.
const leaseBeat = time.Second

var errLeaseLost = errors.New("the lease was lost")

// Leader runs do while this process holds the advisory lock key, so that of all
// replicas one works at a time; the others try again each second. The context
// of do ends when the connection that carries the lock fails, and do must then
// return soon: another replica may lead within the second. When do returns, the
// lock is given up and tried for again after a second; its error is logged.
// Leader returns when ctx ends.
func Leader(ctx context.Context, pool *pgxpool.Pool, key int64, do func(ctx context.Context) error) {
	for ctx.Err() == nil {
		if err := lead(ctx, pool, key, do); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "leader work ended", "key", key, "error", err)
		}
		wait(ctx, leaseBeat)
	}
}

// lead tries once for the lock and, with it, runs do to its end.
func lead(ctx context.Context, pool *pgxpool.Pool, key int64, do func(ctx context.Context) error) error {
	conn, err := lease(ctx, pool, key)
	if err != nil || conn == nil {
		return err
	}
	// Closing the session is what gives the lock up, whatever state it is in.
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseBeat)
		defer cancel()
		_ = conn.Close(closing)
	}()
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if watch(working, conn) != nil {
			cancel(errLeaseLost)
		}
	}()
	err = do(working)
	cause := context.Cause(working)
	cancel(nil)
	<-watched
	if errors.Is(cause, errLeaseLost) {
		return cause
	}
	return err
}

// lease returns a connection that holds the lock, or nil when another has it.
func lease(ctx context.Context, pool *pgxpool.Pool, key int64) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*leaseBeat)
	defer cancel()
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var got bool
	if err := pooled.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&got); err != nil || !got {
		pooled.Release()
		return nil, err
	}
	return pooled.Hijack(), nil
}

// watch returns nil when ctx ends and an error when the session is gone. Waiting
// for a message notices a closed connection at once, the ping a hung server.
func watch(ctx context.Context, conn *pgx.Conn) error {
	for {
		beat, cancel := context.WithTimeout(ctx, leaseBeat)
		_, err := conn.WaitForNotification(beat)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			continue
		}
		if conn.IsClosed() {
			return err
		}
		beat, cancel = context.WithTimeout(ctx, leaseBeat)
		err = conn.Ping(beat)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
