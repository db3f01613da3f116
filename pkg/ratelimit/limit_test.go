package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func config(replicas int) ratelimit.Config {
	return ratelimit.Config{Name: "hub", Limit: 60, Window: time.Minute, Replicas: replicas, Now: time.Now}
}

// fire sends n concurrent requests to each limiter and returns the number of allowed ones.
func fire(t *testing.T, key string, n int, limiters ...*ratelimit.Limiter) (allowed int) {
	t.Helper()
	var count atomic.Int32
	var wg sync.WaitGroup
	for _, l := range limiters {
		for range n {
			wg.Go(func() {
				if l.Allow(t.Context(), key).Allowed {
					count.Add(1)
				}
			})
		}
	}
	wg.Wait()
	return int(count.Load())
}

// TestTwoLimitersShareSixty checks that of 1,000 requests to two processes exactly 60, the limit, are allowed.
func TestTwoLimitersShareSixty(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	a, b := ratelimit.New(testkit.KV(t, url), config(2)), ratelimit.New(testkit.KV(t, url), config(2))
	for i := range 5 {
		key := fmt.Sprint("key-", i)
		if got := fire(t, key, 500, a, b); got != 60 {
			t.Fatalf("%s: allowed %d of 1,000, want 60", key, got)
		}
		d := a.Allow(t.Context(), key)
		if d.Allowed || d.Fallback || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > time.Minute || d.Reset > d.RetryAfter {
			t.Fatalf("decision of a rejected request: %+v", d)
		}
	}
}

// TestRetryAfterIsTrue checks that a request after RetryAfter is allowed, and that an earlier one is rejected.
func TestRetryAfterIsTrue(t *testing.T) {
	t.Parallel()
	cfg := ratelimit.Config{Name: "hub", Limit: 5, Window: 400 * time.Millisecond, Replicas: 1, Now: time.Now}
	l := ratelimit.New(testkit.KV(t, testkit.Redis(t)), cfg)
	for i := range 10 {
		key := fmt.Sprint("key-", i)
		var d ratelimit.Decision
		var requestedAt time.Time
		for d.Allowed = true; d.Allowed; {
			requestedAt = time.Now()
			d = l.Allow(t.Context(), key)
		}
		// Redis computes RetryAfter at an unknown time between the request and its answer. The same is true of the
		// following requests.
		earliest, latest := requestedAt.Add(d.RetryAfter), time.Now().Add(d.RetryAfter)
		testkit.Eventually(t, 5*time.Second, func() bool {
			began := time.Now()
			allowed := l.Allow(t.Context(), key).Allowed
			if ended := time.Now(); allowed && ended.Before(earliest) {
				t.Fatalf("a request was allowed %v too early", earliest.Sub(ended))
			}
			if !allowed && began.After(latest) {
				t.Fatalf("a request was rejected %v after RetryAfter", began.Sub(latest))
			}
			return allowed
		})
	}
}

// TestClockStepsBack checks that, after the clock was set back by an hour, the limit neither allows more requests nor
// rejects them for longer than the window.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("hub", 2, time.Minute, clock.Now)
	for range 2 {
		if !l.Allow("key").Allowed {
			t.Fatal("a request within the limit was rejected")
		}
	}
	clock.Advance(-time.Hour)
	if d := l.Allow("key"); d.Allowed || d.RetryAfter > time.Minute {
		t.Fatalf("after the clock was set back: %+v; want a rejection for at most 1 minute", d)
	}
	clock.Advance(time.Minute)
	if !l.Allow("key").Allowed {
		t.Fatal("a request was rejected for longer than the window")
	}

	// The script behaves in the same way for requests whose times are ahead of the clock of Redis.
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	shared := ratelimit.New(client, ratelimit.Config{Name: "hub", Limit: 2, Window: time.Minute, Replicas: 1, Now: time.Now})
	ahead := float64(time.Now().Add(time.Hour).UnixMicro())
	for i := range 2 {
		if err := client.Do(t.Context(), "ZADD", "sc:limit:hub:key", strconv.FormatFloat(ahead+float64(i), 'f', 0, 64), i).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if d := shared.Allow(t.Context(), "key"); d.Allowed || d.RetryAfter > time.Minute || d.RetryAfter < 59*time.Second {
		t.Fatalf("requests ahead of the clock of Redis: %+v; want a rejection for about 1 minute", d)
	}
}

