package relay

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

var pubSubKey = redisx.Key("live")

// PubSub distributes events without a number to the readers of every process, over Redis. They may be lost. While Redis is
// unavailable, they reach only the readers of the publishing process.
type PubSub struct {
	redis  *redisx.Client
	listen *redis.Client
	handle func(feed.Ephemeral)
}

// NewPubSub returns a PubSub with separate connections to Redis; Close closes them. handle is called for each event that any
// process publishes.
func NewPubSub(c *redisx.Client, handle func(feed.Ephemeral)) *PubSub {
	return &PubSub{redis: c, listen: c.Blocking(), handle: handle}
}

// Close closes the connections to Redis. It must be called after Run has returned.
func (p *PubSub) Close() error { return p.listen.Close() }

// Publish sends an event to all processes. Data must be a JSON object without line breaks.
func (p *PubSub) Publish(ctx context.Context, e feed.Ephemeral) {
	text := string(e.Channel) + "\n" + string(e.Type) + "\n" + e.Subject + "\n" + strconv.FormatInt(e.At.UnixMicro(), 10) + "\n" + string(e.Data)
	if p.redis.Publish(ctx, pubSubKey, text).Err() != nil {
		p.handle(e)
	}
}

// Run calls handle for the events of all processes until ctx ends.
func (p *PubSub) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		p.receive(ctx)
		_ = dbtime.Sleep(ctx, retryRedis)
	}
	return ctx.Err()
}

// receive subscribes on one connection until it fails.
func (p *PubSub) receive(ctx context.Context) {
	sub := p.listen.Subscribe(ctx, pubSubKey)
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		stop()
		_ = sub.Close() // a second Close is harmless
	}()
	for {
		// The timeout detects a Redis that hangs: it does not answer the ping.
		got, err := sub.ReceiveTimeout(ctx, readWait)
		if err != nil {
			if ctx.Err() != nil || sub.Ping(ctx) != nil {
				return
			}
			if _, err = sub.ReceiveTimeout(ctx, readWait); err != nil {
				return
			}
			continue
		}
		if m, ok := got.(*redis.Message); ok {
			if e, ok := parseEphemeral(m.Payload); ok {
				p.handle(e)
			}
		}
	}
}

func parseEphemeral(text string) (feed.Ephemeral, bool) {
	parts := strings.SplitN(text, "\n", 5)
	if len(parts) != 5 {
		return feed.Ephemeral{}, false
	}
	micros, err := strconv.ParseInt(parts[3], 10, 64)
	channel, known := feed.KnownChannel(parts[0])
	if err != nil || !known {
		return feed.Ephemeral{}, false
	}
	return feed.Ephemeral{Channel: channel, Type: feed.Type(parts[1]), Subject: parts[2], At: time.UnixMicro(micros).UTC(), Data: []byte(parts[4])}, true
}
