package ratelimit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// addressConfig is the limit of IP addresses of an installation with two processes.
func addressConfig() ratelimit.Config {
	return ratelimit.Config{Name: "hub", Limit: 600, Window: time.Minute, Replicas: 2, Wait: time.Minute, Now: time.Now}
}

// fireShared sends n requests to each limit from eight goroutines, and returns the number of allowed ones of each.
func fireShared(t *testing.T, key string, n int, limits ...*ratelimit.Shared) []int {
	t.Helper()
	counts := make([]atomic.Int64, len(limits))
	var wg sync.WaitGroup
	for i, l := range limits {
		for range 8 {
			wg.Go(func() {
				for range n / 8 {
					if l.Allow(t.Context(), key).Allowed {
						counts[i].Add(1)
					}
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

// scriptCalls returns the number of scripts that Redis has executed.
func scriptCalls(t *testing.T, client *redisx.Client) (n int) {
	t.Helper()
	for line := range strings.Lines(client.Info(t.Context(), "commandstats").Val()) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_evalsha:calls="); ok {
			if _, err := fmt.Sscan(strings.Split(rest, ",")[0], &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// TestSharedLimitOverTwoProcesses checks that two processes together allow at most the limit and the requests of one second, and
// that Redis executes far fewer scripts than there are requests.
func TestSharedLimitOverTwoProcesses(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	a := ratelimit.NewShared(testkit.KV(t, server.URL()), addressConfig())
	b := ratelimit.NewShared(testkit.KV(t, server.URL()), addressConfig())
	client := testkit.KV(t, server.URL())
	const keys, requests = 20, 2000
	for i := range keys {
		key := fmt.Sprint("key-", i)
		got := fireShared(t, key, requests, a, b)
		if sum := got[0] + got[1]; sum < 600 || sum > 610 {
			t.Errorf("%s: two processes allowed %d and %d requests, want 600 to 610 in total", key, got[0], got[1])
		}
		d := a.Allow(t.Context(), key)
		if d.Allowed || d.Fallback || d.RetryAfter <= 0 || d.RetryAfter > time.Minute {
			t.Errorf("decision of a rejected request: %+v", d)
		}
	}
	// At most 610 requests of a key are reported, each process reports at least three at a time.
	if n := scriptCalls(t, client); n == 0 || n > keys*610/3+keys {
		t.Errorf("Redis executed %d scripts for %d requests, want at most a third of the %d allowed ones", n, 2*keys*requests, keys*610)
	}
}

// TestSharedLimitOfOneProcessIsExact checks that one process never allows more than the limit.
func TestSharedLimitOfOneProcessIsExact(t *testing.T) {
	t.Parallel()
	cfg := addressConfig()
	cfg.Replicas = 1
	for name, l := range map[string]*ratelimit.Shared{
		"with Redis": ratelimit.NewShared(testkit.KV(t, testkit.Redis(t)), cfg), "without Redis": ratelimit.NewShared(nil, cfg),
	} {
		if got := fireShared(t, "key", 1600, l)[0]; got != 600 {
			t.Errorf("%s: one process allowed %d requests, want 600", name, got)
		}
	}
}

// TestUndoneRequestsAreNotCounted checks that a request that was removed counts in no process.
func TestUndoneRequestsAreNotCounted(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	a, b := ratelimit.NewShared(testkit.KV(t, url), addressConfig()), ratelimit.NewShared(testkit.KV(t, url), addressConfig())
	for range 3000 {
		d := a.Allow(t.Context(), "key")
		if !d.Allowed {
			t.Fatalf("a request was rejected although all earlier ones were removed: %+v", d)
		}
		a.Undo("key", d)
	}
	if got := fireShared(t, "key", 1600, b)[0]; got < 590 {
		t.Errorf("the other process allowed %d requests, want at least 590: at most ten removed ones may still count", got)
	}
}

// TestSharedLimitDuringRedisFaults checks the limit while Redis hangs, stops and restarts empty. Few requests may wait for Redis,
// and each process then allows its share.
func TestSharedLimitDuringRedisFaults(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	const wait = 2 * time.Second // also the timeout of a command; far longer than any answer of a busy machine
	var fallbacks atomic.Int64
	cfg := addressConfig()
	cfg.Wait, cfg.OnFallback = wait, func() { fallbacks.Add(1) }
	limits := make([]*ratelimit.Shared, 2)
	for i := range limits {
		limits[i] = ratelimit.NewShared(testkit.KV(t, server.URL(), wait), cfg)
	}
	sum := func(key string, n int) int { got := fireShared(t, key, n, limits...); return got[0] + got[1] }
	if total := sum("healthy", 800); total < 600 || total > 610 {
		t.Fatalf("with Redis, %d requests were allowed, want 600 to 610", total)
	}

	resume := testkit.Hang(t, server.PID())
	var waited atomic.Int64
	for i := range 400 {
		began := time.Now()
		limits[i%2].Allow(t.Context(), "hung")
		if time.Since(began) > wait/2 {
			waited.Add(1)
		}
	}
	if n := waited.Load(); n > 2 {
		t.Errorf("%d of 400 requests waited for Redis while it hung, want at most one in each process", n)
	}
	total := 400 + sum("hung", 1600)
	if total > 400+600 {
		t.Errorf("while Redis hung, %d requests were allowed, want the shares of both processes", total-400)
	}
	if fallbacks.Load() == 0 {
		t.Error("OnFallback was not called")
	}
	if d := limits[0].Allow(t.Context(), "other"); !d.Allowed || !d.Fallback || d.Limit != 300 {
		t.Errorf("decision without Redis: %+v; want the share of 300", d)
	}
	resume()
	testkit.Kill(t, server.PID())
	<-server.Done()
	if got := sum("stopped", 1600); got != 600 {
		t.Errorf("while Redis was stopped, %d requests were allowed, want the share of 300 in each process", got)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sum("stopped", 1600); got > 10 {
		t.Errorf("after Redis restarted empty, %d more requests of the same key were allowed, want at most 10", got)
	}
	client := testkit.KV(t, server.URL(), wait)
	testkit.Eventually(t, 20*time.Second, func() bool {
		limits[0].Allow(t.Context(), "probe")
		return client.Exists(t.Context(), countKey("probe")).Val() == 1
	})
}

// countKey returns the Redis key of the requests of a key.
func countKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sc:count:hub:" + hex.EncodeToString(sum[:16])
}

// TestCountScriptAtTheEdge checks which requests the script counts in the window, and that each key expires.
func TestCountScriptAtTheEdge(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	for _, tc := range []struct {
		name string
		age  time.Duration
		want int // number of requests that are still allowed
	}{
		{"after the window", 62 * time.Second, 600}, {"inside the window", 50 * time.Second, 0}, {"ahead of the clock", -time.Hour, 0},
	} {
		key := strings.ReplaceAll(tc.name, " ", "-")
		second := time.Now().Add(-tc.age).Unix()
		if err := client.HSet(t.Context(), countKey(key), second, 600).Err(); err != nil {
			t.Fatal(err)
		}
		l := ratelimit.NewShared(client, addressConfig())
		if got := fireShared(t, key, 1200, l)[0]; got < tc.want || got > tc.want+5 {
			t.Errorf("600 requests %s: %d requests allowed, want %d and at most 5 unreported ones", tc.name, got, tc.want)
		}
		if d := l.Allow(t.Context(), key); d.Allowed || d.RetryAfter > time.Minute {
			t.Errorf("600 requests %s: decision %+v, want a rejection for at most a minute", tc.name, d)
		}
		if ttl := client.PTTL(t.Context(), countKey(key)).Val(); ttl < time.Minute || ttl > 63*time.Second {
			t.Errorf("600 requests %s: the Redis key expires in %v, want about 62 s", tc.name, ttl)
		}
	}
}

func BenchmarkSharedAllow(b *testing.B) {
	for name, l := range map[string]interface {
		Allow(context.Context, string) ratelimit.Decision
	}{
		"shared": ratelimit.NewShared(testkit.KV(b, testkit.Redis(b)), benchConfig()),
		"local":  ratelimit.NewShared(nil, benchConfig()),
		"exact":  ratelimit.New(testkit.KV(b, testkit.Redis(b)), benchConfig()),
	} {
		keys := make([]string, 10_000)
		for i := range keys {
			keys[i] = fmt.Sprint("198.51.100.", i)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Allow(b.Context(), keys[i%len(keys)])
			}
		})
	}
}

func benchConfig() ratelimit.Config {
	return ratelimit.Config{Name: "bench", Limit: 6000, Window: time.Minute, Replicas: 2, Now: time.Now}
}
