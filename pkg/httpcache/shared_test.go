package httpcache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// replica is one process with a shared cache.
type replica struct {
	shared *httpcache.Shared
	pages  *httpcache.Cache
}

// wait is the time that reads of these tests may wait for Redis. It is longer than any answer of a busy machine.
const wait = 5 * time.Second

func newReplica(t *testing.T, client *redisx.Client, o httpcache.Options, shape ...string) replica {
	t.Helper()
	o.Now = time.Now
	s := httpcache.NewShared(httpcache.SharedConfig{Redis: client, Timeout: wait, Shape: shape, Now: time.Now})
	r := replica{s, s.Open("pages", o)}
	t.Cleanup(r.pages.Close)
	return r
}

// get returns the body of a key, which build builds.
func (r replica) get(t *testing.T, key string, build func() string) string {
	t.Helper()
	p, err := r.pages.Get(t.Context(), key, func(context.Context) ([]byte, error) { return []byte(build()), nil })
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Body())
}

func text(s string) func() string { return func() string { return s } }

// stored waits until Redis has a page, because a build does not wait for Redis.
func stored(t *testing.T, client *redisx.Client) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool {
		for _, key := range client.Keys(t.Context(), "sc:page:*").Val() {
			if client.Type(t.Context(), key).Val() == "hash" {
				return true
			}
		}
		return false
	})
}

