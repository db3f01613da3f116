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

// ListHot returns markets of a provider whose price must be refreshed. These are markets with open calls, and the markets
// that end next in each lane of a programme. ListHot returns at most limit markets, oldest first, whose last record is older
// than the parameter before. It also returns at most fresh markets that never had a record. It omits a market that was
// requested since the time in the parameter failed, unless it has had a new record after that request.
func (s *Store) ListHot(ctx context.Context, p protocol.Provider, now, before, failed time.Time, limit, fresh int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListHotMarkets(ctx, db.ListHotMarketsParams{
		Provider: string(p), Now: now, PricedBefore: before, AskedBefore: failed, Most: int32(limit), MostNew: int32(fresh),
	})
	return marketIDs(ids), pg.Fault(wrap("list hot markets", err))
}

// ListMissed returns at most limit open markets of a provider for which the venue has returned no record since the time
// sweep. It omits markets that were requested since the time in the parameter failed. Markets with the oldest request or
// record come first.
func (s *Store) ListMissed(ctx context.Context, p protocol.Provider, sweep, failed time.Time, limit int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListMissedMarkets(ctx, db.ListMissedMarketsParams{
		Provider: string(p), SeenBefore: sweep, AskedBefore: failed, Limit: int32(limit),
	})
	return marketIDs(ids), pg.Fault(wrap("list missed markets", err))
}

// ListStreamed returns at most limit open markets of a provider whose prices are to be streamed. Markets with open calls
// come first, then the markets in the list viewed, then the markets that end next in each lane of a programme.
func (s *Store) ListStreamed(ctx context.Context, p protocol.Provider, now time.Time, viewed []protocol.MarketID, limit int) ([]market.Streamed, error) {
	rows, err := s.q.ListStreamedMarkets(ctx, db.ListStreamedMarketsParams{
		Provider: string(p), Now: now, Viewed: texts(viewed), Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListStreamedMarketsRow) market.Streamed {
		return market.Streamed{ID: protocol.MarketID(r.MarketID), Token: r.ClobTokenID, YesIndex: int(r.YesIndex)}
	}), pg.Fault(wrap("list streamed markets", err))
}

// ListAwaitingQuote returns at most limit open markets that need a second quote for their calls. The parameters named from
// and to limit the filing time of the calls: it must be later than from and not later than to. A market needs a quote if no
// stored quote is at least confirmAfter newer than the newest of these calls. Markets with the oldest call come first.
func (s *Store) ListAwaitingQuote(ctx context.Context, p protocol.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]protocol.MarketID, error) {
	ids, err := s.q.ListMarketsAwaitingQuote(ctx, db.ListMarketsAwaitingQuoteParams{
		Provider: string(p), FromTime: from, ToTime: to, ConfirmAfter: confirmAfter, Limit: int32(limit), Prefix: p.Prefix(),
	})
	return marketIDs(ids), pg.Fault(wrap("list markets awaiting a quote", err))
}

// MarkChecked stores now as the time of the last request to the venue for each of the given markets.
func (s *Store) MarkChecked(ctx context.Context, ids []protocol.MarketID, now time.Time) error {
	return pg.Fault(wrap("mark checks", s.q.MarkMarketsChecked(ctx, db.MarkMarketsCheckedParams{IDs: texts(ids), Now: now})))
}

// CloseNative closes the native markets whose cutoff has passed, and returns the number of closed markets.
func (s *Store) CloseNative(ctx context.Context, now time.Time) (int, error) {
	n, err := inParts(func() (int64, error) {
		row, err := s.q.CloseNativeMarkets(ctx, now)
		return row.Closed, err
	})
	return int(n), pg.Fault(wrap("close native markets", err))
}

// partSize is the largest number of rows that a statement called by inParts changes, so that it locks few rows at a time.
const partSize = 500

// inParts calls a statement that returns its number of changed rows, until it changes fewer than partSize, and returns their sum.
func inParts(change func() (int64, error)) (sum int64, err error) {
	for n := int64(partSize); n == partSize && err == nil; sum += n {
		n, err = change()
	}
	return sum, err
}

// ThinPrices deletes price snapshots that are older than the parameter before, except the last one of each market in each
// period of 15 minutes. It deletes at most limit rows and returns the number of deleted rows.
func (s *Store) ThinPrices(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.q.ThinSnapshots(ctx, db.ThinSnapshotsParams{Before: before, Limit: int32(limit)})
	return int(n), pg.Fault(wrap("thin prices", err))
}

// scanLock is the key of the PostgreSQL advisory lock that LockScan takes.
const scanLock int64 = 7201006

// LockScan takes the lock scanLock, calls the function do, and releases the lock. Therefore only one process at a time scans
// venues for outcomes. If another process holds the lock, LockScan does not call do and returns ok = false.
func (s *Store) LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error) {
	if ok, err = lease.Try(ctx, s.pool, scanLock, do); !ok {
		err = pg.Fault(wrap("lock scan", err))
	}
	return ok, err
}

// ListPending returns at most limit markets that have open calls and no outcome. The markets with the oldest check come
// first. ListPending stores now as the time of the last check of each returned market.
func (s *Store) ListPending(ctx context.Context, providers []protocol.Provider, now time.Time, limit int) ([]resolution.Pending, error) {
	rows, err := s.q.ClaimPendingMarkets(ctx, db.ClaimPendingMarketsParams{Providers: texts(providers), Now: now, Limit: int32(limit)})
	return pg.Collect(rows, pendingOf), pg.Fault(wrap("list pending markets", err))
}

// ListPendingDue is like ListPending, but returns only undisputed markets whose check is due. For a market that ends at or
// before the parameter edge, the check is due if its last record and its last check are not later than the parameter near.
// For other markets, the parameter far applies instead of near. The check is also due if the final verdict of the market was
// first seen at or before the parameter settled. Such markets come first.
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

// ListIdle returns at most limit closed and undisputed markets that have neither calls nor an outcome and whose check is due:
// pause or more after their last record and their last check, and later the longer the market is closed. The check is also due
// if the final verdict of the market was first seen at or before the parameter settled, and was not read since. ListIdle stores
// now as the time of the last check of each returned market.
func (s *Store) ListIdle(ctx context.Context, providers []protocol.Provider, now time.Time, pause time.Duration, settled time.Time, limit int) ([]resolution.Pending, error) {
	ids, err := s.q.ClaimIdleMarkets(ctx, db.ClaimIdleMarketsParams{
		Providers: texts(providers), Now: now, Pause: pause, FinalBefore: settled, Limit: int32(limit),
	})
	return pg.Collect(ids, func(id string) resolution.Pending {
		return resolution.Pending{ID: protocol.MarketID(id)}
	}), pg.Fault(wrap("list closed markets without calls", err))
}

func pendingOf(r db.ClaimPendingMarketsRow) resolution.Pending {
	return resolution.Pending{ID: protocol.MarketID(r.MarketID), Disputed: r.Disputed}
}
