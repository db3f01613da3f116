package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// term is one run of a relay: what it remembers is right only while it leads.
type term struct {
	*Relay
	chain   *feed.Chain
	blocked []string  // resolved markets whose next result is missing
	kept    string    // day of the last care for partitions
	keepAt  time.Time // not before
	at      int64     // number up to which Redis has the feed; with synced
	synced  bool
	syncAt  time.Time // when Redis is compared again
}

// turn does one round of steps; more tells that another is worth it at once.
func (t *term) turn(ctx context.Context) (more bool, err error) {
	for _, step := range []struct {
		name string
		do   func(context.Context) (bool, error)
	}{
		{"keep", t.keep},
		{"number", t.number},
		{"publish", t.publish}, // at once: listeners wait for one event more than for many
		{"drain", t.drain},     // what it numbers is published in the next round
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

// keep cares for the partitions once a day. Without them events go into the
// default partition, so a failure stops nothing.
func (t *term) keep(ctx context.Context) (bool, error) {
	now := t.Now()
	day := protocol.Day(now)
	if day == t.kept || now.Before(t.keepAt) {
		return false, nil
	}
	if err := t.Store.KeepFeed(ctx); err != nil {
		t.keepAt = now.Add(time.Minute)
		t.Slog.WarnContext(ctx, "feed partitions were not kept", "error", err)
		return false, nil
	}
	t.kept = day
	return false, nil
}

func (t *term) number(ctx context.Context) (bool, error) {
	n, err := t.Store.NumberFeed(ctx, pageSize)
	return n == pageSize, err
}

// drain numbers one chunk of one market's results. A market that waits for its
// scores is passed over until the next idle moment.
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

// publish puts the next page of events on the stream. Trouble with Redis is not
// trouble of the relay: what is missing there is added when it is back.
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
		t.away(ctx, err)
		return false, nil
	}
	t.at = messages[len(messages)-1].Seq
	return len(messages) == pageSize, nil
}

// sync finds out where the stream ends. A stream that is ahead of the feed, or
// holds another feed, is thrown away; of one that is far behind, only what it
// would keep anyway is made up.
func (t *term) sync(ctx context.Context, now time.Time) error {
	t.synced = false
	last, err := lastEvent(ctx, t.Redis)
	if err != nil {
		t.away(ctx, err)
		return nil
	}
	head, err := t.Store.FeedHead(ctx)
	if err != nil {
		return err
	}
	if last.Seq > 0 {
		own, err := t.holds(ctx, last, head)
		if err != nil {
			return err
		}
		if !own {
			t.Slog.WarnContext(ctx, "the stream holds another feed and is thrown away", "stream", last.Seq, "feed", head)
			if err := t.Redis.Del(ctx, streamKey).Err(); err != nil {
				t.away(ctx, err)
				return nil
			}
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

// holds tells whether the feed has this very message.
func (t *term) holds(ctx context.Context, m feed.Message, head int64) (bool, error) {
	if m.Seq > head {
		return false, nil
	}
	events, err := t.Store.ListFeedAfter(ctx, m.Seq-1, 1)
	if err != nil {
		return false, err
	}
	return len(events) == 0 || events[0].ID == m.ID, nil
}

func (t *term) away(ctx context.Context, err error) {
	t.synced = false
	t.Slog.DebugContext(ctx, "the stream cannot be written", "error", err)
}
