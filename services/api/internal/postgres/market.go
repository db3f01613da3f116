package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// FindMarket returns the stored market with the given id. The second result is false if the market is not stored.
func (s *Store) FindMarket(ctx context.Context, id protocol.MarketID) (market.Market, bool, error) {
	row, err := s.rq.GetMarket(ctx, id)
	if err != nil {
		return market.Market{}, false, missing(err, nil, "read market")
	}
	return s.marketOf(row.MarketRecord), true, nil
}

// ListMarkets returns the stored markets among the given ids, in no particular order.
func (s *Store) ListMarkets(ctx context.Context, ids []string) ([]market.Market, error) {
	rows, err := s.rq.ListMarkets(ctx, ids)
	return pg.Collect(rows, func(r db.ListMarketsRow) market.Market {
		return s.marketOf(r.MarketRecord)
	}), pg.Fault(wrap("list markets", err))
}

// ListAirable returns the markets that a programme may include, earliest end date first. They are open, neither provisional
// nor disputed, and end more than ten minutes after now. The price of a venue market is at most ten minutes old. An empty
// lane selects every lane. A limit of 0 means no limit.
func (s *Store) ListAirable(ctx context.Context, now time.Time, lane protocol.Lane, limit int) ([]market.Market, error) {
	rows, err := s.q.ListAirableMarkets(ctx, db.ListAirableMarketsParams{Now: now, Lane: string(lane), Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListAirableMarketsRow) market.Market {
		return s.marketOf(r.MarketRecord)
	}), pg.Fault(wrap("list airable markets", err))
}

// ListPrices returns the price snapshots of a market since the time from, oldest first. If there are more than limit
// snapshots, it returns at most one for each of limit equal parts of the time span.
func (s *Store) ListPrices(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]market.Point, error) {
	rows, err := s.rq.ListPrices(ctx, db.ListPricesParams{MarketID: string(id), Since: from, Most: int32(limit)})
	return pg.Collect(rows, func(r db.ListPricesRow) market.Point {
		return market.Point{At: r.At, Yes: protocol.Bps(r.YesBps)}
	}), pg.Fault(wrap("list prices", err))
}

// ListTrends returns the prices of markets at the given number of times, a step apart and ending with now, oldest first.
func (s *Store) ListTrends(ctx context.Context, ids []string, now time.Time, step time.Duration, points int) ([]market.Trend, error) {
	rows, err := s.rq.ListTrends(ctx, db.ListTrendsParams{IDs: ids, Now: now, StepSeconds: int32(step.Seconds()), Points: int32(points)})
	var out []market.Trend
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].ID != r.MarketID {
			out = append(out, market.Trend{ID: r.MarketID})
		}
		t := &out[len(out)-1]
		t.Prices = append(t.Prices, protocol.Bps(r.YesBps))
	}
	return out, pg.Fault(wrap("list trends", err))
}

// ListNative returns at most limit native markets with the given status, newest first, each with its pending proposal if it
// has one. If due is true, it returns only markets whose cutoff has passed and that have no outcome.
func (s *Store) ListNative(ctx context.Context, status market.NativeStatus, due bool, limit int, now time.Time) ([]market.Native, error) {
	rows, err := s.rq.ListNativeMarkets(ctx, db.ListNativeMarketsParams{
		Status: string(status), Due: due, Now: now, AliveAfter: now.Add(-market.ProposalLife), Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListNativeMarketsRow) market.Native {
		n := market.Native{Market: s.marketOf(r.MarketRecord)}
		n.Market.Rated = false // native lists do not contain the flag
		if r.Verdict != nil && r.ProposedAt != nil {
			n.Proposal = &market.Proposal{Verdict: protocol.Verdict(*r.Verdict), ProofURL: r.ProofURL, At: *r.ProposedAt}
		}
		return n
	}), pg.Fault(wrap("list native markets", err))
}

// ListMarketStates returns, for each given market that is stored, its prices and the numbers of YES and NO calls of its crowd.
func (s *Store) ListMarketStates(ctx context.Context, ids []string) ([]feed.MarketState, error) {
	rows, err := s.q.ListMarketCrowds(ctx, ids)
	return pg.Collect(rows, func(r db.ListMarketCrowdsRow) feed.MarketState {
		return feed.MarketState{
			MarketID: r.MarketID, Lane: protocol.Lane(r.Lane), Yes: convertInt[int](r.YesBps), YesPrice: convertInt[int](r.YesPriceBps),
			NoPrice: convertInt[int](r.NoPriceBps), CrowdYes: r.CrowdYes, CrowdNo: r.CrowdNo,
		}
	}), pg.Fault(wrap("list market crowds", err))
}

// SetRated sets whether calls on a market count and adds an entry to the audit log. Errors: market_not_found, and
// already_resolved with the outcome.
func (s *Store) SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string, now time.Time) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		was, err := q.SetMarketRated(ctx, db.SetMarketRatedParams{MarketID: string(id), Rated: rated, Now: now})
		if err != nil {
			return missing(err, market.ErrNotFound, "set rated")
		}
		// A claim of an outcome also locks the market, so this statement sees a claim that the update above waited for. A
		// claimed outcome stores the flag, so a change after the claim has no effect.
		switch o, found, err := readClaimed(ctx, q, string(id)); {
		case err != nil:
			return err
		case found:
			return resolution.ErrResolved.With("outcome", o.Members())
		}
		return audit(ctx, q, now, "market.rated", string(id), map[string]any{"from": was, "to": rated, "reason": reason})
	})
}

