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
	readWait   = time.Second            // maximum time of one blocking read of the stream
	pollEvery  = 250 * time.Millisecond // interval of database reads while Redis is unavailable
	retryRedis = time.Second            // pause after an error of Redis
	textEvery  = 3 * time.Second        // interval at which decisions and deletions are checked
)

// Follower reads the feed from Redis or the database and delivers every event to the broker of this process.
type Follower struct {
	source feed.Store
	redis  *redis.Client
	broker *broker.Broker
	now    func() time.Time
	log    *slog.Logger
	chain  *feed.Chain

	moderated string    // digest of moderation decisions and deleted accounts at the last check
	forgets   int       // number of further checks that clear the broker's memory
	deletes   int       // number of further checks that delete the stream
	nextText  time.Time // earliest time of the next check of moderation decisions
}

// NewFollower returns a Follower that reads from source and from Redis, and delivers events to fanOut. It uses separate
// connections to Redis, which Close closes.
func NewFollower(source feed.Store, c *redisx.Client, fanOut *broker.Broker, now func() time.Time, log *slog.Logger) *Follower {
	return &Follower{source: source, redis: c.Blocking(), broker: fanOut, now: now, log: log, chain: feed.NewChain(source)}
}

// Close closes the connections to Redis. It must be called after Run has returned.
func (f *Follower) Close() error { return f.redis.Close() }

// Run delivers events until ctx ends. It retries after failures of Redis and of the database.
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
			// The stream may have lost events, so the database is read as well.
			f.poll(ctx)
		default:
			f.deliver(ctx, messages)
		}
	}
	return ctx.Err()
}

// start delivers as many of the newest events in the database as the broker can store, and marks the broker as ready. It
// returns false if the database cannot be read.
func (f *Follower) start(ctx context.Context) bool {
	f.forgetModerated(ctx)
	begin, err := f.begin(ctx)
	if err != nil {
		f.log.WarnContext(ctx, "feed start failed", "error", err)
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

// forgetModerated clears the memory of the broker and deletes the Redis stream after a moderation decision or the deletion of an account,
// because their events can contain the hidden text. It checks the decisions every textEvery. It clears both at two consecutive checks,
// because events that were read before the decision can be added after the first. At the start it clears them once.
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
		f.log.WarnContext(ctx, "reading moderation decisions failed", "error", err)
	case f.moderated == "":
		f.moderated, f.forgets, f.deletes = digest, 1, 1
	case digest != f.moderated:
		f.moderated, f.forgets, f.deletes = digest, 2, 2
	}
	if f.forgets > 0 {
		f.forgets--
		f.broker.Forget()
	}
	if f.deletes > 0 {
		if err := forgetEvents(ctx, f.redis); err != nil {
			f.log.DebugContext(ctx, "deleting the stream failed", "error", err)
			return
		}
		f.deletes--
	}
}

// begin returns the event number for Broker.Start. All later events have consecutive numbers and fit into the memory of the
// broker. If the stored numbers have gaps, for example after old partitions were dropped, begin returns the last missing
// number.
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
	if last < head { // the newest events were dropped as well
		begin = head
	}
	return begin, nil
}

// deliver delivers messages of the stream to the broker. If events are missing between two messages, it reads them from the
// database.
func (f *Follower) deliver(ctx context.Context, messages []feed.Message) {
	for _, m := range messages {
		err := f.broker.Deliver(m)
		var gap *broker.GapError
		if errors.As(err, &gap) {
			if !f.poll(ctx) {
				_ = dbtime.Sleep(ctx, pollEvery)
				return // Run reads the stream again after the head of the broker
			}
			err = f.broker.Deliver(m)
		}
		if err != nil {
			f.log.WarnContext(ctx, "event delivery failed", "seq", m.Seq, "error", err)
			_ = dbtime.Sleep(ctx, pollEvery)
			return
		}
	}
}

// poll delivers all events in the database after the head of the broker. It returns false if the database cannot be read.
func (f *Follower) poll(ctx context.Context) bool {
	for {
		n, err := f.page(ctx)
		if err != nil {
			if ctx.Err() == nil {
				f.log.WarnContext(ctx, "feed poll failed", "error", err)
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
