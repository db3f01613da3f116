package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type options = cache.Options[string, string]

type testCache struct {
	*cache.Cache[string, string]
	clock     *testkit.Clock
	builds    atomic.Int32
	fail      atomic.Bool
	failed    atomic.Int32
	buildGate atomic.Pointer[chan struct{}]
}

var errDown = errors.New("source is down")

func newTestCache(t testing.TB, o options) *testCache {
	t.Helper()
	w := &testCache{clock: testkit.NewClock(time.Unix(0, 0))}
	if o.TTL == 0 {
		o.TTL, o.Stale, o.IfError = 10*time.Second, 20*time.Second, 30*time.Second
	}
	o.Now = w.clock.Now
	o.Failed = func(string, error) { w.failed.Add(1) }
	w.Cache = cache.New(o)
	t.Cleanup(w.Close)
	return w
}

// build returns the number of builds so far. It blocks after pauseBuilds until release is called.
func (w *testCache) build(ctx context.Context, _ string) (string, error) {
	n := w.builds.Add(1)
	if buildGate := w.buildGate.Load(); buildGate != nil {
		select {
		case <-*buildGate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if w.fail.Load() {
		return "", errDown
	}
	return fmt.Sprint(n), nil
}

func (w *testCache) pauseBuilds() (release func()) {
	buildGate := make(chan struct{})
	w.buildGate.Store(&buildGate)
	return func() {
		w.buildGate.Store(nil)
		close(buildGate)
	}
}

func (w *testCache) read(t *testing.T, key string) string {
	t.Helper()
	p, err := w.Get(t.Context(), key, w.build)
	if err != nil {
		return err.Error()
	}
	return p
}

func (w *testCache) peek(key string) string {
	v, _ := w.Peek(key)
	return v
}

func (w *testCache) requireValue(t *testing.T, key, body string) {
	t.Helper()
	if got := w.read(t, key); got != body {
		t.Errorf("%s reads %q, want %q", key, got, body)
	}
}

func TestAges(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	if w.peek("a") != "" {
		t.Error("peeked a value that was never built")
	}
	w.requireValue(t, "a", "1")
	w.requireValue(t, "b", "2")
	w.clock.Advance(9 * time.Second)
	w.requireValue(t, "a", "1")

	w.clock.Advance(2 * time.Second) // stale: the old value is returned at once while one build runs
	release := w.pauseBuilds()
	for range 5 {
		w.requireValue(t, "a", "1")
		if w.peek("a") != "1" {
			t.Error("peek of a stale value")
		}
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return w.builds.Load() == 3 }) // exactly one build has started
	release()
	testkit.Eventually(t, 5*time.Second, func() bool { return w.read(t, "a") == "3" }) // the built value is returned

	w.clock.Advance(31 * time.Second) // expired
	if w.peek("a") != "" {
		t.Error("peek returned an expired value")
	}
	w.requireValue(t, "a", "4")
	if n := w.builds.Load(); n != 4 {
		t.Errorf("%d builds, want 4", n)
	}
}

func TestPeekStartsABuild(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	w.requireValue(t, "a", "1")
	w.clock.Advance(11 * time.Second)
	testkit.Eventually(t, 5*time.Second, func() bool { return w.peek("a") == "2" }) // peek alone starts a build
}

func TestManyReadersOneBuild(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	release := sync.OnceFunc(w.pauseBuilds())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer release() // the readers must end before the test does
	for range 50 {
		wg.Go(func() { w.requireValue(t, "a", "1") })
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return w.builds.Load() == 1 }) // a build runs
	release()
	wg.Wait()
	if n := w.builds.Load(); n != 1 {
		t.Errorf("%d builds for 50 readers, want 1", n)
	}
}

func TestCanceledReaderDoesNotStopTheBuild(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	release := w.pauseBuilds()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := w.Get(ctx, "a", w.build)
		left <- err
	}()
	testkit.Eventually(t, 5*time.Second, func() bool { return w.builds.Load() == 1 }) // a build runs
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release() // the build continues for the next reader
	w.requireValue(t, "a", "1")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	w.fail.Store(true)
	w.requireValue(t, "a", errDown.Error())
	w.requireValue(t, "a", errDown.Error())
	if n := w.builds.Load(); n != 1 {
		t.Errorf("%d builds within the pause after a failure, want 1", n)
	}
	w.clock.Advance(time.Second)
	w.requireValue(t, "a", errDown.Error())
	if n := w.failed.Load(); w.builds.Load() != 2 || n < 1 {
		t.Errorf("%d builds and %d reported failures, want 2 builds and at least 1 failure", w.builds.Load(), n)
	}
	w.fail.Store(false)
	w.clock.Advance(time.Second)
	w.requireValue(t, "a", "3")

	w.fail.Store(true)
	w.clock.Advance(59 * time.Second) // stale period over, within IfError
	w.requireValue(t, "a", "3")
	w.clock.Advance(2 * time.Second)
	w.requireValue(t, "a", errDown.Error())
}

