package redisx_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func open(t *testing.T, url string, onChange func(bool)) *redisx.Client {
	t.Helper()
	client, err := redisx.Open(redisx.Config{URL: url, OnChange: onChange})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// sendLoad sends a command every 5 ms for d. It returns the sorted latencies, the number of commands that were sent to
// Redis, and the number that failed.
func sendLoad(t *testing.T, client *redisx.Client, d time.Duration) (took []time.Duration, asked, failed int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		wg.Go(func() {
			began := time.Now()
			err := client.Get(t.Context(), redisx.Key("load")).Err()
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began))
			if !errors.Is(err, redisx.ErrDown) {
				asked++
			}
			if err != nil && !errors.Is(err, redis.Nil) {
				failed++
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took, asked, failed
}

// TestHungRedisIsProbedOncePerSecond checks that, while Redis does not respond, the first commands take up to 50 ms,
// then one probe per second is sent and all other commands fail at once.
func TestHungRedisIsProbedOncePerSecond(t *testing.T) {
	server := testkit.RedisServer(t)
	client := open(t, server.URL(), nil)
	if err := client.Set(t.Context(), redisx.Key("load"), "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	resume := testkit.Hang(t, server.PID())
	_, _, _ = sendLoad(t, client, 100*time.Millisecond) // the first commands take 50 ms
	if !client.Down() {
		t.Fatal("the breaker is closed after failed commands")
	}
	took, asked, failed := sendLoad(t, client, 3*time.Second)
	if failed != len(took) {
		t.Errorf("%d of %d commands succeeded while Redis was suspended", len(took)-failed, len(took))
	}
	if asked > 4 {
		t.Errorf("%d probes in 3 s, want at most 4", asked)
	}
	// The expected latencies are 80 ms and 1 ms. The test allows five times as much for a busy machine.
	p99, median := took[len(took)*99/100], took[len(took)/2]
	if p99 > 400*time.Millisecond || median > 5*time.Millisecond {
		t.Errorf("p99 %v, median %v; want at most 400 ms and 5 ms", p99, median)
	}
	resume()
	began := time.Now()
	testkit.Eventually(t, 10*time.Second, func() bool { return client.Ping(t.Context()).Err() == nil })
	t.Logf("p99 %v, median %v, %d probes, recovered after %v", p99, median, asked, time.Since(began))
}

func TestUnavailableRedisFailsFastAndRecovers(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	var mu sync.Mutex
	var changes []bool
	client := open(t, server.URL(), func(down bool) {
		mu.Lock()
		defer mu.Unlock()
		changes = append(changes, down)
	})
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	testkit.Kill(t, server.PID())
	<-server.Done()
	took, _, failed := sendLoad(t, client, time.Second)
	if failed != len(took) || took[len(took)-1] > 500*time.Millisecond {
		t.Errorf("%d of %d commands failed, the slowest after %v; want all within 500 ms", failed, len(took), took[len(took)-1])
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return client.Ping(t.Context()).Err() == nil })
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(changes, []bool{true, false}) {
		t.Errorf("changes %v, want down and up once each", changes)
	}
}

func TestErrorResponsesAndCancellationsDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	client := testkit.KV(t, testkit.Redis(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = client.Get(ctx, redisx.Key("x")).Err()
	_ = client.Get(t.Context(), redisx.Key("x")).Err()       // missing key
	_ = client.Do(t.Context(), "NO-SUCH-COMMAND").Err()      // rejected by Redis
	_ = client.Incr(t.Context(), redisx.Key("a", "b")).Err() // valid
	if client.Down() {
		t.Fatal("the breaker opened without a failure of Redis")
	}
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Incr(t.Context(), redisx.Key("a", "b"))
		p.Get(t.Context(), redisx.Key("none"))
		return nil
	})
	if !errors.Is(err, redis.Nil) || client.Down() {
		t.Fatal(err)
	}
	if got := client.Get(t.Context(), "sc:a:b").Val(); got != "2" {
		t.Fatalf("the value of sc:a:b is %q, want 2", got)
	}
}

func TestBlockingClientWaitsLongerThanTheBreaker(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := testkit.KV(t, url)
	reader := client.Blocking()
	defer func() { _ = reader.Close() }()
	type answer struct {
		streams []redis.XStream
		err     error
	}
	got := make(chan answer, 1)
	go func() {
		out, err := reader.XRead(t.Context(), &redis.XReadArgs{Streams: []string{redisx.Key("feed"), "0"}, Block: 10 * time.Second}).Result()
		got <- answer{out, err}
	}()
	testkit.Eventually(t, 5*time.Second, func() bool {
		return strings.Contains(client.ClientList(t.Context()).Val(), "cmd=xread")
	})
	began := time.Now()
	testkit.Eventually(t, 5*time.Second, func() bool { return time.Since(began) > 150*time.Millisecond })
	if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: redisx.Key("feed"), ID: "1-0", Values: []string{"k", "v"}}).Err(); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.err != nil || len(a.streams) != 1 || a.streams[0].Messages[0].ID != "1-0" {
		t.Fatalf("blocking read: %+v", a)
	}
}

func TestOpenErrorsDoNotContainTheURL(t *testing.T) {
	for _, url := range []string{"", "http://hunter2@x"} {
		_, err := redisx.Open(redisx.Config{URL: url})
		if err == nil || !strings.Contains(err.Error(), "REDIS_URL") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