// TestScriptAtTheEdge checks the script with requests inside and outside of the window. It writes the log in Redis
// directly, so that it need not wait for the window.
func TestScriptAtTheEdge(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	l := ratelimit.New(client, config(1))
	now := time.Now()
	fill := func(key string, age time.Duration, n int) {
		for i := range n {
			score := strconv.FormatInt(now.Add(-age).UnixMicro()+int64(i), 10)
			if err := client.Do(t.Context(), "ZADD", "sc:limit:hub:"+key, score, i).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill("old", 61*time.Second, 60)
	if got := fire(t, "old", 100, l); got != 60 {
		t.Errorf("after the window: %d requests allowed, want 60", got)
	}
	fill("young", 30*time.Second, 60)
	if got := fire(t, "young", 100, l); got != 0 {
		t.Errorf("inside the window: %d requests allowed, want 0", got)
	}
	fill("half", 30*time.Second, 30)
	if got := fire(t, "half", 100, l); got != 30 {
		t.Errorf("half of the limit used: %d requests allowed, want 30", got)
	}
	if d := l.Allow(t.Context(), "half"); d.Allowed || d.RetryAfter < 25*time.Second || d.RetryAfter > 31*time.Second {
		t.Errorf("decision %+v; want a rejection for about 30 s", d)
	}
	ttl := client.PTTL(t.Context(), "sc:limit:hub:half").Val()
	if ttl < 55*time.Second || ttl > 62*time.Second {
		t.Errorf("the Redis key expires in %v, want about 61 s", ttl)
	}
	if n := client.ZCard(t.Context(), "sc:limit:hub:half").Val(); n != 60 {
		t.Errorf("%d requests in the log, want 60", n)
	}
}

// Redis hangs, crashes, and restarts empty while two processes use the limit.
func TestLimitDuringRedisFaults(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	var fallbacks atomic.Int64
	cfg := config(2)
	cfg.OnFallback = func() { fallbacks.Add(1) }
	limiters := make([]*ratelimit.Limiter, 2)
	for i := range limiters {
		limiters[i] = ratelimit.New(testkit.KV(t, server.URL(), time.Second), cfg)
	}
	both := func(key string) int { return fire(t, key, 200, limiters...) }
	total := both("spent") // with Redis: the whole limit is used
	if total > 60 {
		t.Fatalf("%d requests allowed with Redis, want at most 60", total)
	}

	resume := testkit.Hang(t, server.PID())
	total += both("spent")
	fresh := both("fresh")
	if fresh != 60 { // 30 for each of two processes
		t.Errorf("%d requests of an unused key allowed while Redis hangs, want 60", fresh)
	}
	if fallbacks.Load() == 0 {
		t.Error("OnFallback was not called")
	}
	d := limiters[0].Allow(t.Context(), "other")
	if !d.Allowed || !d.Fallback || d.Limit != 30 {
		t.Errorf("decision without Redis: %+v; want the share of 30", d)
	}
	h := http.Header{}
	d.SetHeaders(h)
	if got := h.Get("RateLimit-Policy"); got != `"hub";q=30;w=60` {
		t.Errorf("RateLimit-Policy %s, want the share of 30", got)
	}
	resume()
	testkit.Kill(t, server.PID())
	<-server.Done()
	total += both("spent")
	fresh += both("fresh")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Redis is empty after its restart. The clients detect it within a second.
	for i, l := range limiters {
		testkit.Eventually(t, 10*time.Second, func() bool {
			before := fallbacks.Load()
			l.Allow(t.Context(), fmt.Sprint("probe-", i))
			return fallbacks.Load() == before
		})
	}
	total += both("spent")
	fresh += both("fresh")
	if total > 120 {
		t.Errorf("%d requests allowed in one window, want at most 120", total)
	}
	if fresh > 60 {
		t.Errorf("%d requests of an unused key allowed, want at most 60", fresh)
	}
}

func TestCanceledRequestIsNoFallback(t *testing.T) {
	t.Parallel()
	cfg := config(2)
	var fallbacks atomic.Int64
	cfg.OnFallback = func() { fallbacks.Add(1) }
	l := ratelimit.New(testkit.KV(t, testkit.Redis(t)), cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Allow(ctx, "key")
	if d := l.Allow(t.Context(), "key"); d.Fallback || d.Limit != 60 || fallbacks.Load() != 0 {
		t.Fatalf("%+v after %d fallbacks", d, fallbacks.Load())
	}
}

// TestLocalLogAppliesAfterRedisLostItsData checks that a request that Redis allows but the local log rejects is removed
// from Redis.
func TestLocalLogAppliesAfterRedisLostItsData(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	l := ratelimit.New(client, config(1))
	if got := fire(t, "key", 100, l); got != 60 {
		t.Fatalf("%d requests allowed, want 60", got)
	}
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if got := fire(t, "key", 100, l); got != 0 {
		t.Fatalf("%d requests allowed after Redis lost its data, want 0", got)
	}
	if n := client.ZCard(t.Context(), "sc:limit:hub:key").Val(); n != 0 {
		t.Fatalf("%d rejected requests are counted in Redis, want 0", n)
	}
}
