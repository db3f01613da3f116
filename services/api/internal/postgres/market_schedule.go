package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/lease"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// ListHot returns markets whose price is due because it was not refreshed since before, the oldest first, at most
// limit. It then adds at most fresh markets that never had an answer. It omits markets that were requested since failed
// without an answer.
func (s *Store) ListHot(ctx context.Context, p protocol.Provider, now, before, failed time.Time, limit, fresh int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListHotMarkets(ctx, db.ListHotMarketsParams{
		Provider: string(p), Now: now, PricedBefore: before, AskedBefore: failed, Most: int32(limit), MostNew: int32(fresh),
	})
	return marketIDs(ids), pg.Fault(wrap("list hot markets", err))
}

// ListMissed returns open markets without an answer since sweep, except those that were requested since failed.
func (s *Store) ListMissed(ctx context.Context, p protocol.Provider, sweep, failed time.Time, limit int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListMissedMarkets(ctx, db.ListMissedMarketsParams{
		Provider: string(p), SeenBefore: sweep, AskedBefore: failed, Limit: int32(limit),
	})
	return marketIDs(ids), pg.Fault(wrap("list missed markets", err))
}

// ListStreamed returns the open markets whose price is streamed, at most limit: first those with open calls, then
// viewed, then those in a programme soon.
func (s *Store) ListStreamed(ctx context.Context, p protocol.Provider, now time.Time, viewed []protocol.MarketID, limit int) ([]market.Streamed, error) {
	rows, err := s.q.ListStreamedMarkets(ctx, db.ListStreamedMarketsParams{
		Provider: string(p), Now: now, Viewed: texts(viewed), Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListStreamedMarketsRow) market.Streamed {
		return market.Streamed{ID: protocol.MarketID(r.MarketID), Token: r.ClobTokenID, YesIndex: int(r.YesIndex)}
	}), pg.Fault(wrap("list streamed markets", err))
}

// ListAwaitingQuote returns the open markets with calls filed after from and not after to that have no quote dated at
// least confirmAfter after the newest of these calls, at most limit. Markets with the oldest call come first.
func (s *Store) ListAwaitingQuote(ctx context.Context, p protocol.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListMarketsAwaitingQuote(ctx, db.ListMarketsAwaitingQuoteParams{
		Provider: string(p), FromTime: from, ToTime: to, ConfirmAfter: confirmAfter, Limit: int32(limit), Prefix: p.Prefix(),
	})
	return marketIDs(ids), pg.Fault(wrap("list markets awaiting a quote", err))
}

// MarkChecked stores the time at which markets were requested.
func (s *Store) MarkChecked(ctx context.Context, ids []protocol.MarketID, now time.Time) error {
	return pg.Fault(wrap("mark checks", s.q.MarkMarketsChecked(ctx, db.MarkMarketsCheckedParams{IDs: texts(ids), Now: now})))
}

// CloseNative closes native markets whose cutoff has passed and returns their number.
func (s *Store) CloseNative(ctx context.Context, now time.Time) (int, error) {
	row, err := s.q.CloseNativeMarkets(ctx, now)
	return int(row.Closed), pg.Fault(wrap("close native markets", err))
}

// ThinPrices thins snapshots before a time to one in 15 minutes. It deletes at most limit rows and returns their
// number.
func (s *Store) ThinPrices(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.q.ThinSnapshots(ctx, db.ThinSnapshotsParams{Before: before, Limit: int32(limit)})
	return int(n), pg.Fault(wrap("thin prices", err))
}

// scanLock is the advisory lock of a scan.
const scanLock int64 = 7201006

// LockScan runs do while this process has the lock of the scan. ok is false if another process has it.
func (s *Store) LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error) {
	if ok, err = lease.Try(ctx, s.pool, scanLock, do); !ok {
		err = pg.Fault(wrap("lock scan", err))
	}
	return ok, err
}

// ListPending returns markets with open calls and no outcome, the oldest check first, and stores the time of the check.
func (s *Store) ListPending(ctx context.Context, providers []protocol.Provider, now time.Time, limit int) ([]resolution.Pending, error) {
	rows, err := s.q.ClaimPendingMarkets(ctx, db.ClaimPendingMarketsParams{Providers: texts(providers), Now: now, Limit: int32(limit)})
	return pg.Collect(rows, pendingOf), pg.Fault(wrap("list pending markets", err))
}

// ListPendingDue is ListPending for the markets that the poll must read.
func (s *Store) ListPendingDue(ctx context.Context, providers []protocol.Provider,
	now, edge, near, far, settled time.Time, limit int,
) ([]resolution.Pending, error) {
	rows, err := s.q.ClaimDueMarkets(ctx, db.ClaimDueMarketsParams{
		Providers: texts(providers), Now: now, EndingBefore: edge, NearBefore: near, FarBefore: far, FinalBefore: settled,
		Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ClaimDueMarketsRow) resolution.Pending {
		return pendingOf(db.ClaimPendingMarketsRow(r))
	}), pg.Fault(wrap("list due markets", err))
}

func pendingOf(r db.ClaimPendingMarketsRow) resolution.Pending {
	return resolution.Pending{ID: protocol.MarketID(r.MarketID), Disputed: r.Disputed}
}
