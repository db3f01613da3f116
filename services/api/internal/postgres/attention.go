package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/movement"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// ListFacts returns one fact for each open market: the stored values from which its movement and its attention score are
// computed. now is the time of the computation.
func (s *Store) ListFacts(ctx context.Context, now time.Time) ([]attention.Fact, error) {
	rows, err := s.q.ListOpenFacts(ctx, now)
	return pg.Collect(rows, func(r db.ListOpenFactsRow) attention.Fact { return factOf(r, now) }), pg.Fault(wrap("list facts", err))
}

func factOf(r db.ListOpenFactsRow, now time.Time) attention.Fact {
	f := attention.Fact{
		Market: movement.Market{
			ID: protocol.MarketID(r.MarketID), Provider: protocol.Provider(r.Provider), Title: r.Title, Outcome: r.Outcome,
			Lane: protocol.Lane(r.Lane), EventKey: r.EventKey, EventTitle: r.EventTitle, Yes: convertInt[protocol.Bps](r.YesBps),
			PricedAt: pg.Value(r.PricedAt), Volume: r.VolumeUsd, Volume24h: r.Volume24h, Signals: r.Signals,
		},
		Slug: r.Slug, ImageURL: r.ImageURL, EndDate: r.EndDate, Callable: r.Callable, Signals24h: r.Signals24h, Takes24h: r.Takes24h,
	}
	for i, from := range []*int32{r.From15m, r.From1h, r.From6h, r.From24h} {
		f.From[i] = convertInt[protocol.Bps](from)
	}
	if r.InitialYesBps != nil { // a native market, which always has a price from its crowd
		yes := market.NativePrice(protocol.Bps(*r.InitialYesBps), r.CrowdYes, r.CrowdNo)
		f.Yes, f.PricedAt = &yes, now
	}
	return f
}

// ListSightings returns the stored sightings (markets and groups of markets that are listed as moving) and the time at which
// each was first seen.
func (s *Store) ListSightings(ctx context.Context) (map[attention.Sighting]time.Time, error) {
	rows, err := s.q.ListSightings(ctx)
	return indexed(rows, func(r db.MovementSighting) (attention.Sighting, time.Time) {
		return attention.Sighting{Kind: attention.Kind(r.Kind), Window: protocol.Window(r.Span), Key: r.Key}, r.SeenAt
	}), pg.Fault(wrap("list sightings", err))
}

// StoreSightings stores the sightings in seen, each with the time at which it was first seen, and deletes the sightings in
// ended. A sighting that is already stored does not change.
func (s *Store) StoreSightings(ctx context.Context, seen map[attention.Sighting]time.Time, ended []attention.Sighting) error {
	var p db.StoreSightingsParams
	for one, at := range seen {
		p.Kinds, p.Spans = append(p.Kinds, string(one.Kind)), append(p.Spans, string(one.Window))
		p.Keys, p.SeenAt = append(p.Keys, one.Key), append(p.SeenAt, at)
	}
	for _, one := range ended {
		p.OldKinds, p.OldSpans = append(p.OldKinds, string(one.Kind)), append(p.OldSpans, string(one.Window))
		p.OldKeys = append(p.OldKeys, one.Key)
	}
	return pg.Fault(wrap("store sightings", s.q.StoreSightings(ctx, p)))
}

// StoreMoves implements attention.Store.
func (s *Store) StoreMoves(ctx context.Context, moves map[protocol.MarketID]int, unknown []protocol.MarketID, all bool) error {
	p := db.StoreMarketMovesParams{Unknown: neverNil(texts(unknown)), AllOthers: all}
	for id, bps := range moves {
		p.IDs, p.ByMove = append(p.IDs, string(id)), append(p.ByMove, -float64(bps))
	}
	return pg.Fault(wrap("store moves", s.q.StoreMarketMoves(ctx, p)))
}

// ListAttention returns the attention score that each of the given markets had at the time at. A market without a stored
// score at that time is absent from the map.
func (s *Store) ListAttention(ctx context.Context, ids []protocol.MarketID, at time.Time) (map[protocol.MarketID]int, error) {
	rows, err := s.q.ListAttention(ctx, db.ListAttentionParams{IDs: texts(ids), At: at})
	return indexed(rows, func(r db.ListAttentionRow) (protocol.MarketID, int) {
			return protocol.MarketID(r.MarketID), int(r.Score)
		}),
		pg.Fault(wrap("list scores", err))
}

// ListAttentionHistory returns the attention score of a market at the time from and its later changes, oldest first. If
// there are more than limit points, it returns the newest limit points.
func (s *Store) ListAttentionHistory(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]attention.Point, error) {
	rows, err := s.rq.ListAttentionHistory(ctx, db.ListAttentionHistoryParams{MarketID: string(id), Since: from, Limit: int32(limit)})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list attention: %w", err))
	}
	slices.Reverse(rows)
	return pg.Collect(rows, func(r db.ListAttentionHistoryRow) attention.Point {
		return attention.Point{At: r.At, Score: int(r.Score)}
	}), nil
}

// StoreAttention adds a point to the history of each market whose score differs from its last stored score. Without a stored
// score, the last score counts as 0. StoreAttention returns the number of added points.
func (s *Store) StoreAttention(ctx context.Context, scores map[protocol.MarketID]int, at time.Time) (int, error) {
	p := db.StoreAttentionParams{At: at}
	for id, score := range scores {
		p.IDs, p.Scores = append(p.IDs, string(id)), append(p.Scores, int32(score))
	}
	n, err := s.q.StoreAttention(ctx, p)
	return int(n), pg.Fault(wrap("store scores", err))
}

const (
	// All attention scores of the last fineScores are stored. Of older scores, one in 15 minutes is stored, until the age
	// keepScores.
	fineScores = 24 * time.Hour
	keepScores = 7 * 24 * time.Hour
	// thinReach is the length of the period that ThinAttention thins. The period ends fineScores ago. Thinning runs every
	// hour, so scores before the period are already thinned.
	thinReach = 24 * time.Hour
	thinRows  = 20_000
)

// ThinAttention deletes attention scores older than 7 days. Of the scores that are 24 to 48 hours old, it leaves one in 15
// minutes for each market. Each statement deletes at most thinRows rows.
func (s *Store) ThinAttention(ctx context.Context, now time.Time) error {
	fine := now.Add(-fineScores)
	for _, step := range []func() (int64, error){
		func() (int64, error) {
			return s.q.DeleteOldAttention(ctx, db.DeleteOldAttentionParams{Before: now.Add(-keepScores), Limit: thinRows})
		},
		func() (int64, error) {
			return s.q.ThinAttention(ctx, db.ThinAttentionParams{Since: fine.Add(-thinReach), Before: fine, Limit: thinRows})
		},
	} {
		for {
			n, err := step()
			if err != nil {
				return pg.Fault(fmt.Errorf("thin attention: %w", err))
			}
			if n < thinRows {
				break
			}
		}
	}
	return nil
}
