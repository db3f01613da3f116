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

func TestOneLeaderAtATime(t *testing.T) {
	t.Parallel()
	server := testkit.PostgresServer(t)
	var leaders, maxLeaders atomic.Int32
	var terms atomic.Int32
	work := func(ctx context.Context) error {
		maxLeaders.Store(max(maxLeaders.Load(), leaders.Add(1)))
		terms.Add(1)
		<-ctx.Done()
		leaders.Add(-1)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	start := func(ctx context.Context) *pgxpool.Pool {
		pool := testkit.Pool(t, server.URL())
		wg.Go(func() { lease.Lead(ctx, pool, "work", 7, work) })
		return pool
	}
	first, stopFirst := context.WithCancel(ctx)
	start(first)
	testkit.Eventually(t, 5*time.Second, func() bool { return leaders.Load() == 1 })
	start(ctx)
	start(ctx)

	stopFirst() // the leader stops: another process leads
	testkit.Eventually(t, 5*time.Second, func() bool { return terms.Load() == 2 && leaders.Load() == 1 })

	testkit.Kill(t, server.PID()) // all sessions end: no process leads
	<-server.Done()
	testkit.Eventually(t, 5*time.Second, func() bool { return leaders.Load() == 0 })
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return leaders.Load() == 1 })

	resume := testkit.Hang(t, server.PID()) // a server that does not respond also ends the term
	testkit.Eventually(t, 10*time.Second, func() bool { return leaders.Load() == 0 })
	resume()
	testkit.Eventually(t, 15*time.Second, func() bool { return leaders.Load() == 1 })

	cancel()
	wg.Wait()
	if leaders.Load() != 0 || maxLeaders.Load() != 1 {
		t.Fatalf("%d leaders at the end, at most %d at the same time; want 0 and 1", leaders.Load(), maxLeaders.Load())
	}
}

func TestTryRunsOnceAndReleasesTheLock(t *testing.T) {
	t.Parallel()
	pool := testkit.Pool(t, testkit.PostgresServer(t).URL())
	failed := errors.New("failed")
	led, err := lease.Try(t.Context(), pool, 8, func(ctx context.Context) error {
		if led, err := lease.Try(ctx, pool, 8, func(context.Context) error { t.Error("two processes lead at the same time"); return nil }); led || err != nil {
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
