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

func hub(replicas int) ratelimit.Config {
	return ratelimit.Config{Name: "hub", Limit: 60, Window: time.Minute, Replicas: replicas, Now: time.Now}
}

// fire makes n calls at once on each limiter and counts what was allowed.
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

// D1: exactly 60 of 1,000 calls over two processes.
func TestTwoLimitersShareSixty(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	a, b := ratelimit.New(testkit.KV(t, url), hub(2)), ratelimit.New(testkit.KV(t, url), hub(2))
	for i := range 5 {
		key := fmt.Sprint("key-", i)
		if got := fire(t, key, 500, a, b); got != 60 {
			t.Fatalf("%s: accepted %d of 1,000", key, got)
		}
		d := a.Allow(t.Context(), key)
		if d.Allowed || d.Fallback || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > time.Minute || d.Reset > d.RetryAfter {
			t.Fatalf("%+v", d)
		}
	}
}

// D2: whoever waits as told is taken, whoever comes earlier is not.
func TestRetryAfterIsTrue(t *testing.T) {
	t.Parallel()
	cfg := ratelimit.Config{Name: "hub", Limit: 5, Window: 400 * time.Millisecond, Replicas: 1, Now: time.Now}
	l := ratelimit.New(testkit.KV(t, testkit.Redis(t)), cfg)
	for i := range 10 {
		key := fmt.Sprint("key-", i)
		var d ratelimit.Decision
		var asked time.Time
		for d.Allowed = true; d.Allowed; {
			asked = time.Now()
			d = l.Allow(t.Context(), key)
		}
		// What is told counts from a moment between the question and its answer, and so
		// do those that follow.
		earliest, latest := asked.Add(d.RetryAfter), time.Now().Add(d.RetryAfter)
		testkit.Eventually(t, 5*time.Second, func() bool {
			began := time.Now()
			allowed := l.Allow(t.Context(), key).Allowed
			if ended := time.Now(); allowed && ended.Before(earliest) {
				t.Fatalf("accepted %v early", earliest.Sub(ended))
			}
			if !allowed && began.After(latest) {
				t.Fatalf("refused %v after the wait", began.Sub(latest))
			}
			return allowed
		})
	}
}

// F6: a clock that steps back neither opens the limit nor shuts it for an hour.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("hub", 2, time.Minute, clock.Now)
	for range 2 {
		if !l.Allow("key").Allowed {
			t.Fatal("refused")
		}
	}
	clock.Advance(-time.Hour)
	if d := l.Allow("key"); d.Allowed || d.RetryAfter > time.Minute {
		t.Fatalf("%+v", d)
	}
	clock.Advance(time.Minute)
	if !l.Allow("key").Allowed {
		t.Fatal("shut for longer than the window")
	}

	// The same for the script: calls that Redis's clock says lie ahead.
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
		t.Fatalf("%+v", d)
	}
}

// A log of the script filled by hand, so that the window's edge needs no waiting.
func TestScriptAtTheEdge(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	l := ratelimit.New(client, hub(1))
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
		t.Errorf("after the window: %d", got)
	}
	fill("young", 30*time.Second, 60)
	if got := fire(t, "young", 100, l); got != 0 {
		t.Errorf("inside the window: %d", got)
	}
	fill("half", 30*time.Second, 30)
	if got := fire(t, "half", 100, l); got != 30 {
		t.Errorf("half full: %d", got)
	}
	if d := l.Allow(t.Context(), "half"); d.Allowed || d.RetryAfter < 25*time.Second || d.RetryAfter > 31*time.Second {
		t.Errorf("%+v", d)
	}
	ttl := client.PTTL(t.Context(), "sc:limit:hub:half").Val()
	if ttl < 55*time.Second || ttl > 62*time.Second {
		t.Errorf("the key lives for %v", ttl)
	}
	if n := client.ZCard(t.Context(), "sc:limit:hub:half").Val(); n != 60 {
		t.Errorf("%d calls are kept", n)
	}
}

// D3: Redis hangs, dies and comes back empty under two processes.
func TestRedisAwayIsBounded(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	var fallbacks atomic.Int64
	cfg := hub(2)
	cfg.OnFallback = func() { fallbacks.Add(1) }
	limiters := make([]*ratelimit.Limiter, 2)
	for i := range limiters {
		limiters[i] = ratelimit.New(testkit.KV(t, server.URL(), time.Second), cfg)
	}
	both := func(key string) int { return fire(t, key, 200, limiters...) }
	total := both("spent") // before: the whole limit is used
	if total > 60 {
		t.Fatalf("%d before", total)
	}

	resume := testkit.Hang(t, server.PID())
	total += both("spent")
	fresh := both("fresh")
	if fresh != 60 { // 30 for each of two processes
		t.Errorf("%d of a fresh key while Redis hangs", fresh)
	}
	if fallbacks.Load() == 0 {
		t.Error("fallbacks were not counted")
	}
	d := limiters[0].Allow(t.Context(), "other")
	if !d.Allowed || !d.Fallback || d.Limit != 30 {
		t.Errorf("%+v", d)
	}
	h := http.Header{}
	d.SetHeaders(h)
	if got := h.Get("RateLimit-Policy"); got != `"hub";q=30;w=60` {
		t.Error(got)
	}
	resume()
	testkit.Kill(t, server.PID())
	<-server.Done()
	total += both("spent")
	fresh += both("fresh")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Redis is back and empty; probes find it within the second.
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
		t.Errorf("%d in one window across the switch", total)
	}
	if fresh > 60 {
		t.Errorf("%d of a fresh key across the return", fresh)
	}
}

func TestCallerThatLeavesIsNoFallback(t *testing.T) {
	t.Parallel()
	cfg := hub(2)
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

// A call that Redis took but our own log refused does not stay counted.
func TestEmptiedRedisIsNotBelieved(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	l := ratelimit.New(client, hub(1))
	if got := fire(t, "key", 100, l); got != 60 {
		t.Fatal(got)
	}
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if got := fire(t, "key", 100, l); got != 0 {
		t.Fatalf("%d after Redis lost its memory", got)
	}
	if n := client.ZCard(t.Context(), "sc:limit:hub:key").Val(); n != 0 {
		t.Fatalf("%d refused calls stay counted", n)
	}
}
