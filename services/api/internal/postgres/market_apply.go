package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// applyBatch is the largest number of markets that one transaction of ApplyRecords updates and locks.
const applyBatch = 500

// ApplyRecords stores market records that venues returned, in transactions of at most applyBatch records. It returns the
// number of records that were newer than the stored markets, and ignores the other records. If every is true, it stores each
// price of an open market as a snapshot. Otherwise, a market without calls gets at most one snapshot in 15 minutes.
func (s *Store) ApplyRecords(ctx context.Context, records []market.Record, every bool, now time.Time) (int, error) {
	newer := 0
	for part := range slices.Chunk(records, applyBatch) {
		n, err := s.applyBatch(ctx, part, every, now)
		if err != nil {
			return newer, err
		}
		newer += n
	}
	return newer, nil
}

func (s *Store) applyBatch(ctx context.Context, records []market.Record, every bool, now time.Time) (newer int, err error) {
	byID := make(map[string]*market.Record, len(records))
	quotes := db.StoreQuotesParams{Now: now}
	for i := range records {
		r := &records[i]
		byID[string(r.ID)] = r
		addQuote(&quotes, r, now)
	}
	var moved []string
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		rows, err := q.StoreQuotes(ctx, quotes)
		if err != nil {
			return fmt.Errorf("write quotes: %w", err)
		}
		if newer = len(rows); newer == 0 {
			return nil
		}
		ids := make([]string, len(rows))
		moved = moved[:0]
		for i, r := range rows {
			if ids[i] = r.MarketID; r.Moved {
				moved = append(moved, r.MarketID)
			}
		}
		return storeMarkets(ctx, q, byID, ids, every, now)
	})
	if err == nil {
		s.notifyMoved(ctx, moved)
	}
	return newer, err
}

// OnMoved sets the function that is called after a commit with the ids of the markets of venues whose prices changed in it, at
// most applyBatch. It must be called before the store is used.
func (s *Store) OnMoved(do func(ctx context.Context, ids []string)) { s.onMoved = do }

func (s *Store) notifyMoved(ctx context.Context, ids []string) {
	if s.onMoved == nil {
		return
	}
	for part := range slices.Chunk(ids, applyBatch) {
		s.onMoved(ctx, part)
	}
}

// storeMarkets stores the markets and price snapshots of the records with the given ids, and publishes the unconfirmed calls
// on these markets. The transaction must already hold the locks on the quotes of these markets, so that other writers of the
// same markets wait.
func storeMarkets(ctx context.Context, q *db.Queries, byID map[string]*market.Record, ids []string, every bool, now time.Time) error {
	markets := db.StoreMarketsParams{Now: now}
	prices := db.InsertSnapshotsParams{Every: every}
	for _, id := range ids {
		r := byID[id]
		addMarket(&markets, r)
		if r.Status == protocol.MarketOpen && r.Yes != nil {
			prices.MarketIDs, prices.At = append(prices.MarketIDs, id), append(prices.At, r.FetchedAt)
			prices.YesBps = append(prices.YesBps, convertInt[int32](r.Yes))
		}
	}
	if err := q.StoreMarkets(ctx, markets); err != nil {
		return fmt.Errorf("write markets: %w", err)
	}
	if err := q.PublishUnconfirmedSignals(ctx, db.PublishUnconfirmedSignalsParams{MarketIDs: ids, Now: now}); err != nil {
		return fmt.Errorf("publish unconfirmed calls: %w", err)
	}
	if len(prices.MarketIDs) == 0 {
		return nil
	}
	return wrap("write snapshots", q.InsertSnapshots(ctx, prices))
}

func addQuote(p *db.StoreQuotesParams, r *market.Record, now time.Time) {
	p.MarketIDs, p.At, p.YesBps = append(p.MarketIDs, string(r.ID)), append(p.At, r.FetchedAt), append(p.YesBps, convertInt[int32](r.Yes))
	p.Volume, p.VolumeUsd = append(p.Volume, r.Volume), append(p.VolumeUsd, r.VolumeUSD)
	p.Volume24h, p.Liquidity = append(p.Volume24h, r.Volume24h), append(p.Liquidity, r.Liquidity)
	p.Open = append(p.Open, r.Status == protocol.MarketOpen)
	yes, no, at, rule, sha := quoteColumns(r.Quote, now)
	p.YesPriceBps, p.NoPriceBps, p.QuotedAt = append(p.YesPriceBps, yes), append(p.NoPriceBps, no), append(p.QuotedAt, at)
	p.QuoteRule, p.QuoteSha256 = append(p.QuoteRule, rule), append(p.QuoteSha256, sha)
}

// quoteColumns returns the database columns of a quote. They are all nil if q is nil, a price of q is outside 1 to 9999 bps,
// or q has no time.
func quoteColumns(q *market.Quote, now time.Time) (yes, no *int32, at *time.Time, rule *string, sha []byte) {
	if q = q.Clean(now); q == nil {
		return nil, nil, nil, nil, nil
	}
	return convertInt[int32](&q.Yes), convertInt[int32](&q.No), &q.At, &q.Rule, q.SHA256
}

