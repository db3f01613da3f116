package page_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hand is a clock set by hand.
type hand struct{ at atomic.Int64 }

func (h *hand) now() time.Time          { return noon.Add(time.Duration(h.at.Load())) }
func (h *hand) forward(d time.Duration) { h.at.Add(int64(d)) }

type world struct {
	*page.Book
	clock  hand
	builds atomic.Int32
	fail   atomic.Bool
	failed atomic.Int32
	gate   atomic.Pointer[chan struct{}]
}

var errDown = errors.New("source is down")

func open(t testing.TB, o page.Options) *world {
	t.Helper()
	w := &world{}
	if o.TTL == 0 {
		o.TTL, o.Stale, o.IfError = 10*time.Second, 20*time.Second, 30*time.Second
	}
	o.Now = w.clock.now
	o.Failed = func(string, error) { w.failed.Add(1) }
	w.Book = page.New(o)
	t.Cleanup(w.Close)
	return w
}

// build answers with its own number.
func (w *world) build(ctx context.Context) ([]byte, error) {
	n := w.builds.Add(1)
	if gate := w.gate.Load(); gate != nil {
		select {
		case <-*gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if w.fail.Load() {
		return nil, errDown
	}
	return fmt.Appendf(nil, "%d", n), nil
}

func (w *world) hold() (release func()) {
	gate := make(chan struct{})
	w.gate.Store(&gate)
	return func() {
		w.gate.Store(nil)
		close(gate)
	}
}

func (w *world) read(t *testing.T, key string) string {
	t.Helper()
	p, err := w.Get(t.Context(), key, w.build)
	if err != nil {
		return err.Error()
	}
	return string(p.Body())
}

// wait polls until the condition holds.
func wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Second); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (w *world) want(t *testing.T, key, body string) {
	t.Helper()
	if got := w.read(t, key); got != body {
		t.Errorf("%s reads %q, want %q", key, got, body)
	}
}

func TestBookAges(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	if w.Peek("a") != nil {
		t.Error("peeked a page that was never built")
	}
	w.want(t, "a", "1")
	w.want(t, "b", "2")
	w.clock.forward(9 * time.Second)
	w.want(t, "a", "1")

	w.clock.forward(2 * time.Second) // stale: the old page at once, one build behind
	release := w.hold()
	for range 5 {
		w.want(t, "a", "1")
		if p := w.Peek("a"); p == nil || string(p.Body()) != "1" {
			t.Error("peek of a stale page")
		}
	}
	wait(t, "one build runs", func() bool { return w.builds.Load() == 3 })
	release()
	wait(t, "the build is shown", func() bool { return w.read(t, "a") == "3" })

	w.clock.forward(31 * time.Second) // too old to show
	if w.Peek("a") != nil {
		t.Error("peeked a page past its time")
	}
	w.want(t, "a", "4")
	if n := w.builds.Load(); n != 4 {
		t.Errorf("%d builds", n)
	}
}

func TestBookPeekRefreshes(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	w.want(t, "a", "1")
	w.clock.forward(11 * time.Second)
	wait(t, "peek alone renews the page", func() bool { return string(w.Peek("a").Body()) == "2" })
}

func TestBookManyReadersOneBuild(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	release := sync.OnceFunc(w.hold())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer release() // the readers end before the test does
	for range 50 {
		wg.Go(func() { w.want(t, "a", "1") })
	}
	wait(t, "a build runs", func() bool { return w.builds.Load() == 1 })
	release()
	wg.Wait()
	if n := w.builds.Load(); n != 1 {
		t.Errorf("%d builds for 50 readers", n)
	}
}

func TestBookReaderLeaves(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	release := w.hold()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := w.Get(ctx, "a", w.build)
		left <- err
	}()
	wait(t, "a build runs", func() bool { return w.builds.Load() == 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release() // the build goes on for the next reader
	w.want(t, "a", "1")
}

func TestBookErrors(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	w.fail.Store(true)
	w.want(t, "a", errDown.Error())
	w.want(t, "a", errDown.Error())
	if n := w.builds.Load(); n != 1 {
		t.Errorf("%d builds while one failure is held", n)
	}
	w.clock.forward(time.Second)
	w.want(t, "a", errDown.Error())
	if n := w.failed.Load(); w.builds.Load() != 2 || n < 1 {
		t.Errorf("%d builds, %d reported", w.builds.Load(), n)
	}
	w.fail.Store(false)
	w.clock.forward(time.Second)
	w.want(t, "a", "3")

	w.fail.Store(true)
	w.clock.forward(59 * time.Second) // past stale, within IfError
	w.want(t, "a", "3")
	w.clock.forward(2 * time.Second)
	w.want(t, "a", errDown.Error())
}

func TestBookPanicAndTimeout(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{TTL: time.Second, Timeout: time.Millisecond})
	if _, err := w.Get(t.Context(), "p", func(context.Context) ([]byte, error) { panic("ouch") }); err == nil {
		t.Error("a panic is no error")
	}
	_, err := w.Get(t.Context(), "t", func(ctx context.Context) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestBookEvents(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	w.want(t, "a", "1")
	w.want(t, "b", "2")
	w.Expire("a")
	w.Expire("nobody")
	w.want(t, "a", "1")
	wait(t, "the event is shown", func() bool { return w.read(t, "a") == "3" })
	w.want(t, "b", "2")
	w.ExpireAll()
	w.want(t, "b", "2")
	wait(t, "the event is shown", func() bool { return w.read(t, "b") != "2" })
	w.Drop("b")
	if got := w.read(t, "b"); got == "2" || w.Len() != 2 {
		t.Errorf("dropped page still reads %s", got)
	}
}

func TestBookEventDuringBuild(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	w.want(t, "a", "1")
	release := w.hold()
	w.Expire("a")
	w.want(t, "a", "1")
	wait(t, "the build runs", func() bool { return w.builds.Load() == 2 })
	w.Expire("a") // what the running build read may be too old
	release()
	wait(t, "a second build", func() bool { return w.read(t, "a") == "3" })
}

func TestBookBound(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{MaxKeys: 100})
	w.want(t, "hot", "1")
	for i := range 5000 {
		w.read(t, fmt.Sprint(i))
		w.clock.forward(time.Millisecond * 20)
		if i%10 == 0 {
			w.read(t, "hot")
		}
		if w.Len() > 100 {
			t.Fatalf("%d keys", w.Len())
		}
	}
	if w.Len() != 100 || w.Peek("hot") == nil {
		t.Errorf("%d keys; hot page kept: %v", w.Len(), w.Peek("hot") != nil)
	}
}

func TestBookSameBodyKeepsTag(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	same := func(context.Context) ([]byte, error) { return feed(500), nil }
	a, err := w.Get(t.Context(), "k", same)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.forward(11 * time.Second)
	wait(t, "renewed", func() bool { p, _ := w.Get(t.Context(), "k", same); return p.Built() != a.Built() })
	b, _ := w.Get(t.Context(), "k", same)
	if a.ETag() != b.ETag() || &a.Body()[0] != &b.Body()[0] {
		t.Error("an unchanged page was made again")
	}
}

func TestBookClose(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	w.want(t, "a", "1")
	release := w.hold()
	defer release()
	got := make(chan string)
	go func() { got <- w.read(t, "b") }()
	wait(t, "a build runs", func() bool { return w.builds.Load() == 2 })
	w.Close()
	if s := <-got; s != context.Canceled.Error() {
		t.Error(s)
	}
	w.want(t, "c", page.ErrClosed.Error())
}

func TestServe(t *testing.T) {
	t.Parallel()
	w := open(t, page.Options{})
	rec := httptest.NewRecorder()
	if err := w.Serve(rec, httptest.NewRequest("GET", "/", nil), "a", w.build); err != nil || rec.Body.String() != "1" {
		t.Errorf("%v %s", err, rec.Body)
	}
	w.fail.Store(true)
	rec = httptest.NewRecorder()
	if err := w.Serve(rec, httptest.NewRequest("GET", "/", nil), "b", w.build); !errors.Is(err, errDown) || rec.Body.Len() > 0 || len(rec.Header()) > 0 {
		t.Errorf("%v %q %v", err, rec.Body, rec.Header())
	}
}