func (s *Store) marketOf(r db.MarketRecord) market.Market {
	m := market.Market{
		ID: r.MarketID, Provider: r.Provider, Title: r.Title, Description: r.Description, EndDate: r.EndDate, Status: r.Status,
		Provisional: r.Provisional, Disputed: r.Disputed, ClosedAt: r.ClosedAt, ProvisionalAt: r.ProvisionalAt,
		FinalVerdict: r.FinalVerdict, FinalAt: r.FinalAt, FinalPayout: r.FinalPayout, Verdict: r.ResolutionValue,
		ClosePrice: r.ClosePrice, Lane: r.Lane, Category: r.Category, Slug: r.Slug, EventKey: r.EventKey, EventTitle: r.EventTitle,
		ConditionID: r.ConditionID, ClobTokenID: r.ClobTokenID, YesIndex: int(r.YesIndex), Outcomes: r.OutcomeLabels,
		ImageURL: r.ImageURL, URL: r.URL, VolumeUnit: r.VolumeUnit, Yes: r.YesBps, PricedAt: r.QuotedAt, Volume: r.Volume,
		VolumeUSD: r.VolumeUsd, Volume24h: r.Volume24h, Liquidity: r.Liquidity, FetchedAt: r.FetchedAt, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, RatedRuling: r.RatedRuling, Creator: r.Creator, ResolvesBy: r.ResolvesBy,
		ResolutionSource: r.ResolutionSource, InitialYes: r.InitialYesBps, CreatedBy: r.CreatedBy, YesCount: r.Yes, NoCount: r.No,
		CrowdYes: r.CrowdYes, CrowdNo: r.CrowdNo, Takes: r.Takes, Streams: r.Streams, Tapes: r.Tapes,
		YesPrice: r.YesPriceBps, NoPrice: r.NoPriceBps, SidesPricedAt: r.SidesQuotedAt,
	}
	m.Rated = m.RatedBy(s.rules.RatedMinVolumeUSD, s.rules.RatedCreators)
	return m
}

// KnownLanes implements lane.Store.
func (s *Store) KnownLanes(ctx context.Context, ids []string) (map[string]lane.Known, error) {
	rows, err := s.rq.ListKnownLanes(ctx, ids)
	return indexed(rows, func(r db.ListKnownLanesRow) (string, lane.Known) {
		return r.MarketID, lane.Known{Title: r.Title, Lane: protocol.Lane(r.Lane), Category: r.Category, Ruled: r.LaneRuled}
	}), pg.Fault(wrap("list known lanes", err))
}

// RuleLane implements lane.Store.
func (s *Store) RuleLane(ctx context.Context, id string, to protocol.Lane, place func(title string) string, now time.Time) (category string, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		was, err := q.LockMarketLane(ctx, id)
		if err != nil {
			return missing(err, market.ErrNotFound, "lock market")
		}
		category = place(was.Title)
		if err := q.SetMarketLane(ctx, db.SetMarketLaneParams{MarketID: id, Lane: string(to), Category: category, Now: now}); err != nil {
			return fmt.Errorf("set lane: %w", err)
		}
		return audit(ctx, q, now, "market.lane", id, map[string]any{
			"from": was.Lane, "to": to, "fromCategory": was.Category, "toCategory": category,
		})
	})
	return category, err
}

// LaneCounts implements lane.Store.
func (s *Store) LaneCounts(ctx context.Context) ([]lane.Count, error) {
	rows, err := s.rq.CountLanes(ctx)
	return pg.Collect(rows, func(r db.CountLanesRow) lane.Count {
		return lane.Count{Lane: protocol.Lane(r.Lane), Signals: r.Signals, Open: r.Open, Markets: r.Markets}
	}), pg.Fault(wrap("count lanes", err))
}

// ClaimUnconfirmed implements market.Store.
func (s *Store) ClaimUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]protocol.MarketID, error) {
	ids, err := s.q.ClaimUnconfirmedMarkets(ctx, db.ClaimUnconfirmedMarketsParams{Now: now, Before: before, Limit: int32(limit)})
	return marketIDs(ids), pg.Fault(wrap("claim unconfirmed markets", err))
}

// DenyUnconfirmed implements market.Store.
func (s *Store) DenyUnconfirmed(ctx context.Context, ids []protocol.MarketID, before, now time.Time) (int64, error) {
	n, err := s.q.DenyUnconfirmedSignals(ctx, db.DenyUnconfirmedSignalsParams{MarketIDs: neverNil(texts(ids)), Before: before, Now: now})
	return n, pg.Fault(wrap("void unconfirmed calls", err))
}

func marketIDs(ids []string) []protocol.MarketID {
	return pg.Collect(ids, func(id string) protocol.MarketID { return protocol.MarketID(id) })
}