func TestPanicAndTimeout(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{TTL: time.Second, Timeout: time.Millisecond})
	if _, err := w.Get(t.Context(), "p", func(context.Context, string) (string, error) { panic("ouch") }); err == nil {
		t.Error("a panic of a load was not returned as an error")
	}
	_, err := w.Get(t.Context(), "t", func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	w.requireValue(t, "a", "1")
	w.Drop("a")
	w.requireValue(t, "a", "2")
}

func TestBound(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{MaxKeys: 100})
	w.requireValue(t, "hot", "1")
	for i := range 5000 {
		w.read(t, fmt.Sprint(i))
		w.clock.Advance(time.Millisecond * 20)
		if i%10 == 0 {
			w.read(t, "hot")
		}
		if w.Len() > 100 {
			t.Fatalf("%d keys, want at most 100", w.Len())
		}
	}
	if w.Len() != 100 || w.peek("hot") == "" {
		t.Errorf("%d keys; hot value stored: %v", w.Len(), w.peek("hot") != "")
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	w.requireValue(t, "a", "1")
	release := w.pauseBuilds()
	defer release()
	got := make(chan string)
	go func() { got <- w.read(t, "b") }()
	testkit.Eventually(t, 5*time.Second, func() bool { return w.builds.Load() == 2 }) // a build runs
	w.Close()
	if s := <-got; s != context.Canceled.Error() {
		t.Errorf("a read during Close returned %q, want %q", s, context.Canceled)
	}
	w.requireValue(t, "c", cache.ErrClosed.Error())
}

func TestLast(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{})
	if _, _, ok := w.Last("a"); ok {
		t.Error("Last returned a value before the first load")
	}
	w.requireValue(t, "a", "1")
	w.clock.Advance(time.Hour)
	if v, age, ok := w.Last("a"); !ok || v != "1" || age != time.Hour {
		t.Errorf("last value %q of age %v, want 1 of age 1h", v, age)
	}
}

func TestLifeOfAValue(t *testing.T) {
	t.Parallel()
	life := func(v string) time.Duration { return time.Duration(len(v)) * time.Hour }
	w := newTestCache(t, options{TTL: time.Second, Life: life})
	w.requireValue(t, "a", "1")
	w.clock.Advance(time.Hour - 1)
	w.requireValue(t, "a", "1")
	w.clock.Advance(1)
	w.requireValue(t, "a", "2")
}

func TestBusy(t *testing.T) {
	t.Parallel()
	w := newTestCache(t, options{TTL: time.Minute, Loads: 1, Hold: -1})
	release := w.pauseBuilds()
	first := make(chan string)
	go func() { first <- w.read(t, "a") }()
	testkit.Eventually(t, 5*time.Second, func() bool { return w.builds.Load() == 1 }) // a load runs
	w.requireValue(t, "b", cache.ErrBusy.Error())
	release()
	if got := <-first; got != "1" {
		t.Errorf("the first load returned %s", got)
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return w.read(t, "b") == "2" }) // the next load runs
}

type contextKey struct{}

func TestValuesOfTheFirstCaller(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{false, true} {
		w := newTestCache(t, options{TTL: time.Minute, Values: seen})
		ctx := context.WithValue(t.Context(), contextKey{}, "x")
		got, err := w.Get(ctx, "a", func(ctx context.Context, _ string) (string, error) { return fmt.Sprint(ctx.Value(contextKey{})), nil })
		if requireValue := map[bool]string{false: "<nil>", true: "x"}[seen]; err != nil || got != requireValue {
			t.Errorf("Values %v: the load sees %s, error %v; want %s", seen, got, err, requireValue)
		}
	}
}

func TestFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[int]
		runs := 0
		buildGate := make(chan struct{})
		do := func(ctx context.Context) (int, error) {
			runs++
			<-buildGate
			return runs, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { _, err := f.Do(ctx, "a", do); left <- err }()
		synctest.Wait() // do runs
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled caller: error %v, want context.Canceled", err)
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if n, err := f.Do(t.Context(), "a", do); n != 1 || err != nil {
					t.Errorf("joined call: %d, %v; want 1 without an error", n, err)
				}
			})
		}
		synctest.Wait() // all callers have joined
		close(buildGate)
		wg.Wait()
	})
}

func TestFlightReturnsErrorsAndPanics(t *testing.T) {
	t.Parallel()
	var f cache.Flight[any]
	if v, err := f.Do(t.Context(), "a", func(context.Context) (any, error) { return nil, errDown }); v != nil || !errors.Is(err, errDown) {
		t.Errorf("a call that fails: %v, %v; want nil and its error", v, err)
	}
	if _, err := f.Do(t.Context(), "b", func(context.Context) (any, error) { panic("ouch") }); err == nil {
		t.Error("a panic of a call was not returned as an error")
	}
}