// labelBreak separates the two outcome labels of a market in one element of an SQL text array.
const labelBreak = "\x1f"

func addMarket(p *db.StoreMarketsParams, r *market.Record) {
	p.MarketIDs, p.At, p.Provider = append(p.MarketIDs, string(r.ID)), append(p.At, r.FetchedAt), append(p.Provider, string(r.ID.Provider()))
	p.Title, p.Description = append(p.Title, r.Title), append(p.Description, r.Description)
	p.Status, p.Provisional = append(p.Status, string(r.Status)), append(p.Provisional, r.Provisional)
	p.EndDate, p.FinalVerdict = append(p.EndDate, r.EndDate), append(p.FinalVerdict, (*string)(r.Verdict))
	p.FinalPayout = append(p.FinalPayout, r.Payout)
	p.Lane, p.Category, p.Slug = append(p.Lane, string(r.Lane)), append(p.Category, r.Category), append(p.Slug, r.Slug)
	p.EventKey, p.EventTitle = append(p.EventKey, r.EventKey), append(p.EventTitle, r.EventTitle)
	p.ConditionID, p.ClobTokenID = append(p.ConditionID, r.ConditionID), append(p.ClobTokenID, r.ClobTokenID)
	p.YesIndex, p.Labels = append(p.YesIndex, int16(r.YesIndex)), append(p.Labels, strings.Join(r.Outcomes, labelBreak))
	p.ImageURL, p.URL, p.VolumeUnit = append(p.ImageURL, r.ImageURL), append(p.URL, r.URL), append(p.VolumeUnit, r.VolumeUnit)
	p.Short, p.Guessed = append(p.Short, r.Short), append(p.Guessed, r.Guessed)
	p.Creator, p.Closed = append(p.Creator, r.Creator), append(p.Closed, r.ClosedAt)
}

// ApplyTicks stores streamed prices, at most one for each market. It returns the number of prices that were newer than the
// stored prices; other prices are ignored.
func (s *Store) ApplyTicks(ctx context.Context, ticks []market.Tick) (int, error) {
	p := db.StoreTicksParams{Now: s.now().UTC().Truncate(time.Millisecond)}
	for _, t := range ticks {
		p.MarketIDs, p.At, p.YesBps = append(p.MarketIDs, string(t.ID)), append(p.At, t.At), append(p.YesBps, int32(t.Yes))
		yes, no, at, rule, _ := quoteColumns(t.Quote, p.Now)
		p.YesPriceBps, p.NoPriceBps = append(p.YesPriceBps, yes), append(p.NoPriceBps, no)
		p.QuotedAt, p.QuoteRule = append(p.QuotedAt, at), append(p.QuoteRule, rule)
	}
	r, err := s.q.StoreTicks(ctx, p)
	if err == nil {
		s.notifyMoved(ctx, r.Moved)
	}
	return int(r.Newer), pg.Fault(wrap("store streamed prices", err))
}

// InsertStub stores a market that its venue has not confirmed yet, so that an operator can file a call on it. The title of
// the market is its id. A market that is already stored does not change. stored is false, and nothing is written, if the
// operator already has market.MaxUnconfirmed calls on unconfirmed markets.
func (s *Store) InsertStub(ctx context.Context, id protocol.MarketID, operator string, now time.Time) (stored bool, err error) {
	waiting, err := s.q.CountUnconfirmedSignals(ctx, operator)
	if err != nil {
		return false, pg.Fault(fmt.Errorf("count unconfirmed calls: %w", err))
	}
	if waiting >= market.MaxUnconfirmed {
		return false, nil
	}
	return true, insertStub(ctx, s.q, id, now)
}

func insertStub(ctx context.Context, q *db.Queries, id protocol.MarketID, now time.Time) error {
	err := q.InsertStub(ctx, db.InsertStubParams{MarketID: string(id), Provider: string(id.Provider()), Now: now})
	return pg.Fault(wrap("insert stub", err))
}

// InsertNative stores a native market with its first quote and its first price snapshot.
func (s *Store) InsertNative(ctx context.Context, m market.Market) error {
	return pg.Fault(wrap("insert native market", insertNative(ctx, s.q, m)))
}

func insertNative(ctx context.Context, q *db.Queries, m market.Market) error {
	return q.InsertNativeMarket(ctx, db.InsertNativeMarketParams{
		MarketID: string(m.ID), Title: m.Title, Description: m.Description, EndDate: m.EndDate, Lane: string(m.Lane),
		Category: m.Category, ResolvesBy: m.ResolvesBy, ResolutionSource: m.ResolutionSource, InitialYesBps: convertInt[int32](m.InitialYes),
		CreatedBy: m.CreatedBy, CreatedAt: m.CreatedAt,
	})
}
