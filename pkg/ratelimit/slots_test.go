package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func slots(t *testing.T, store *redisx.Client, limit int) *ratelimit.Slots {
	t.Helper()
	s := ratelimit.NewSlots(store, ratelimit.SlotConfig{Name: "test", Limit: limit, Replicas: 2})
	t.Cleanup(s.Close)
	return s
}

// acquire requests n connections from each limit at the same time and returns the number of opened ones of each.
func acquire(key string, n int, limits ...*ratelimit.Slots) []int {
	counts := make([]atomic.Int64, len(limits))
	var wg sync.WaitGroup
	for i, l := range limits {
		for range n {
			wg.Go(func() {
				if l.Acquire(key) {
					counts[i].Add(1)
				}
			})
		}
	}
	wg.Wait()
	out := make([]int, len(limits))
	for i := range counts {
		out[i] = int(counts[i].Load())
	}
	return out
}

// TestSlotsOverTwoProcesses checks that two processes open as many connections as the limit permits, and that a closed connection
// can be opened by the other process.
func TestSlotsOverTwoProcesses(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	a, b := slots(t, testkit.KV(t, url), 20), slots(t, testkit.KV(t, url), 20)
	for i := range 10 {
		key := fmt.Sprint("key-", i)
		got := acquire(key, 30, a, b)
		if got[0]+got[1] != 20 {
			t.Fatalf("%s: two processes opened %d and %d connections, want 20 in total", key, got[0], got[1])
		}
		if a.Acquire(key) {
			t.Fatalf("%s: a connection above the limit was opened", key)
		}
		from, to := a, b
		if got[0] == 0 {
			from, to = b, a
		}
		from.Release(key)
		testkit.Eventually(t, 10*time.Second, func() bool { return to.Acquire(key) })
	}
}

// TestSlotsOfAnEndedProcess checks that the connections of a process that closed its limit, and those of a process that no longer
// renews its lifetime, do not count.
func TestSlotsOfAnEndedProcess(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	closed, killed, running := ratelimit.NewSlots(testkit.KV(t, url), ratelimit.SlotConfig{Name: "test", Limit: 2}), testkit.KV(t, url), slots(t, client, 2)
	for range 2 {
		if !closed.Acquire("key") {
			t.Fatal("a connection within the limit was refused")
		}
	}
	if running.Acquire("key") {
		t.Fatal("a connection above the limit was opened")
	}
	closed.Close()
	if !running.Acquire("key") {
		t.Fatal("the connections of a process that has closed its limit still count")
	}
	// The counts of a killed process remain in Redis, but its lifetime ends.
	ctx := t.Context()
	lost := ratelimit.NewSlots(killed, ratelimit.SlotConfig{Name: "test", Limit: 2})
	t.Cleanup(lost.Close)
	if !lost.Acquire("key") || running.Acquire("key") {
		t.Fatal("the limit of 2 is not shared")
	}
	if err := killed.Close(); err != nil { // the process no longer reaches Redis
		t.Fatal(err)
	}
	names := client.ZRangeWithScores(ctx, "sc:open:test", 0, -1).Val()
	if len(names) != 2 {
		t.Fatalf("%d running processes in Redis, want 2", len(names))
	}
	for _, z := range names {
		if left := time.Until(time.UnixMilli(int64(z.Score))); left > 16*time.Second {
			t.Errorf("the connections of a process expire in %v, want at most 15 s", left)
		}
	}
	testkit.Eventually(t, 40*time.Second, func() bool { return running.Acquire("key") })
	for _, key := range client.Keys(ctx, "sc:open:*").Val() {
		if client.PTTL(ctx, key).Val() <= 0 {
			t.Errorf("the Redis key %s does not expire", key)
		}
	}
}

// TestSlotsDuringRedisFaults checks that without Redis each process opens its share, and that the counts are complete after Redis
// has restarted empty.
func TestSlotsDuringRedisFaults(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	a, b := slots(t, testkit.KV(t, server.URL(), time.Second), 20), slots(t, testkit.KV(t, server.URL(), time.Second), 20)
	if got := acquire("spent", 20, a); got[0] != 20 {
		t.Fatalf("one process opened %d connections, want 20", got[0])
	}
	resume := testkit.Hang(t, server.PID())
	if got := acquire("fresh", 20, a, b); got[0] != 10 || got[1] != 10 {
		t.Errorf("while Redis hung, the processes opened %d and %d connections, want their share of 10", got[0], got[1])
	}
	if got := acquire("spent", 20, a); got[0] != 0 {
		t.Errorf("while Redis hung, a process that had all connections open opened %d more, want 0", got[0])
	}
	resume()
	testkit.Kill(t, server.PID())
	<-server.Done()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Each process states its counts again within two intervals of 5 s.
	client := testkit.KV(t, server.URL())
	testkit.Eventually(t, 30*time.Second, func() bool { return len(client.Keys(t.Context(), "sc:open:test:*").Val()) == 2 })
	testkit.Eventually(t, 30*time.Second, func() bool {
		for _, key := range client.Keys(t.Context(), "sc:open:test:*").Val() {
			sum := 0
			for _, n := range client.HGetAll(t.Context(), key).Val() {
				var one int
				if _, err := fmt.Sscan(n, &one); err != nil {
					t.Fatal(err)
				}
				sum += one
			}
			if sum != 20 {
				return false
			}
		}
		return true
	})
	if got := acquire("spent", 5, b); got[0] != 0 {
		t.Errorf("after Redis restarted empty, the other process opened %d connections above the limit, want 0", got[0])
	}
}

// TestSlotsOfOneProcess checks the limit without Redis.
func TestSlotsOfOneProcess(t *testing.T) {
	t.Parallel()
	s := slots(t, nil, 5)
	if got := acquire("key", 50, s); got[0] != 5 {
		t.Errorf("%d connections were opened, want 5", got[0])
	}
	s.Release("key")
	if got := acquire("key", 50, s); got[0] != 1 {
		t.Errorf("%d connections were opened after one was closed, want 1", got[0])
	}
}
