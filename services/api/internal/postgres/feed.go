package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// NumberFeed moves at most limit committed outbox entries into the feed, assigns their sequence numbers, and returns the
// number of events added. The move is one transaction, so an entry is either in the outbox or, with its sequence number, in
// the feed.
func (s *Store) NumberFeed(ctx context.Context, limit int) (int, error) {
	n := int64(0)
	err := pg.InTx(ctx, s.writes, func(tx pgx.Tx) error {
		var head int64
		// Both statements are sent together. The second is executed after the lock is granted, so it sees the changes of the
		// process that held the lock before.
		var b pgx.Batch
		b.Queue(db.LockFeed).QueryRow(func(row pgx.Row) error { return row.Scan(&head) })
		b.Queue(db.CountOutbox, limit).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		err := tx.SendBatch(ctx, &b).Close()
		if err != nil || n == 0 {
			return wrap("lock feed head and count outbox", err)
		}
		n, err = db.New(tx).NumberEvents(ctx, db.NumberEventsParams{IDs: newIDs(int(n)), Head: head})
		return wrap("number events", err)
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// DrainFeed adds the results of at most chunk calls on one resolved market to the feed. If a call has a moment, the moment
// event follows its result. The same transaction updates the scores by lane. DrainFeed ignores the markets in skip and
// selects the market that was resolved first. Without a market it returns the zero value.
func (s *Store) DrainFeed(ctx context.Context, chunk int, skip []string) (feed.Drained, error) {
	var d feed.Drained
	err := inTx(ctx, s.writes, func(q *db.Queries) error {
		d = feed.Drained{}
		head, err := q.LockFeed(ctx)
		if err != nil {
			return fmt.Errorf("lock feed head: %w", err)
		}
		next, err := q.GetNextDrain(ctx, neverNil(skip))
		if err != nil {
			return missing(err, nil, "find drain")
		}
		done, err := q.NumberResults(ctx, db.NumberResultsParams{
			MarketID: next.MarketID, AfterUser: next.AfterUser, IDs: newIDs(2 * chunk), Head: head,
		})
		if err != nil {
			return fmt.Errorf("drain market %s: %w", next.MarketID, err)
		}
		d = feed.Drained{MarketID: next.MarketID, Numbered: int(done.Events), Ended: done.Ended, Blocked: done.Blocked}
		return nil
	})
	if err != nil {
		return feed.Drained{}, err
	}
	return d, nil
}

func newIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7()).String()
	}
	return ids
}

// FeedHead returns the last sequence number of the feed.
func (s *Store) FeedHead(ctx context.Context) (int64, error) {
	seq, err := s.rq.GetFeedHead(ctx)
	return seq, wrap("read feed head", err)
}

// FeedOldest returns the oldest stored sequence number of the feed. For an empty feed it returns the number that the next
// event will have.
func (s *Store) FeedOldest(ctx context.Context) (int64, error) {
	seq, err := s.rq.GetFeedOldest(ctx)
	return seq, wrap("read oldest event", err)
}

// MaintainFeed creates the database partitions of the feed for the coming days and drops the partitions that are older than
// 90 days. It uses the clock of the database.
func (s *Store) MaintainFeed(ctx context.Context) error {
	_, err := s.q.MaintainFeed(ctx)
	return pg.Fault(wrap("maintain feed", err))
}

// ListFeedAfter returns at most limit events of the feed whose sequence number is greater than after, in ascending order.
func (s *Store) ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error) {
	rows, err := s.q.ListFeedAfter(ctx, db.ListFeedAfterParams{After: after, Most: int64(limit)})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list feed: %w", err))
	}
	events, err := s.eventsOf(pg.Collect(rows, func(r db.ListFeedAfterRow) db.ListFeedRow { return db.ListFeedRow(r) }))
	return events, pg.Fault(wrap("list feed", err))
}

func (s *Store) eventsOf(rows []db.ListFeedRow) ([]feed.Event, error) {
	events := make([]feed.Event, len(rows))
	for i, r := range rows {
		e := r.ShownEvent
		data, err := s.eventData(e.Data, e.SignalID)
		if err != nil {
			return nil, err
		}
		events[i] = feed.Event{
			Seq: e.Seq, ID: e.ID, Type: feed.Type(e.Type), At: e.At, MarketID: pg.Value(e.MarketID), Provider: pg.Value(e.Provider),
			Lane: pg.Value(e.Lane), Handle: pg.Value(r.Handle), PublicID: pg.Value(r.PublicID), Operator: pg.Value(e.UserID),
			Topic: pg.Value(e.Topic), Data: data,
		}
	}
	return events, nil
}

// eventData returns stored event data without insignificant spaces. If signal is not nil, it is the id of a call. eventData
// then adds the member receiptUrl, unless the data is an empty object. receiptUrl is not stored because HUB_URL may change.
func (s *Store) eventData(stored []byte, signal *string) ([]byte, error) {
	data, err := compact(stored)
	if err != nil || signal == nil || len(data) <= len("{}") {
		return data, err
	}
	return fmt.Appendf(data[:len(data)-1], `,"receiptUrl":"%s/receipts/%s"}`, s.rules.HubURL, *signal), nil
}

// compact removes insignificant spaces from JSON. Postgres writes such spaces.
func compact(data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, fmt.Errorf("event data: %w", err)
	}
	return b.Bytes(), nil
}

// ListenOutbox calls the function notify for each database notification on the channel sc_outbox, which means that the
// outbox has entries. It returns an error when the connection fails or ctx ends.
func (s *Store) ListenOutbox(ctx context.Context, notify func()) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return pg.Fault(fmt.Errorf("listen: %w", err))
	}
	// A listening connection must not return to the pool.
	conn := pooled.Hijack()
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN sc_outbox"); err != nil {
		return pg.Fault(fmt.Errorf("listen: %w", err))
	}
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return pg.Fault(fmt.Errorf("listen: %w", err))
		}
		notify()
	}
}
