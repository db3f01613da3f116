package testkit

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/redisx"
)

// databases is the number of Redis databases, and therefore the maximum number of tests in a process that use Redis at
// the same time.
const databases = 1024

// Redis returns the URL of an empty Redis database for the test. The database is emptied at the end of the test.
func Redis(t testing.TB) string {
	t.Helper()
	pool, err := sharedRedis()
	if err != nil {
		t.Fatal(err)
	}
	var index int
	select {
	case index = <-pool.free:
	case <-t.Context().Done():
		t.Fatal("no free Redis database")
	}
	u := *pool.url
	u.Path = "/" + strconv.Itoa(index)
	t.Cleanup(func() {
		if err := flush(context.Background(), u.String()); err != nil {
			t.Errorf("flush the Redis database: %v", err)
		}
		pool.free <- index
	})
	return u.String()
}

// clientTimeout is the timeout of Redis commands in tests. With the 50 ms of production, a slow response of a busy
// machine would look like an outage.
const clientTimeout = 5 * time.Second

// KV returns a Redis client that is closed at the end of the test. The timeout of its commands is clientTimeout, or giveUp if
// given. Tests of outages pass a short giveUp.
func KV(t testing.TB, url string, giveUp ...time.Duration) *redisx.Client {
	t.Helper()
	cfg := redisx.Config{URL: url, Timeout: clientTimeout}
	if len(giveUp) > 0 {
		cfg.Timeout = giveUp[0]
	}
	client, err := redisx.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// RedisServer starts a private Redis server for a test that kills or suspends it. The server ends with the test.
func RedisServer(t testing.TB) *localdb.Redis {
	t.Helper()
	server, err := localdb.StartRedis(t.Context(), localdb.RedisConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(context.Background()) })
	return server
}

// redisPool assigns the numbered databases of one server to tests.
type redisPool struct {
	url  *url.URL
	free chan int
}

var sharedRedis = sync.OnceValues(func() (*redisPool, error) {
	ctx := context.Background()
	server, err := localdb.StartRedis(ctx, localdb.RedisConfig{URL: os.Getenv("TEST_REDIS_URL"), Databases: databases})
	if err != nil {
		return nil, err
	}
	servers.add(server.Stop)
	u, err := url.Parse(server.URL())
	if err != nil {
		return nil, err
	}
	n, err := countDatabases(ctx, server.URL())
	if err != nil {
		return nil, err
	}
	pool := &redisPool{url: u, free: make(chan int, n)}
	for i := range n {
		pool.free <- i
	}
	return pool, nil
})

func countDatabases(ctx context.Context, url string) (n int, err error) {
	err = withRedis(url, func(c *redis.Client) error {
		out, err := c.ConfigGet(ctx, "databases").Result()
		if err != nil {
			return err
		}
		n, err = strconv.Atoi(out["databases"])
		return err
	})
	return n, err
}

func flush(ctx context.Context, url string) error {
	return withRedis(url, func(c *redis.Client) error { return c.FlushDB(ctx).Err() })
}

func withRedis(url string, do func(*redis.Client) error) error {
	opt, err := redis.ParseURL(url)
	if err != nil {
		return fmt.Errorf("parse Redis URL: %w", err)
	}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	return do(client)
}
