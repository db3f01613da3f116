package redisx

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/signalcast/signalcast/pkg/breaker"
)

// Prefix is the prefix of all Redis keys of this project.
const Prefix = "sc:"

// ErrDown is the error of a command that was not sent, because Redis is unavailable.
var ErrDown = errors.New("redis is down")

// Config configures a Client. URL is required.
type Config struct {
	URL      string
	Timeout  time.Duration    // timeout of one command, including the connection; 50 ms when zero
	Now      func() time.Time // time.Now when nil
	OnChange func(down bool)  // called when Redis becomes unavailable or available; may be nil
}

// Client is a Redis client with a circuit breaker: while Redis is unavailable, commands fail at once with ErrDown.
type Client struct {
	*redis.Client
	breaker *breaker.Breaker
	opt     redis.Options
}

// Open returns a client that connects when it is used, so that services and Redis may start in any order. The error
// never contains the URL, because the URL may contain a password.
func Open(cfg Config) (*Client, error) {
	if cfg.URL == "" {
		return nil, errors.New("REDIS_URL is not set")
	}
	opt, err := redis.ParseURL(cfg.URL)
	if err != nil {
		return nil, errors.New("REDIS_URL is not a valid Redis URL")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 50 * time.Millisecond
	}
	quiet()
	tune(opt, cfg.Timeout)
	opt.PoolSize = 50
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	b := breaker.New(breaker.Config{Failures: 1, Rest: probeInterval, Now: cfg.Now, OnChange: cfg.OnChange})
	c := &Client{Client: redis.NewClient(opt), breaker: b, opt: *opt}
	c.AddHook(guard{Breaker: b, timeout: cfg.Timeout})
	return c, nil
}

// tune replaces the default timeouts and retries, with which a command to an unavailable Redis takes seconds. timeout applies
// to each step of a command. tune also disables optional commands of the library.
func tune(opt *redis.Options, timeout time.Duration) {
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = timeout, timeout, timeout, timeout
	opt.MaxRetries, opt.DialerRetries = -1, 1
	opt.ContextTimeoutEnabled = true
	opt.PipelinePoolSize = -1
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// Down reports whether Redis is unavailable. It sends no command.
func (c *Client) Down() bool { return c.breaker.Open() }

// Blocking returns a second client for commands that block, such as XREAD with BLOCK. It has no circuit breaker, and
// Config.Timeout does not limit its commands. The caller must close the client and pause after a failure.
func (c *Client) Blocking() *redis.Client {
	opt := c.opt
	opt.PoolSize = 4
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = time.Second, time.Second, time.Second, time.Second
	return redis.NewClient(&opt)
}

// Key joins Prefix and the parts with colons: Key("limit", "hub", "k1") is "sc:limit:hub:k1".
func Key(parts ...string) string { return Prefix + strings.Join(parts, ":") }

// quiet disables the log of the Redis library. Each service logs a change of availability once instead of every
// failed connection.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
