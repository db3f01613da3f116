package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// interval is the time between two attempts to get the lock, and between two checks of the connection that holds it.
const interval = time.Second

var errLost = errors.New("the lease was lost")

// Lead runs the function do while this process holds the advisory lock with the number key. Other replicas try to get the lock
// every second. When do returns, the lock is released. Lead logs an error with the given name and tries again after a second. It
// returns when ctx ends.
func Lead(ctx context.Context, pool *pgxpool.Pool, name string, key int64, do func(ctx context.Context) error) {
	for ctx.Err() == nil {
		if _, err := Try(ctx, pool, key, do); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "leader term failed", "part", name, "lock", key, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}

// Try runs the function do once if this process gets the advisory lock with the number key. It reports whether do ran. If the
// connection that holds the lock fails, Try cancels the context of do, and returns errLost after do has returned. Another replica
// may lead within a second, so do must then return soon.
func Try(ctx context.Context, pool *pgxpool.Pool, key int64, do func(ctx context.Context) error) (led bool, err error) {
	conn, err := lock(ctx, pool, key)
	if err != nil || conn == nil {
		return false, err
	}
	// The lock is released explicitly, because Postgres ends a session some time after its connection is closed. If
	// that fails, the end of the session releases the lock.
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), interval)
		defer cancel()
		_, _ = conn.Exec(closing, "SELECT pg_advisory_unlock($1)", key)
		_ = conn.Close(closing)
	}()
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if watch(working, conn) != nil {
			cancel(errLost)
		}
	}()
	err = do(working)
	cause := context.Cause(working)
	cancel(nil)
	<-watched
	if errors.Is(cause, errLost) {
		return true, cause
	}
	return true, err
}

// lock returns a connection that holds the advisory lock with the number key. If another process holds the lock, it returns nil.
func lock(ctx context.Context, pool *pgxpool.Pool, key int64) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*interval)
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

// watch returns nil when ctx ends, and an error when the connection has failed. Waiting for a notification detects a
// closed connection at once. The ping detects a server that does not respond.
func watch(ctx context.Context, conn *pgx.Conn) error {
	for {
		within, cancel := context.WithTimeout(ctx, interval)
		_, err := conn.WaitForNotification(within)
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
		within, cancel = context.WithTimeout(ctx, interval)
		err = conn.Ping(within)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