// TestOneReplicaBuilds checks that concurrent readers of three replicas cause one build, and that the pages are equal.
func TestOneReplicaBuilds(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	options := httpcache.Options{TTL: time.Hour, Timeout: 10 * time.Second}
	replicas := make([]replica, 3)
	for i := range replicas {
		replicas[i] = newReplica(t, testkit.KV(t, url), options)
	}
	for _, size := range []int{10, 100_000} { // without and with compression
		var builds atomic.Int64
		var wg sync.WaitGroup
		tags := make([]string, 300)
		for i := range tags {
			wg.Go(func() {
				p, err := replicas[i%3].pages.Get(t.Context(), fmt.Sprint(size), func(context.Context) ([]byte, error) {
					return fmt.Appendf(nil, "%*d", size, builds.Add(1)), nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				tags[i] = p.ETag() + string(p.Body())
			})
		}
		wg.Wait()
		if n := builds.Load(); n != 1 {
			t.Errorf("size %d: three replicas built a page %d times, want once", size, n)
		}
		for _, tag := range tags {
			if tag != tags[0] {
				t.Fatalf("size %d: two readers received different pages", size)
			}
		}
	}
}

// TestBuilderThatDies checks that a claim whose process was killed delays the others for a limited time only.
func TestBuilderThatDies(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	r := newReplica(t, client, httpcache.Options{TTL: time.Hour, Timeout: time.Hour})
	prefix := ""
	if got := r.get(t, "other", text("1")); got != "1" {
		t.Fatal(got)
	}
	stored(t, client)
	for _, key := range client.Keys(t.Context(), "sc:page:*").Val() {
		prefix = strings.TrimSuffix(key, "other")
	}
	if err := client.Set(t.Context(), prefix+"page:claim", "killed", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	if got := r.get(t, "page", text("2")); got != "2" {
		t.Errorf("the page is %q, want that of the replica itself", got)
	}
	other := newReplica(t, client, httpcache.Options{TTL: time.Hour, Timeout: time.Hour})
	testkit.Eventually(t, 10*time.Second, func() bool { return client.Exists(t.Context(), prefix+"page").Val() == 1 })
	if got := other.get(t, "page", text("3")); got != "2" {
		t.Errorf("the page is %q, want the stored one", got)
	}
}

// TestFailedBuildsAreNotStored checks that a failed build ends its claim and stores nothing.
func TestFailedBuildsAreNotStored(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	options := httpcache.Options{TTL: time.Hour, Hold: -1, Timeout: time.Hour}
	a, b := newReplica(t, client, options), newReplica(t, client, options)
	errDown := errors.New("source is down")
	if _, err := a.pages.Get(t.Context(), "k", func(context.Context) ([]byte, error) { return nil, errDown }); !errors.Is(err, errDown) {
		t.Fatalf("error %v, want that of the build", err)
	}
	if got := b.get(t, "k", text("good")); got != "good" {
		t.Errorf("the page is %q, want that of the build that succeeded", got)
	}
	stored(t, client)
	if got := a.get(t, "k", text("other")); got != "good" {
		t.Errorf("the page is %q, want the stored one", got)
	}
}

// TestClearedPagesAreNotUsed checks that Clear makes stored pages invalid, and also the page of a build that began before it.
func TestClearedPagesAreNotUsed(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	o := httpcache.Options{TTL: time.Hour, Timeout: time.Hour}
	a := newReplica(t, client, o)
	a.get(t, "stored", text("hidden"))
	stored(t, client)
	a.get(t, "running", func() string { a.shared.Clear(); return "hidden" })
	a.pages.Close() // waits until the writes to Redis have ended
	b := newReplica(t, client, o)
	for _, key := range []string{"stored", "running"} {
		if got := b.get(t, key, text("new")); got != "new" {
			t.Errorf("%s: the page is %q, want a new one", key, got)
		}
	}
	for _, key := range client.Keys(t.Context(), "sc:page*").Val() {
		if client.PTTL(t.Context(), key).Val() == -1 {
			t.Errorf("the Redis key %s does not expire", key)
		}
	}
}

// TestPagesOfOtherBuildsAreNotUsed checks that processes with different shapes share no page, and that large pages are not stored.
func TestPagesOfOtherBuildsAreNotUsed(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	o := httpcache.Options{TTL: time.Hour, Timeout: time.Hour}
	newReplica(t, client, o, "v1").get(t, "k", text("old"))
	stored(t, client)
	if got := newReplica(t, client, o, "v2").get(t, "k", text("new")); got != "new" {
		t.Errorf("the page is %q, want that of the own build", got)
	}
	if got := newReplica(t, client, o, "v1").get(t, "k", text("new")); got != "old" {
		t.Errorf("the page is %q, want the shared one", got)
	}
	large := make([]byte, 1<<20)
	for i := range large {
		large[i] = byte(i * i >> 7) // not compressible below the limit of 512 kB
	}
	first := newReplica(t, client, o)
	first.get(t, "large", func() string { return string(large) + strings.Repeat("x", 16<<20) })
	first.pages.Close()
	if got := newReplica(t, client, o).get(t, "large", text("own")); got != "own" {
		t.Errorf("a page above the maximum size was shared")
	}
}

// TestSharedPagesAreFreshForTheirTTL checks that a page is not fresh for longer than its TTL in the second replica, and that the
// replica serves the stale page while another one builds it.
func TestSharedPagesAreFreshForTheirTTL(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	const ttl = 300 * time.Millisecond
	o := httpcache.Options{TTL: ttl, Stale: time.Hour, Timeout: time.Hour}
	a, b := newReplica(t, client, o), newReplica(t, client, o)
	a.get(t, "k", text("1"))
	stored(t, client)
	if got := b.get(t, "k", text("other")); got != "1" {
		t.Fatalf("the page is %q, want the shared one", got)
	}
	building, done := make(chan struct{}), make(chan struct{})
	var once sync.Once
	testkit.Eventually(t, 10*time.Second, func() bool { // reads until the page is stale, which starts a build
		if got := a.get(t, "k", func() string { once.Do(func() { close(building); <-done }); return "2" }); got != "1" {
			t.Fatalf("the page is %q before the build has ended, want the stale one", got)
		}
		select {
		case <-building:
			return true
		default:
			return false
		}
	})
	late := newReplica(t, client, o)
	if got := late.get(t, "k", text("other")); got != "1" {
		t.Errorf("the page is %q while another replica builds it, want the stale one", got)
	}
	close(done)
	testkit.Eventually(t, 10*time.Second, func() bool { return late.get(t, "k", text("other")) == "2" })
}

// TestStalePageIsServedWhileBuildsFail checks that a replica that just started serves the stale page of Redis while its builds
// fail, and that failed builds are not repeated at every read.
func TestStalePageIsServedWhileBuildsFail(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	o := httpcache.Options{TTL: time.Millisecond, Stale: time.Hour, Timeout: time.Hour}
	newReplica(t, client, o).get(t, "k", text("good"))
	stored(t, client)
	var builds atomic.Int64
	late, began := newReplica(t, client, o), time.Now()
	for time.Since(began) < 500*time.Millisecond {
		p, err := late.pages.Get(t.Context(), "k", func(context.Context) ([]byte, error) {
			if builds.Add(1)%2 == 0 {
				panic("the source is broken")
			}
			return nil, errors.New("source is down")
		})
		if err != nil || string(p.Body()) != "good" {
			t.Fatalf("page %v, error %v; want the stale page", p, err)
		}
	}
	if n, most := builds.Load(), 1+int64(time.Since(began)/time.Second); n < 1 || n > most {
		t.Errorf("%d builds failed in %v, want 1 to %d", n, time.Since(began), most)
	}
}

// TestSharedCacheDuringRedisFaults checks that a hung or stopped Redis delays at most one read of each replica, and that replicas
// then use their own pages for the whole TTL.
func TestSharedCacheDuringRedisFaults(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	o := httpcache.Options{TTL: time.Hour, Timeout: time.Hour}
	const timeout = 2 * time.Second
	r := newReplica(t, testkit.KV(t, server.URL(), timeout), o)
	resume := testkit.Hang(t, server.PID())
	slow := 0
	for i := range 100 {
		began := time.Now()
		if got := r.get(t, fmt.Sprint(i), text("own")); got != "own" {
			t.Fatalf("the page is %q, want that of the replica", got)
		}
		if time.Since(began) > timeout/2 {
			slow++
		}
	}
	if slow > 1 {
		t.Errorf("%d of 100 reads waited for Redis while it hung, want 1", slow)
	}
	r.shared.Clear()
	resume()
	testkit.Kill(t, server.PID())
	<-server.Done()
	if got := r.get(t, "stopped", text("own")); got != "own" {
		t.Errorf("the page is %q, want that of the replica", got)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := testkit.KV(t, server.URL())
	n := 0
	testkit.Eventually(t, 20*time.Second, func() bool {
		n++
		r.get(t, fmt.Sprint("back-", n), text("shared"))
		return len(client.Keys(t.Context(), "sc:page:*").Val()) > 0
	})
}

// TestPutIsShared checks that a page that one replica has put is read by another one.
func TestPutIsShared(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	o := httpcache.Options{TTL: time.Hour, Timeout: time.Hour}
	a, b := newReplica(t, client, o), newReplica(t, client, o)
	a.pages.Put("k", []byte("copy"))
	if got := a.get(t, "k", text("built")); got != "copy" {
		t.Errorf("the page is %q, want the one that was put", got)
	}
	stored(t, client)
	if got := b.get(t, "k", text("built")); got != "copy" {
		t.Errorf("the page of the other replica is %q, want the one that was put", got)
	}
}

// BenchmarkSharedRead measures how a replica reads a page of 20 kB or 200 kB from Redis, compressed or not, and how it builds it.
func BenchmarkSharedRead(b *testing.B) {
	client := testkit.KV(b, testkit.Redis(b))
	for _, signals := range []int{50, 500} {
		body := feed(signals)
		s := httpcache.NewShared(httpcache.SharedConfig{Redis: client, Timeout: wait, Now: time.Now})
		first := s.Open("bench", httpcache.Options{TTL: time.Hour, Now: time.Now})
		if _, err := first.Get(b.Context(), fmt.Sprint(signals), func(context.Context) ([]byte, error) { return body, nil }); err != nil {
			b.Fatal(err)
		}
		first.Close()
		b.Run(fmt.Sprint(len(body)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := s.Open("bench", httpcache.Options{TTL: time.Hour, Now: time.Now})
				if _, err := c.Get(b.Context(), fmt.Sprint(signals), nil); err != nil {
					b.Fatal(err)
				}
				c.Close()
			}
		})
	}
}
