package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// laneStretch is how many numbers one read of a lane looks at: a lane may be
// silent for long.
const laneStretch = 50_000

// FeedHeads implements feed.Heads.
func (s *Store) FeedHeads(ctx context.Context, upTo int64, channels []feed.Channel) (map[feed.Channel]int64, error) {
	h := headBatch{upTo: upTo, out: make(map[feed.Channel]int64, len(channels))}
	var markets, operators, owners, topics []string
	for _, c := range channels {
		switch {
		case c.MarketID() != "":
			markets = append(markets, c.MarketID())
		case c.Handle() != "":
			operators = append(operators, c.Handle())
		case c.Owner() != "":
			owners = append(owners, c.Owner())
		case c.Topic() != "":
			topics = append(topics, c.Topic())
		case c.Types() != nil:
			h.one(c)
		}
	}
	h.owned("feed_heads_market", markets, feed.MarketChannel)
	h.owned("feed_heads_operator", operators, feed.OperatorChannel)
	h.owned("feed_heads_operator", owners, feed.MeChannel)
	h.owned("feed_heads_topic", topics, func(s string) feed.Channel { return feed.Channel(s) })
	if err := s.pool.SendBatch(ctx, &h.batch).Close(); err != nil {
		return nil, pg.Fault(fmt.Errorf("read channel heads: %w", err))
	}
	return h.out, nil
}

// headBatch asks for many heads at once.
type headBatch struct {
	batch pgx.Batch
	upTo  int64
	out   map[feed.Channel]int64
}

// one asks for a channel without an owner.
func (h *headBatch) one(c feed.Channel) {
	h.batch.Queue(headText(c), h.upTo).QueryRow(func(row pgx.Row) error {
		var seq *int64
		err := row.Scan(&seq)
		if seq != nil {
			h.out[c] = *seq
		}
		return err
	})
}

// owned asks for channels of one kind by their owners.
func (h *headBatch) owned(statement string, keys []string, channel func(string) feed.Channel) {
	if len(keys) == 0 {
		return
	}
	args := []any{keys, h.upTo}
	if c := channel(keys[0]); c.Topic() == "" { // whose events are of one kind anyway
		args = append(args, c.Types())
	}
	h.batch.Queue(query(statement), args...).Query(func(rows pgx.Rows) error {
		var key string
		var seq int64
		_, err := pgx.ForEachRow(rows, []any{&key, &seq}, func() error {
			h.out[channel(key)] = seq
			return nil
		})
		return err
	})
}

// ListFeedChannel reads up to limit events of one channel behind after and up to
// upTo, in order and without their links. Everything up to and including through
// was looked at: a reader goes on from there.
func (s *Store) ListFeedChannel(ctx context.Context, c feed.Channel, after, upTo int64, limit int) (events []feed.Message, through int64, err error) {
	if c.Lane() != "" {
		upTo = min(upTo, after+laneStretch)
	}
	var rows pgx.Rows
	switch {
	case c.MarketID() != "":
		rows, err = s.pool.Query(ctx, query("feed_channel_market"), c.MarketID(), c.Types(), after, upTo, limit)
	case c.Handle() != "":
		rows, err = s.pool.Query(ctx, query("feed_channel_operator"), c.Handle(), c.Types(), after, upTo, limit)
	case c.Owner() != "":
		rows, err = s.pool.Query(ctx, query("feed_channel_operator"), c.Owner(), c.Types(), after, upTo, limit)
	case c.Topic() != "":
		rows, err = s.pool.Query(ctx, query("feed_channel_topic"), c.Topic(), after, upTo, limit)
	case c.Types() == nil:
		return nil, upTo, nil
	default:
		rows, err = s.pool.Query(ctx, pageText(c), after, upTo, limit)
	}
	if err != nil {
		return nil, 0, pg.Fault(fmt.Errorf("list channel: %w", err))
	}
	events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (feed.Message, error) {
		var m feed.Message
		var signal *string
		if err := row.Scan(&m.Seq, &m.Type, &m.At, &signal, &m.Data); err != nil {
			return m, err
		}
		var err error
		m.Data, err = s.eventData(m.Data, signal)
		return m, err
	})
	if err != nil {
		return nil, 0, pg.Fault(fmt.Errorf("list channel: %w", err))
	}
	if len(events) == limit {
		upTo = events[limit-1].Seq
	}
	return events, upTo, nil
}
