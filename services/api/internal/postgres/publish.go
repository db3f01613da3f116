package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// TakeFacts hands committed facts of other services to the relay, each once, and
// keeps copies of their channels: all of it or nothing.
func (s *Store) TakeFacts(ctx context.Context, facts []feed.Fact, copies []feed.Copy) error {
	var b pgx.Batch // one round trip, and one transaction
	if len(facts) > 0 {
		b.Queue(query("publish_facts"), factColumns(facts)...)
	}
	if len(copies) > 0 {
		channels, times, data := make([]string, len(copies)), make([]time.Time, len(copies)), make([]string, len(copies))
		for i, c := range copies {
			channels[i], times[i], data[i] = string(c.Channel), c.At, string(c.Data)
		}
		b.Queue(query("publish_copies"), channels, times, data)
	}
	if err := s.acts.SendBatch(ctx, &b).Close(); err != nil {
		return pg.Fault(fmt.Errorf("take facts and copies: %w", err))
	}
	return nil
}

// TakeViewers keeps how many watch whom, on every market that their streams are bound to.
func (s *Store) TakeViewers(ctx context.Context, list []feed.Watching) error {
	handles, viewers, times := make([]string, len(list)), make([]int32, len(list)), make([]time.Time, len(list))
	for i, w := range list {
		handles[i], viewers[i], times[i] = w.Handle, int32(min(w.Viewers, math.MaxInt32)), w.At
	}
	if _, err := s.acts.Exec(ctx, query("publish_viewers"), handles, viewers, times); err != nil {
		return pg.Fault(fmt.Errorf("keep viewers: %w", err))
	}
	return nil
}

// ListWatched is how many watch the streams of each market, by news that came after since.
func (s *Store) ListWatched(ctx context.Context, since time.Time) (map[string]int, error) {
	rows, err := s.pool.Query(ctx, query("market_watched"), since)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list watched markets: %w", err))
	}
	out := make(map[string]int)
	var id string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { out[id] = n; return nil }); err != nil {
		return nil, pg.Fault(fmt.Errorf("list watched markets: %w", err))
	}
	return out, nil
}

func factColumns(facts []feed.Fact) []any {
	n := len(facts)
	ids, types, times, data := make([]string, n), make([]string, n), make([]time.Time, n), make([]string, n)
	markets, handles, topics := make([]*string, n), make([]*string, n), make([]*string, n)
	for i, f := range facts {
		ids[i], types[i], times[i], data[i] = f.ID, string(f.Type), f.At, string(f.Data)
		markets[i], handles[i], topics[i] = orNil(f.MarketID), orNil(f.Handle), orNil(f.Topic)
	}
	return []any{ids, types, times, markets, handles, topics, data}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ChannelCopy reads what a channel begins with, as its owner told it; nil for none.
func (s *Store) ChannelCopy(ctx context.Context, c feed.Channel) ([]byte, error) {
	one, _, err := s.FindCopy(ctx, c)
	return one.Data, err
}

// FindCopy is ChannelCopy with the time that it is of.
func (s *Store) FindCopy(ctx context.Context, c feed.Channel) (feed.Copy, bool, error) {
	one := feed.Copy{Channel: c}
	err := pg.Bound(s.pool, pg.ReadBudget).QueryRow(ctx, query("publish_copy"), string(c)).Scan(&one.Data, &one.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return feed.Copy{}, false, nil
	}
	if err == nil {
		one.Data, err = compact(one.Data)
	}
	if err != nil {
		return feed.Copy{}, false, fmt.Errorf("read channel copy: %w", err)
	}
	return one, true, nil
}

// SweepPublished forgets the ids of facts that nobody repeats any more.
func (s *Store) SweepPublished(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, query("publish_sweep")); err != nil {
		return pg.Fault(fmt.Errorf("sweep published: %w", err))
	}
	return nil
}
