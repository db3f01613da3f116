package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// term is the state of one call of Relay.Run. Its fields are valid only while this process holds the lease.
type term struct {
	*Relay
	chain         *feed.Chain
	blocked       []string  // resolved markets that drain skips, because their next result does not exist yet
	partitionsDay string    // day of the last successful partition maintenance
	partitionsAt  time.Time // earliest time of the next partition maintenance
	at            int64     // number of the last event in the stream; valid if synced
	synced        bool
	syncAt        time.Time // time of the next call of sync
}

// round executes each step once, each with the time limit stepBudget. more reports whether a step has more work. The next
// round must then follow without a pause.
func (t *term) round(ctx context.Context) (more bool, err error) {
	for _, step := range []struct {
		name string
		do   func(context.Context) (bool, error)
	}{
		{"maintain partitions", t.maintainPartitions},
		{"number", t.number},
		{"publish", t.publish}, // before drain, because clients wait for single events, and results can be many
		{"drain", t.drain},     // the next round publishes the events of this step
	} {
		bounded, cancel := context.WithTimeout(ctx, stepBudget)
		again, err := step.do(bounded)
		cancel()
		if err != nil {
			return false, fmt.Errorf("%s: %w", step.name, err)
		}
		more = more || again
	}
	return more, nil
}

// maintainPartitions creates the partitions of the next days and drops old partitions, once a day. An error is logged and does
// not stop the relay: without a partition for the day, events are stored in the default partition. After an error, it waits
// one minute.
func (t *term) maintainPartitions(ctx context.Context) (bool, error) {
	now := t.Now()
	day := protocol.Day(now)
	if day == t.partitionsDay || now.Before(t.partitionsAt) {
		return false, nil
	}
	if err := t.Store.MaintainFeed(ctx); err != nil {
		t.partitionsAt = now.Add(time.Minute)
		t.Slog.WarnContext(ctx, "feed partition maintenance failed", "error", err)
		return false, nil
	}
	t.partitionsDay = day
	return false, nil
}

// number assigns numbers to one page of outbox entries. It returns true if the page was full, because more entries may follow.
func (t *term) number(ctx context.Context) (bool, error) {
	n, err := t.Store.NumberFeed(ctx, pageSize)
	return n == pageSize, err
}

// drain assigns numbers to one chunk of the results of one market. It skips a market whose next result does not exist yet,
// until no other market has results.
func (t *term) drain(ctx context.Context) (bool, error) {
	d, err := t.Store.DrainFeed(ctx, chunkSize, t.blocked)
	switch {
	case err != nil:
		return false, err
	case d.MarketID == "":
		t.blocked = nil
		return false, nil
	case d.Blocked:
		t.blocked = append(t.blocked, d.MarketID)
	}
	return true, nil
}

// publish adds the next page of events to the stream. It returns true if the page was full, because more events may follow. An
// error of Redis does not stop the relay: the missing events are added when Redis is available again.
func (t *term) publish(ctx context.Context) (bool, error) {
	if now := t.Now(); !t.synced || !now.Before(t.syncAt) {
		if err := t.sync(ctx, now); err != nil || !t.synced {
			return false, err
		}
	}
	messages, err := t.chain.Read(ctx, t.at, pageSize)
	if err != nil || len(messages) == 0 {
		return false, err
	}
	if err := addEvents(ctx, t.Redis, messages); err != nil {
		t.redisFailed(ctx, err)
		return false, nil
	}
	t.at = messages[len(messages)-1].Seq
	return len(messages) == pageSize, nil
}

// sync sets the field at to the number of the last event in the stream. It deletes a stream that is ahead of the feed or
// belongs to another feed. If the stream lacks more than streamLength events, sync skips the oldest of them.
func (t *term) sync(ctx context.Context, now time.Time) error {
	t.synced = false
	last, err := lastEvent(ctx, t.Redis)
	if err != nil {
		t.redisFailed(ctx, err)
		return nil
	}
	head, err := t.Store.FeedHead(ctx)
	if err != nil {
		return err
	}
	if last.Seq > 0 {
		own, err := t.contains(ctx, last, head)
		if err != nil {
			return err
		}
		if !own {
			if err := t.Redis.Del(ctx, streamKey).Err(); err != nil {
				t.redisFailed(ctx, err)
				return nil
			}
			t.Slog.WarnContext(ctx, "redis stream of another feed deleted", "stream_seq", last.Seq, "feed_seq", head)
			last.Seq = 0
		}
	}
	oldest, err := t.Store.FeedOldest(ctx)
	if err != nil {
		return err
	}
	t.at = max(last.Seq, head-streamLength, oldest-1)
	t.synced, t.syncAt = true, now.Add(syncEvery)
	return nil
}

// contains reports whether message m is an event of the feed, whose newest event number is head. It also returns true if the
// feed no longer stores an event with this number.
func (t *term) contains(ctx context.Context, m feed.Message, head int64) (bool, error) {
	if m.Seq > head {
		return false, nil
	}
	events, err := t.Store.ListFeedAfter(ctx, m.Seq-1, 1)
	if err != nil {
		return false, err
	}
	return len(events) == 0 || events[0].ID == m.ID, nil
}

func (t *term) redisFailed(ctx context.Context, err error) {
	t.synced = false
	t.Slog.DebugContext(ctx, "writing the stream failed", "error", err)
}
