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
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// StoreFacts stores committed facts of other services in the outbox, each fact once. In the same transaction it stores
// copies, which contain the latest state of channels that other services own.
func (s *Store) StoreFacts(ctx context.Context, facts []feed.Fact, copies []feed.Copy) error {
	err := inTx(ctx, s.writes, func(q *db.Queries) error {
		if len(facts) > 0 {
			if err := q.StoreFacts(ctx, factsParams(facts)); err != nil {
				return err
			}
		}
		if len(copies) == 0 {
			return nil
		}
		var p db.StoreChannelCopiesParams
		for _, c := range copies {
			p.Channels, p.At, p.Data = append(p.Channels, string(c.Channel)), append(p.At, c.At), append(p.Data, c.Data)
		}
		return q.StoreChannelCopies(ctx, p)
	})
	return pg.Fault(wrap("store facts and copies", err))
}

func factsParams(facts []feed.Fact) (p db.StoreFactsParams) {
	for _, f := range facts {
		p.IDs, p.Types, p.At, p.Data = append(p.IDs, f.ID), append(p.Types, string(f.Type)), append(p.At, f.At), append(p.Data, f.Data)
		p.MarketIDs, p.Handles = append(p.MarketIDs, pg.Null(f.MarketID)), append(p.Handles, pg.Null(f.Handle))
		p.Topics = append(p.Topics, pg.Null(f.Topic))
	}
	return p
}

// StoreViewers stores the number of viewers of each operator's stream, separately for each market to which the stream is
// bound.
func (s *Store) StoreViewers(ctx context.Context, list []feed.Watching) error {
	var p db.StoreViewersParams
	for _, w := range list {
		p.Handles, p.At = append(p.Handles, w.Handle), append(p.At, w.At)
		p.Viewers = append(p.Viewers, int32(min(w.Viewers, math.MaxInt32)))
	}
	return pg.Fault(wrap("store viewers", s.wq.StoreViewers(ctx, p)))
}

// StoreViewerReports implements feed.Store.
func (s *Store) StoreViewerReports(ctx context.Context, list []feed.ViewerReport) error {
	p := db.StoreViewerReportsParams{Now: s.now()}
	for _, r := range list {
		p.IDs, p.Handles, p.At = append(p.IDs, r.ID), append(p.Handles, r.Handle), append(p.At, r.At)
		p.Seconds = append(p.Seconds, r.ViewerSeconds)
	}
	return pg.Fault(wrap("store viewer reports", s.wq.StoreViewerReports(ctx, p)))
}

// StoreTapes implements feed.Store.
func (s *Store) StoreTapes(ctx context.Context, list []feed.Tapes) error {
	var p db.StoreTapesParams
	for _, t := range list {
		p.MarketIDs, p.Tapes, p.At = append(p.MarketIDs, string(t.MarketID)), append(p.Tapes, t.Tapes), append(p.At, t.At)
	}
	return pg.Fault(wrap("store tapes", s.wq.StoreTapes(ctx, p)))
}

// ListWatched returns the number of viewers of each market, summed over the streams that are bound to the market. It ignores
// viewer counts that are not newer than the time since.
func (s *Store) ListWatched(ctx context.Context, since time.Time) (map[string]int, error) {
	rows, err := s.q.ListWatchedMarkets(ctx, &since)
	return indexed(rows, func(r db.ListWatchedMarketsRow) (string, int) { return r.MarketID, int(r.Viewers) }),
		pg.Fault(wrap("list watched markets", err))
}

// ListMarketTokens implements feed.Store.
func (s *Store) ListMarketTokens(ctx context.Context, ids []string) (map[string]string, error) {
	rows, err := s.q.ListMarketTokens(ctx, ids)
	return indexed(rows, func(r db.ListMarketTokensRow) (string, string) { return r.MarketID, r.ClobTokenID }),
		pg.Fault(wrap("list market tokens", err))
}

// FindCopy implements feed.Store.
func (s *Store) FindCopy(ctx context.Context, c feed.Channel) (feed.Copy, bool, error) {
	row, err := s.rq.GetChannelCopy(ctx, string(c))
	if errors.Is(err, pgx.ErrNoRows) {
		return feed.Copy{}, false, nil
	}
	one := feed.Copy{Channel: c, At: row.At}
	if err == nil {
		one.Data, err = compact(row.Data)
	}
	if err != nil {
		return feed.Copy{}, false, fmt.Errorf("read channel copy: %w", err)
	}
	return one, true, nil
}

// keepViewerReports is the storage time of reports of watched time. It is one week longer than the window of the boards.
const keepViewerReports = 35 * 24 * time.Hour

// SweepPublished deletes the ids of facts that were stored more than 7 days ago, and reports of watched time that boards no
// longer need. A sender does not repeat a fact after that time.
func (s *Store) SweepPublished(ctx context.Context) error {
	if err := s.q.DeleteOldFacts(ctx); err != nil {
		return pg.Fault(wrap("delete old facts", err))
	}
	return pg.Fault(wrap("delete old viewer reports", s.q.DeleteOldViewerReports(ctx, s.now().Add(-keepViewerReports))))
}
