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
	var markets, operators, lanes []string
	out := make(map[feed.Channel]int64, len(channels))
	batch := &pgx.Batch{}
	for _, c := range channels {
		switch {
		case c.MarketID() != "":
			markets = append(markets, c.MarketID())
		case c.Handle() != "":
			operators = append(operators, c.Handle())
		case c.Lane() != "":
			lanes = append(lanes, c.Lane())
		default:
			batch.Queue(query("feed_heads_types"), upTo, c.Types()).QueryRow(func(row pgx.Row) error {
				var seq *int64
				err := row.Scan(&seq)
				if seq != nil {
					out[c] = *seq
				}
				return err
			})
		}
	}
	for _, group := range []struct {
		statement string
		keys      []string
		channel   func(string) feed.Channel
	}{
		{"feed_heads_market", markets, feed.MarketChannel},
		{"feed_heads_operator", operators, feed.OperatorChannel},
		{"feed_heads_lane", lanes, feed.LaneChannel},
	} {
		if len(group.keys) == 0 {
			continue
		}
		types := group.channel(group.keys[0]).Types()
		batch.Queue(query(group.statement), group.keys, upTo, types).Query(func(rows pgx.Rows) error {
			var key string
			var seq int64
			_, err := pgx.ForEachRow(rows, []any{&key, &seq}, func() error {
				out[group.channel(key)] = seq
				return nil
			})
			return err
		})
	}
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, pg.Fault(fmt.Errorf("read channel heads: %w", err))
	}
	return out, nil
}

// ListFeedChannel reads up to limit events of one channel behind after and up to
// upTo, in order and without their links. Everything up to and including through
// was looked at: a reader goes on from there.
func (s *Store) ListFeedChannel(ctx context.Context, c feed.Channel, after, upTo int64, limit int) (events []feed.Message, through int64, err error) {
	statement, key := "feed_channel_types", c.Lane()
	switch {
	case c.MarketID() != "":
		statement, key = "feed_channel_market", c.MarketID()
	case c.Handle() != "":
		statement, key = "feed_channel_operator", c.Handle()
	case key != "":
		upTo = min(upTo, after+laneStretch)
	}
	rows, err := s.pool.Query(ctx, query(statement), key, c.Types(), after, upTo, limit)
	if err != nil {
		return nil, 0, pg.Fault(fmt.Errorf("list channel: %w", err))
	}
	events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (feed.Message, error) {
		var m feed.Message
		if err := row.Scan(&m.Seq, &m.Type, &m.At, &m.Data); err != nil {
			return m, err
		}
		var err error
		m.Data, err = compact(m.Data)
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
