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

// pubSubKey is the name of the Redis channel of PubSub.
var pubSubKey = redisx.Key("live")

// PubSub distributes events without a number over Redis to the readers of every process. An event can be lost. While Redis is
// unavailable, an event reaches only the readers of the process that publishes it.
type PubSub struct {
	redis  *redisx.Client
	listen *redis.Client
	handle func(feed.Ephemeral)
}

// NewPubSub returns a PubSub that calls the function handle for each event that any process publishes. It uses its own
// connection to Redis for receiving, which Close closes.
func NewPubSub(c *redisx.Client, handle func(feed.Ephemeral)) *PubSub {
	return &PubSub{redis: c, listen: c.Blocking(), handle: handle}
}

// Close closes the connection that receives events. It must be called after Run has returned.
func (p *PubSub) Close() error { return p.listen.Close() }

// Publish sends an event to all processes, including this one. Data must be a JSON object without line breaks. If Redis is
// unavailable, Publish passes the event only to the function handle of this process.
func (p *PubSub) Publish(ctx context.Context, e feed.Ephemeral) {
	text := string(e.Channel) + "\n" + string(e.Type) + "\n" + e.Subject + "\n" + strconv.FormatInt(e.At.UnixMicro(), 10) + "\n" + string(e.Data)
	if p.redis.Publish(ctx, pubSubKey, text).Err() != nil {
		p.handle(e)
	}
}

// pricesMoved is the type of a message between processes with the ids of markets whose prices have changed.
const pricesMoved feed.Type = "prices.moved"

// PublishMoved passes the ids of markets whose prices have changed to all processes, including this one.
func (p *PubSub) PublishMoved(ctx context.Context, ids []string) {
	p.Publish(ctx, feed.Ephemeral{Channel: feed.Prices, Type: pricesMoved, Data: []byte(strings.Join(ids, ","))})
}

// MovedMarkets returns the market ids of a message of PublishMoved, and false for any other event.
func MovedMarkets(e *feed.Ephemeral) ([]string, bool) {
	if e.Type != pricesMoved {
		return nil, false
	}
	return strings.Split(string(e.Data), ","), true
}

// Run calls the function handle for the events of all processes until ctx ends. After an error of Redis, it subscribes
// again.
func (p *PubSub) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		p.receive(ctx)
		_ = dbtime.Sleep(ctx, retryRedis)
	}
	return ctx.Err()
}

// receive receives events on one connection until the connection fails or ctx ends.
func (p *PubSub) receive(ctx context.Context) {
	sub := p.listen.Subscribe(ctx, pubSubKey)
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		stop()
		_ = sub.Close() // a second Close is harmless
	}()
	for {
		// The timeout detects that Redis hangs: then it does not answer the ping either.
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
