package ratelimit_test

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestLocalIsExact checks that the local log matches the definition of the limit: no window of one minute contains more
// requests than the limit, and no request is rejected without a full window.
func TestLocalIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := testkit.NewClock(start)
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		l := ratelimit.NewLocal("hub", limit, time.Minute, clock.Now)
		var accepted []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			clock.Advance(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "pause")))
			now := clock.Now()
			inWindow := 0
			for _, at := range accepted {
				if now.Sub(at) < time.Minute {
					inWindow++
				}
			}
			d := l.Allow("key")
			if d.Allowed != (inWindow < limit) {
				t.Fatalf("%d of %d requests in the window, but allowed is %v", inWindow, limit, d.Allowed)
			}
			if d.Allowed {
				accepted = append(accepted, now)
				if d.Remaining != limit-inWindow-1 || d.RetryAfter != 0 {
					t.Fatalf("decision of an allowed request: %+v", d)
				}
				continue
			}
			if d.RetryAfter <= 0 || d.RetryAfter > time.Minute || d.Reset > d.RetryAfter {
				t.Fatalf("decision of a rejected request: %+v", d)
			}
			clock.Advance(d.RetryAfter - 1)
			if l.Allow("key").Allowed {
				t.Fatal("a request was allowed 1 ns before RetryAfter")
			}
			clock.Advance(1)
			if !l.Allow("key").Allowed {
				t.Fatal("a request was rejected after RetryAfter")
			}
			accepted = append(accepted, clock.Now())
		}
	})
}

func TestLocalAtTheEndOfTheWindow(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("hub", 60, time.Minute, clock.Now)
	burst := func() (n int) {
		for range 100 {
			if l.Allow("key").Allowed {
				n++
			}
		}
		return n
	}
	clock.Advance(59_900 * time.Millisecond)
	if got := burst(); got != 60 {
		t.Fatalf("%d requests allowed, want 60", got)
	}
	clock.Advance(200 * time.Millisecond) // after the end of a clock minute
	if got := burst(); got != 0 {
		t.Fatalf("%d more requests allowed in the next clock minute, want 0", got)
	}
	clock.Advance(59_800*time.Millisecond - 1)
	if got := burst(); got != 0 {
		t.Fatalf("%d requests allowed 1 ns before the window ended, want 0", got)
	}
	clock.Advance(1)
	if got := burst(); got != 60 {
		t.Fatalf("%d requests allowed after the window, want 60", got)
	}
}

func TestHeadersAndFault(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("hub", 2, time.Minute, clock.Now)
	headers := func(d ratelimit.Decision) http.Header { h := http.Header{}; d.SetHeaders(h); return h }
	l.Allow("key")
	clock.Advance(28_500 * time.Millisecond)
	d := l.Allow("key")
	if err := d.Fault(); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"Ratelimit-Policy": {`"hub";q=2;w=60`}, "Ratelimit": {`"hub";r=0;t=32`}}
	if diff := cmp.Diff(want, headers(d)); diff != "" {
		t.Error(diff)
	}
	clock.Advance(time.Nanosecond)
	d = l.Allow("key")
	f := apperr.Of(d.Fault())
	if !errors.Is(f, ratelimit.ErrLimited) || f.Kind != apperr.Limited || f.Code != "rate_limited" {
		t.Fatalf("fault %v, want rate_limited", f)
	}
	if diff := cmp.Diff(map[string]any{"limit": 2, "retryAfterMs": int64(31_500)}, f.Extra); diff != "" {
		t.Error(diff)
	}
	want = http.Header{"Ratelimit-Policy": {`"hub";q=2;w=60`}, "Ratelimit": {`"hub";r=0;t=32`}, "Retry-After": {"32"}}
	if diff := cmp.Diff(want, headers(d)); diff != "" {
		t.Error(diff)
	}
	none := ratelimit.NewLocal("anon", 0, time.Minute, clock.Now).Allow("key")
	if !none.Allowed || len(headers(none)) != 0 || none.Fault() != nil {
		t.Errorf("a limit of 0: %+v", none)
	}
}

