package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// laneWindow is the largest range of sequence numbers that one read of a lane's channel scans. It bounds the cost of a lane
// without events.
const laneWindow = 50_000

// FeedHeads implements feed.Store.
func (s *Store) FeedHeads(ctx context.Context, upTo int64, channels []feed.Channel) (map[feed.Channel]int64, error) {
	h := headBatch{upTo: upTo, out: make(map[feed.Channel]int64, len(channels))}
	var markets, operators, owners, topics, lanes []string
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
		case c.Lane() != "":
			lanes = append(lanes, c.Lane())
		case c.Types() != nil:
			h.ofTypes(c)
		}
	}
	h.ofKeys(db.ListHeadsOfMarkets, markets, feed.MarketChannel)
	h.ofKeys(db.ListHeadsOfOperators, operators, feed.OperatorChannel)
	h.ofKeys(db.ListHeadsOfOperators, owners, feed.MeChannel)
	h.ofKeys(db.ListHeadsOfTopics, topics, func(s string) feed.Channel { return feed.Channel(s) })
	h.ofKeys(db.ListHeadsOfLanes, lanes, feed.LaneChannel)
	if err := s.pool.SendBatch(ctx, &h.batch).Close(); err != nil {
		return nil, pg.Fault(fmt.Errorf("read channel heads: %w", err))
	}
	return h.out, nil
}

// headBatch collects statements that read the last sequence number of channels. The statements are sent together.
type headBatch struct {
	batch pgx.Batch
	upTo  int64
	out   map[feed.Channel]int64
}

// ofTypes adds the statement that reads the last sequence number of c. The channel c must select events only by type.
func (h *headBatch) ofTypes(c feed.Channel) {
	h.batch.Queue(db.GetHeadOfTypes, texts(c.Types()), h.upTo).QueryRow(func(row pgx.Row) error {
		var seq int64
		err := row.Scan(&seq)
		if seq > 0 {
			h.out[c] = seq
		}
		return err
	})
}

// ofKeys adds the statement that reads the last sequence numbers of the channels of one kind, for example of markets. The
// function channel returns the channel with a given key. Without keys, ofKeys does nothing. The parameters of the statement
// are, in this order, the keys, the event types and h.upTo. A statement for topics has no parameter for types.
func (h *headBatch) ofKeys(statement string, keys []string, channel func(string) feed.Channel) {
	if len(keys) == 0 {
		return
	}
	args := []any{keys, h.upTo}
	if c := channel(keys[0]); c.Topic() == "" {
		args = []any{keys, texts(c.Types()), h.upTo}
	}
	h.batch.Queue(statement, args...).Query(func(rows pgx.Rows) error {
		var key string
		var seq int64
		_, err := pgx.ForEachRow(rows, []any{&key, &seq}, func() error {
			h.out[channel(key)] = seq
			return nil
		})
		return err
	})
}

// ListFeedChannel returns at most limit events of one channel with sequence numbers in (after, upTo], in ascending order.
// Their members ID and Links are empty. through is the last sequence number that was scanned; the next read of the channel
// starts after it.
func (s *Store) ListFeedChannel(ctx context.Context, c feed.Channel, after, upTo int64, limit int) (events []feed.Message, through int64, err error) {
	if c.Lane() != "" {
		upTo = min(upTo, after+laneWindow)
	}
	if c.Topic() == "" && c.Types() == nil {
		return nil, upTo, nil
	}
	rows, err := listChannel(ctx, s.q, c, db.ListChannelOfTypesParams{Types: texts(c.Types()), Low: after, High: upTo, Limit: int32(limit)})
	if err != nil {
		return nil, 0, pg.Fault(fmt.Errorf("list channel: %w", err))
	}
	events = make([]feed.Message, len(rows))
	for i, r := range rows {
		events[i] = feed.Message{Seq: r.Seq, Type: feed.Type(r.Type), At: r.At}
		if events[i].Data, err = s.eventData(r.Data, r.SignalID); err != nil {
			return nil, 0, pg.Fault(fmt.Errorf("list channel: %w", err))
		}
	}
	if len(events) == limit {
		upTo = events[limit-1].Seq
	}
	return events, upTo, nil
}

func listChannel(ctx context.Context, q *db.Queries, c feed.Channel, p db.ListChannelOfTypesParams) ([]db.ListChannelOfTypesRow, error) {
	switch {
	case c.MarketID() != "":
		rows, err := q.ListChannelOfMarket(ctx, db.ListChannelOfMarketParams{
			MarketID: c.MarketID(), Types: p.Types, Low: p.Low, High: p.High, Limit: p.Limit,
		})
		return pg.Collect(rows, func(r db.ListChannelOfMarketRow) db.ListChannelOfTypesRow { return db.ListChannelOfTypesRow(r) }), err
	case c.Handle() != "" || c.Owner() != "":
		rows, err := q.ListChannelOfOperator(ctx, db.ListChannelOfOperatorParams{
			Handle: c.Handle() + c.Owner(), Types: p.Types, Low: p.Low, High: p.High, Limit: p.Limit,
		})
		return pg.Collect(rows, func(r db.ListChannelOfOperatorRow) db.ListChannelOfTypesRow { return db.ListChannelOfTypesRow(r) }), err
	case c.Topic() != "":
		rows, err := q.ListChannelOfTopic(ctx, db.ListChannelOfTopicParams{Topic: c.Topic(), Low: p.Low, High: p.High, Limit: p.Limit})
		return pg.Collect(rows, func(r db.ListChannelOfTopicRow) db.ListChannelOfTypesRow { return db.ListChannelOfTypesRow(r) }), err
	case c.Lane() != "":
		rows, err := q.ListChannelOfLane(ctx, db.ListChannelOfLaneParams{
			Lane: c.Lane(), Types: p.Types, Low: p.Low, High: p.High, Limit: p.Limit,
		})
		return pg.Collect(rows, func(r db.ListChannelOfLaneRow) db.ListChannelOfTypesRow { return db.ListChannelOfTypesRow(r) }), err
	}
	return q.ListChannelOfTypes(ctx, p)
}
