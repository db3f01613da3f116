package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// NumberFeed moves up to limit committed outbox rows into the feed and returns
// how many; newID makes their ids. It is one transaction: a row is in the outbox
// or in the feed, with its number, and never in both.
func (s *Store) NumberFeed(ctx context.Context, limit int, newID func() string) (int, error) {
	n := 0
	err := pg.InTx(ctx, s.acts, func(tx pgx.Tx) error {
		var head int64
		// The second runs behind the lock, so that it sees what the last holder took;
		// both go out at once.
		var b pgx.Batch
		b.Queue(query("feed_lock")).QueryRow(func(row pgx.Row) error { return row.Scan(&head) })
		b.Queue(query("feed_waiting"), limit).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return fmt.Errorf("lock feed head and count outbox: %w", err)
		}
		if n == 0 {
			return nil
		}
		if err := tx.QueryRow(ctx, query("feed_number"), newIDs(n, newID), head).Scan(&n); err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// DrainFeed numbers the results of up to chunk signals of one resolved market that
// is not in skip, with their moments, and moves its scores by lane with them.
func (s *Store) DrainFeed(ctx context.Context, chunk int, skip []string, newID func() string) (feed.Drained, error) {
	var d feed.Drained
	if skip == nil {
		skip = []string{}
	}
	err := pg.InTx(ctx, s.acts, func(tx pgx.Tx) error {
		d = feed.Drained{}
		var head int64
		if err := tx.QueryRow(ctx, query("feed_lock")).Scan(&head); err != nil {
			return fmt.Errorf("lock feed head: %w", err)
		}
		var after *string
		err := tx.QueryRow(ctx, query("feed_drain_next"), skip).Scan(&d.MarketID, &after)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("find drain: %w", err)
		}
		err = tx.QueryRow(ctx, query("feed_drain"), d.MarketID, after, newIDs(2*chunk, newID), head).
			Scan(&d.Numbered, &d.Ended, &d.Blocked)
		if err != nil {
			return fmt.Errorf("drain market %s: %w", d.MarketID, err)
		}
		return nil
	})
	if err != nil {
		return feed.Drained{}, err
	}
	return d, nil
}

func newIDs(n int, newID func() string) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID()
	}
	return ids
}

// FeedHead is the number given last.
func (s *Store) FeedHead(ctx context.Context) (int64, error) {
	return s.feedNumber(ctx, "feed_head")
}

// FeedOldest is the oldest number that is kept; in an empty feed the one that
// comes next.
func (s *Store) FeedOldest(ctx context.Context) (int64, error) {
	return s.feedNumber(ctx, "feed_oldest")
}

func (s *Store) feedNumber(ctx context.Context, name string) (int64, error) {
	var seq int64
	if err := pg.Bound(s.pool, pg.ReadBudget).QueryRow(ctx, query(name)).Scan(&seq); err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return seq, nil
}

// KeepFeed makes the partitions of the coming days and drops those that are
// older than 90 days, both by the database's clock.
func (s *Store) KeepFeed(ctx context.Context) error {
	var dropped int
	if err := s.pool.QueryRow(ctx, query("feed_keep")).Scan(&dropped); err != nil {
		return pg.Fault(fmt.Errorf("keep feed: %w", err))
	}
	return nil
}

// ListFeedAfter reads up to limit events behind a number, in order.
func (s *Store) ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error) {
	rows, err := s.pool.Query(ctx, query("feed_after"), after, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list feed: %w", err))
	}
	events, err := pgx.CollectRows(rows, s.scanFeedEvent)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list feed: %w", err))
	}
	return events, nil
}

func (s *Store) scanFeedEvent(row pgx.CollectableRow) (feed.Event, error) {
	var e feed.Event
	var market, provider, lane, handle, public, topic, signal *string
	err := row.Scan(&e.Seq, &e.ID, &e.Type, &e.At, &market, &provider, &lane, &handle, &public, &topic, &signal, &e.Data)
	e.MarketID, e.Provider, e.Lane = orEmpty(market), orEmpty(provider), orEmpty(lane)
	e.Handle, e.PublicID, e.Topic = orEmpty(handle), orEmpty(public), orEmpty(topic)
	if err != nil {
		return e, err
	}
	e.Data, err = s.eventData(e.Data, signal)
	return e, err
}

// eventData returns stored data without the spaces that Postgres writes into JSON. For an event of
// a call it adds receiptUrl, which is not stored because HUB_URL may change.
func (s *Store) eventData(stored []byte, signal *string) ([]byte, error) {
	data, err := compact(stored)
	if err != nil || signal == nil || len(data) <= len("{}") {
		return data, err
	}
	return fmt.Appendf(data[:len(data)-1], `,"receiptUrl":"%s/receipts/%s"}`, s.rules.HubURL, *signal), nil
}

// compact takes out the spaces that Postgres writes into JSON.
func compact(data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, fmt.Errorf("event data: %w", err)
	}
	return b.Bytes(), nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ListenOutbox calls ring for every notification that the outbox has something.
// It returns when the connection fails or ctx ends.
func (s *Store) ListenOutbox(ctx context.Context, ring func()) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return pg.Fault(fmt.Errorf("listen: %w", err))
	}
	// A connection that listens must not go back to the pool.
	conn := pooled.Hijack()
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, query("feed_listen")); err != nil {
		return pg.Fault(fmt.Errorf("listen: %w", err))
	}
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return pg.Fault(fmt.Errorf("listen: %w", err))
		}
		ring()
	}
}
