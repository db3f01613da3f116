package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	readWait   = time.Second            // one blocking read of the stream
	pollEvery  = 250 * time.Millisecond // of the database, while Redis is away
	retryRedis = time.Second            // after Redis failed
	textEvery  = 3 * time.Second        // between two reads of decisions about text
)

// Follower brings every event of the feed to the hub of this process.
type Follower struct {
	source feed.Store
	redis  *redis.Client
	broker *broker.Broker
	now    func() time.Time
	log    *slog.Logger
	chain  *feed.Chain

	moderated string    // digest of the decisions for which the hub's memory was last emptied
	empties   int       // how often it is still to be emptied
	nextText  time.Time // when decisions are read again
}

// NewFollower makes a follower; Close ends its own connections.
func NewFollower(source feed.Store, c *redisx.Client, fanOut *broker.Broker, now func() time.Time, log *slog.Logger) *Follower {
	return &Follower{source: source, redis: c.Blocking(), broker: fanOut, now: now, log: log, chain: feed.NewChain(source)}
}

// Close ends the connections to Redis; call it after Run has returned.
func (f *Follower) Close() error { return f.redis.Close() }

// Run follows until ctx ends. It outlives the loss of Redis and of the database.
func (f *Follower) Run(ctx context.Context) error {
	for !f.start(ctx) {
		if err := dbtime.Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	var redisAgain time.Time
	for ctx.Err() == nil {
		f.forgetModerated(ctx)
		if f.now().Before(redisAgain) {
			f.poll(ctx)
			_ = dbtime.Sleep(ctx, pollEvery)
			continue
		}
		messages, err := nextEvents(ctx, f.redis, f.broker.Head(), readWait)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			redisAgain = f.now().Add(retryRedis)
		case len(messages) == 0:
			// A stream that lost something is silent, too.
			f.poll(ctx)
		default:
			f.deliver(ctx, messages)
		}
	}
	return ctx.Err()
}

// start fills the hub's memory and makes it ready.
func (f *Follower) start(ctx context.Context) bool {
	f.forgetModerated(ctx)
	begin, err := f.begin(ctx)
	if err != nil {
		f.log.WarnContext(ctx, "the feed cannot be read", "error", err)
		return false
	}
	if f.broker.Head() == 0 {
		f.broker.Start(begin)
	}
	if !f.poll(ctx) {
		return false
	}
	f.broker.SetReady()
	return true
}

// forgetModerated empties the memory of the hub after a decision about text: the memory has events
// with the text of before (integrity P23). It does so twice, because Redis may still hold events
// that were read before the decision.
func (f *Follower) forgetModerated(ctx context.Context) {
	if f.now().Before(f.nextText) {
		return
	}
	f.nextText = f.now().Add(textEvery)
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	digest, err := f.source.ModerationDigest(ctx)
	switch {
	case err != nil:
		f.log.WarnContext(ctx, "decisions about text cannot be read", "error", err)
	case digest != f.moderated:
		f.moderated, f.empties = digest, 2
	}
	if f.empties > 0 {
		f.empties--
		f.broker.Forget()
	}
}

// begin is the number behind which the hub can remember everything. A feed in which
// little happens may keep less than the memory holds, and where days were dropped the
// first numbers that are left need not follow each other.
func (f *Follower) begin(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	head, err := f.source.FeedHead(ctx)
	if err != nil {
		return 0, err
	}
	begin := max(0, head-f.broker.Memory())
	last := begin
	for at := begin; at < head; at += pageSize {
		events, err := f.source.ListFeedAfter(ctx, at, pageSize)
		if err != nil {
			return 0, err
		}
		for i := range events {
			if events[i].Seq != last+1 {
				begin = events[i].Seq - 1
			}
			last = events[i].Seq
		}
	}
	if last < head { // the newest are gone, too
		begin = head
	}
	return begin, nil
}

// deliver hands on messages of the stream and fills holes from the database.
func (f *Follower) deliver(ctx context.Context, messages []feed.Message) {
	for _, m := range messages {
		err := f.broker.Deliver(m)
		var hole *broker.HoleError
		if errors.As(err, &hole) {
			if !f.poll(ctx) {
				_ = dbtime.Sleep(ctx, pollEvery)
				return // read again from where the hub is
			}
			err = f.broker.Deliver(m)
		}
		if err != nil {
			f.log.WarnContext(ctx, "an event was left for the next read", "seq", m.Seq, "error", err)
			_ = dbtime.Sleep(ctx, pollEvery)
			return
		}
	}
}

// poll brings everything that the database has behind the hub.
func (f *Follower) poll(ctx context.Context) bool {
	for {
		n, err := f.page(ctx)
		if err != nil {
			if ctx.Err() == nil {
				f.log.WarnContext(ctx, "the feed cannot be read", "error", err)
			}
			return false
		}
		if n < pageSize {
			return true
		}
	}
}

func (f *Follower) page(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, stepBudget)
	defer cancel()
	messages, err := f.chain.Read(ctx, f.broker.Head(), pageSize)
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		if err := f.broker.Deliver(m); err != nil {
			return 0, fmt.Errorf("deliver: %w", err)
		}
	}
	return len(messages), nil
}
