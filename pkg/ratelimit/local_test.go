package ratelimit_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
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

// The local log against the definition: no window of a minute
// holds more than the limit, and a refusal is never without a full window.
func TestLocalIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := testkit.NewClock(start)
		most := rapid.IntRange(1, 6).Draw(t, "limit")
		l := ratelimit.NewLocal("hub", most, time.Minute, clock.Now)
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
			if d.Allowed != (inWindow < most) {
				t.Fatalf("%d of %d in the window, allowed %v", inWindow, most, d.Allowed)
			}
			if d.Allowed {
				accepted = append(accepted, now)
				if d.Remaining != most-inWindow-1 || d.RetryAfter != 0 {
					t.Fatalf("%+v", d)
				}
				continue
			}
			if d.RetryAfter <= 0 || d.RetryAfter > time.Minute || d.Reset > d.RetryAfter {
				t.Fatalf("%+v", d)
			}
			clock.Advance(d.RetryAfter - 1)
			if l.Allow("key").Allowed {
				t.Fatal("accepted a nanosecond early")
			}
			clock.Advance(1)
			if !l.Allow("key").Allowed {
				t.Fatal("not accepted after the wait")
			}
			accepted = append(accepted, clock.Now())
		}
	})
}

func TestEdgeOfTheWindow(t *testing.T) {
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
		t.Fatal(got)
	}
	clock.Advance(200 * time.Millisecond) // over the edge of a clock minute
	if got := burst(); got != 0 {
		t.Fatalf("%d more over the edge", got)
	}
	clock.Advance(59_800*time.Millisecond - 1)
	if got := burst(); got != 0 {
		t.Fatalf("%d a nanosecond early", got)
	}
	clock.Advance(1)
	if got := burst(); got != 60 {
		t.Fatal(got)
	}
}

func TestAnswer(t *testing.T) {
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
		t.Fatal(f)
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
		t.Errorf("%+v", none)
	}
}

// What is taken back never came: no window holds more than the limit of the calls that
// stay, and none of them is refused without a full window.
func TestUndoLeavesTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := testkit.NewClock(start)
		most := rapid.IntRange(1, 6).Draw(t, "limit")
		l := ratelimit.NewLocal("hub", most, time.Minute, clock.Now)
		type call struct {
			at time.Time
			d  ratelimit.Decision
		}
		var stay []call
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			clock.Advance(rapid.SampledFrom([]time.Duration{0, 1, time.Second, 19 * time.Second, time.Minute - 1}).Draw(t, "pause"))
			if len(stay) > 0 && rapid.Bool().Draw(t, "undo") {
				i := rapid.IntRange(0, len(stay)-1).Draw(t, "which") // one that has left the window, too
				l.Undo("key", stay[i].d)
				stay = slices.Delete(stay, i, i+1)
			}
			inWindow := 0
			for _, c := range stay {
				if clock.Now().Sub(c.at) < time.Minute {
					inWindow++
				}
			}
			d := l.Allow("key")
			if d.Allowed != (inWindow < most) || d.Allowed && d.Remaining != most-inWindow-1 {
				t.Fatalf("%d of %d in the window: %+v", inWindow, most, d)
			}
			if d.Allowed {
				stay = append(stay, call{clock.Now(), d})
			} else {
				l.Undo("key", d) // was never counted
			}
		}
	})
}

// TestUndoAtOnce: many come and go at once, and none is counted in the end.
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
		t.Errorf("%+v", d)
	}
	if d := l.Allow("another"); d.Remaining != 59 {
		t.Errorf("%+v", d)
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
		t.Errorf("400,000 keys hold %d MB", grown>>20)
	}
	if l.Allow("heavy").Allowed {
		t.Error("a flood of keys reset the heavy caller")
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
			t.Errorf("key %d: %d", i, got)
		}
	}
}

func TestAddrKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.7":             "192.0.2.7",
		"::ffff:192.0.2.7":      "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":  "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":  "2001:db8:1:2::/64",
		"fe80::1%eth0":          "fe80::/64",
		"2001:db8:1:3:ffff::1%": "",
	} {
		a, err := netip.ParseAddr(in)
		if err != nil {
			if want != "" {
				t.Error(err)
			}
			continue
		}
		if got := ratelimit.AddrKey(a); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