// TestUndoLeavesTheRest checks that a request that Undo removed does not count: no window contains more of the
// remaining requests than the limit, and no request is rejected without a full window.
func TestUndoLeavesTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := testkit.NewClock(start)
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		l := ratelimit.NewLocal("hub", limit, time.Minute, clock.Now)
		type call struct {
			at time.Time
			d  ratelimit.Decision
		}
		var remaining []call
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			clock.Advance(rapid.SampledFrom([]time.Duration{0, 1, time.Second, 19 * time.Second, time.Minute - 1}).Draw(t, "pause"))
			if len(remaining) > 0 && rapid.Bool().Draw(t, "undo") {
				i := rapid.IntRange(0, len(remaining)-1).Draw(t, "which") // may have left the window
				l.Undo("key", remaining[i].d)
				remaining = slices.Delete(remaining, i, i+1)
			}
			inWindow := 0
			for _, c := range remaining {
				if clock.Now().Sub(c.at) < time.Minute {
					inWindow++
				}
			}
			d := l.Allow("key")
			if d.Allowed != (inWindow < limit) || d.Allowed && d.Remaining != limit-inWindow-1 {
				t.Fatalf("%d of %d requests in the window, but the decision is %+v", inWindow, limit, d)
			}
			if d.Allowed {
				remaining = append(remaining, call{clock.Now(), d})
			} else {
				l.Undo("key", d) // was not counted
			}
		}
	})
}

// TestUndoAtOnce checks that, after concurrent requests that are all undone, only the first request is counted.
func TestUndoAtOnce(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("hub", 60, time.Minute, clock.Now)
	none := ratelimit.NewLocal("hub", 0, time.Minute, clock.Now)
	none.Undo("key", none.Allow("key"))
	l.Allow("key")
	var wg sync.WaitGroup
	for range 1_000 {
		wg.Go(func() {
			l.Undo("key", l.Allow("key"))
			l.Undo("another", l.Allow("another"))
		})
	}
	wg.Wait()
	if d := l.Allow("key"); d.Remaining != 58 {
		t.Errorf("after one request and an undone flood: %+v", d)
	}
	if d := l.Allow("another"); d.Remaining != 59 {
		t.Errorf("after an undone flood: %+v", d)
	}
}

func TestLocalMemoryIsBounded(t *testing.T) {
	clock := testkit.NewClock(start)
	l := ratelimit.NewLocal("anon", 600, time.Minute, clock.Now)
	for range 600 {
		l.Allow("heavy")
	}
	before := heap()
	for i := range 400_000 {
		l.Allow("2001:db8::" + strconv.Itoa(i))
		if i%10_000 == 0 {
			clock.Advance(10 * time.Millisecond)
		}
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("400,000 keys use %d MB, want at most 64", grown>>20)
	}
	if l.Allow("heavy").Allowed {
		t.Error("a flood of other keys reset the count of a limited key")
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestManyGoroutinesOnOneLocal(t *testing.T) {
	t.Parallel()
	l := ratelimit.NewLocal("anon", 60, time.Minute, time.Now)
	var allowed [4]atomic.Int32
	var wg sync.WaitGroup
	for i := range 2_000 {
		wg.Go(func() {
			if l.Allow(fmt.Sprint("key-", i%4)).Allowed {
				allowed[i%4].Add(1)
			}
		})
	}
	wg.Wait()
	for i := range allowed {
		if got := allowed[i].Load(); got != 60 {
			t.Errorf("key %d: %d requests allowed, want 60", i, got)
		}
	}
}

func TestAddressKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.7":             "192.0.2.7",
		"::ffff:192.0.2.7":      "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":  "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":  "2001:db8:1:2::/64",
		"fe80::1%eth0":          "fe80::/64",
		"2001:db8:1:3:ffff::1%": "2001:db8:1:3:ffff::1%", // not an address
	} {
		if got := ratelimit.AddressKey(in); got != want {
			t.Errorf("AddressKey(%q) = %q, want %q", in, got, want)
		}
	}
}
