package lease_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestLeaderIsOneAndIsReplaced(t *testing.T) {
	t.Parallel()
	server := testkit.PostgresServer(t)
	var leading, most atomic.Int32
	var terms atomic.Int32
	work := func(ctx context.Context) error {
		most.Store(max(most.Load(), leading.Add(1)))
		terms.Add(1)
		<-ctx.Done()
		leading.Add(-1)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	start := func(ctx context.Context) *pgxpool.Pool {
		pool := testkit.Pool(t, server.URL())
		wg.Go(func() { lease.Lead(ctx, pool, 7, work) })
		return pool
	}
	first, stopFirst := context.WithCancel(ctx)
	start(first)
	testkit.Eventually(t, 5*time.Second, func() bool { return leading.Load() == 1 })
	start(ctx)
	start(ctx)

	stopFirst() // the leader leaves: another one leads
	testkit.Eventually(t, 5*time.Second, func() bool { return terms.Load() == 2 && leading.Load() == 1 })

	testkit.Kill(t, server.PID()) // the session ends: no process leads
	<-server.Done()
	testkit.Eventually(t, 5*time.Second, func() bool { return leading.Load() == 0 })
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return leading.Load() == 1 })

	resume := testkit.Hang(t, server.PID()) // a server that hangs ends the term too
	testkit.Eventually(t, 10*time.Second, func() bool { return leading.Load() == 0 })
	resume()
	testkit.Eventually(t, 15*time.Second, func() bool { return leading.Load() == 1 })

	cancel()
	wg.Wait()
	if leading.Load() != 0 || most.Load() != 1 {
		t.Fatalf("leading %d, at most %d at once", leading.Load(), most.Load())
	}
}

func TestTryRunsOnceAndReleasesTheLock(t *testing.T) {
	t.Parallel()
	pool := testkit.Pool(t, testkit.PostgresServer(t).URL())
	failed := errors.New("failed")
	led, err := lease.Try(t.Context(), pool, 8, func(ctx context.Context) error {
		if led, err := lease.Try(ctx, pool, 8, func(context.Context) error { t.Error("two processes lead"); return nil }); led || err != nil {
			t.Errorf("a second process: led %v, error %v; want false without an error", led, err)
		}
		return failed
	})
	if !led || !errors.Is(err, failed) {
		t.Errorf("led %v, error %v; want true and the error of the work", led, err)
	}
	if led, err := lease.Try(t.Context(), pool, 8, func(context.Context) error { return nil }); !led || err != nil {
		t.Errorf("after the work: led %v, error %v; want the lock to be free", led, err)
	}
}
