package ratelimit_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestWaitCountsNothing checks that Wait returns the time for which Allow rejects a request, also with several
// processes, and that Wait counts no request.
func TestWaitCountsNothing(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	cfg := ratelimit.Config{Name: "hub", Limit: 10, Window: time.Minute, Replicas: 2, Now: time.Now}
	a, b := ratelimit.New(client, cfg), ratelimit.New(testkit.KV(t, url), cfg)
	for i := range 10 {
		for _, l := range []*ratelimit.Limiter{a, b} {
			if w := l.Wait(t.Context(), "key"); w != 0 {
				t.Fatalf("after %d requests: wait %v, want 0", i, w)
			}
		}
		if !a.Allow(t.Context(), "key").Allowed {
			t.Fatalf("request %d was rejected", i)
		}
	}
	for _, l := range []*ratelimit.Limiter{a, b} {
		w, d := l.Wait(t.Context(), "key"), l.Allow(t.Context(), "key")
		if d.Allowed || w < d.RetryAfter-time.Second || w > d.RetryAfter+time.Second {
			t.Errorf("Wait returned %v, but Allow rejected for %v", w, d.RetryAfter)
		}
	}
	if w := b.Wait(t.Context(), "other"); w != 0 {
		t.Errorf("another key has to wait %v, want 0", w)
	}
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if a.Wait(t.Context(), "key") == 0 {
		t.Error("Wait returned 0 after Redis lost its data")
	}
}

// TestWaitAtTheEndOfTheWindow checks Wait with logs that it writes directly: requests near the end of the window, and
// requests with times after the current time, as after a clock was set back.
func TestWaitAtTheEndOfTheWindow(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	l := ratelimit.New(client, ratelimit.Config{Name: "hub", Limit: 2, Window: time.Minute, Replicas: 1, Now: time.Now})
	for name, c := range map[string]struct {
		ages     []time.Duration
		min, max time.Duration
	}{
		"none":     {nil, 0, 0},
		"one":      {[]time.Duration{time.Second}, 0, 0},
		"two":      {[]time.Duration{50 * time.Second, time.Second}, 9 * time.Second, 10 * time.Second},
		"old":      {[]time.Duration{2 * time.Minute, time.Second}, 0, 0},
		"past":     {[]time.Duration{time.Minute, time.Second}, 0, 0},
		"three":    {[]time.Duration{2 * time.Minute, 30 * time.Second, time.Second}, 29 * time.Second, 30 * time.Second},
		"set back": {[]time.Duration{-time.Hour, -time.Hour - time.Second}, 58 * time.Second, 60 * time.Second},
	} {
		now := time.Now()
		for i, age := range c.ages {
			score := strconv.FormatInt(now.Add(-age).UnixMicro(), 10)
			if err := client.Do(t.Context(), "ZADD", "sc:limit:hub:"+name, score, i).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if w := l.Wait(t.Context(), name); w < c.min || w > c.max {
			t.Errorf("%s: wait %v", name, w)
		}
		if n := client.ZCard(t.Context(), "sc:limit:hub:"+name).Val(); int(n) != len(c.ages) {
			t.Errorf("%s: the log contains %d requests after Wait", name, n)
		}
	}
}

// TestWaitWithoutRedis checks that Wait applies the share of this process without Redis, and that a canceled request
// does not count as an outage.
func TestWaitWithoutRedis(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	fallbacks := 0
	l := ratelimit.New(testkit.KV(t, server.URL(), 50*time.Millisecond), ratelimit.Config{
		Name: "hub", Limit: 10, Window: time.Minute, Replicas: 2, Now: time.Now, OnFallback: func() { fallbacks++ },
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if l.Wait(canceled, "key"); fallbacks != 0 {
		t.Error("a canceled request was counted as an outage")
	}
	for range 5 {
		l.Allow(t.Context(), "key")
	}
	if w := l.Wait(t.Context(), "key"); w != 0 {
		t.Errorf("half of the limit used: wait %v, want 0", w)
	}
	testkit.Kill(t, server.PID())
	<-server.Done()
	if w := l.Wait(t.Context(), "key"); w <= 0 || w > time.Minute || fallbacks == 0 {
		t.Errorf("the share is used up: wait %v, %d fallbacks", w, fallbacks)
	}
	if w := l.Wait(t.Context(), "other"); w != 0 {
		t.Errorf("another key: wait %v, want 0", w)
	}
}
