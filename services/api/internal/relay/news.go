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

var newsKey = redisx.Key("live")

// News carries what has no number to the readers of every process. It may be
// lost; while Redis is away it reaches those of this process.
type News struct {
	redis  *redisx.Client
	listen *redis.Client
	hear   func(feed.Ephemeral)
}

// NewNews makes the carrier; hear is given what any process publishes. Close ends
// its own connections.
func NewNews(c *redisx.Client, hear func(feed.Ephemeral)) *News {
	return &News{redis: c, listen: c.Blocking(), hear: hear}
}

// Close ends the connections to Redis; call it after Run has returned.
func (n *News) Close() error { return n.listen.Close() }

// Publish sends news. Data must be a JSON object on one line of text.
func (n *News) Publish(ctx context.Context, e feed.Ephemeral) {
	text := string(e.Channel) + "\n" + string(e.Type) + "\n" + e.Subject + "\n" + strconv.FormatInt(e.At.UnixMicro(), 10) + "\n" + string(e.Data)
	if n.redis.Publish(ctx, newsKey, text).Err() != nil {
		n.hear(e)
	}
}

// Run hands on what the processes publish until ctx ends.
func (n *News) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		n.receive(ctx)
		_ = dbtime.Sleep(ctx, retryRedis)
	}
	return ctx.Err()
}

// receive listens on one connection until it fails.
func (n *News) receive(ctx context.Context) {
	sub := n.listen.Subscribe(ctx, newsKey)
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		stop()
		_ = sub.Close() // closed twice at a stop, which is no fault
	}()
	for {
		// The timeout notices a Redis that hangs: a ping must be answered.
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
			if e, ok := parseNews(m.Payload); ok {
				n.hear(e)
			}
		}
	}
}

func parseNews(text string) (feed.Ephemeral, bool) {
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
