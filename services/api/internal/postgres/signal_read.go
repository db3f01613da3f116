package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// GetSignal returns one call by id. Error: not_found.
func (s *Store) GetSignal(ctx context.Context, id string) (signal.Record, error) {
	row, err := s.rq.GetSignal(ctx, id)
	return recordOf(db.SignalRecord(row)), missing(err, signal.ErrNotFound, "read signal")
}

// ListSignalFeed returns at most limit calls of the feed signal.Open, signal.BeatCrowd or signal.Recent, newest first. A
// category that is not empty limits the feed signal.Recent to calls on markets of that category; the other feeds ignore it.
func (s *Store) ListSignalFeed(ctx context.Context, feed signal.FeedType, category string, limit int, now time.Time) (list []signal.Record, err error) {
	switch {
	case feed == signal.Open:
		rows, failed := s.rq.ListOpenSignals(ctx, db.ListOpenSignalsParams{Limit: int32(limit), Now: now})
		list, err = pg.Collect(rows, openOf), failed
	case feed == signal.BeatCrowd:
		rows, failed := s.rq.ListSignalsAgainstCrowd(ctx, int32(limit))
		list, err = pg.Collect(rows, recordOf), failed
	case category != "":
		rows, failed := s.rq.ListSignalsOfCategory(ctx, db.ListSignalsOfCategoryParams{Limit: int32(limit), Category: category})
		list, err = pg.Collect(rows, recordOf), failed
	default:
		rows, failed := s.rq.ListRecentSignals(ctx, int32(limit))
		list, err = pg.Collect(rows, recordOf), failed
	}
	return list, pg.Fault(wrap("list signals", err))
}

// place is a position in a list of calls. The list is sorted from the newest call to the oldest.
type place struct {
	at time.Time
	id string
}

// Positions at the ends of a list of calls. newestPlace is before every call, and oldestPlace is after every call.
var (
	newestPlace = place{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	oldestPlace = place{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "00000000-0000-0000-0000-000000000000"}
)

// placeAt returns the position that a cursor contains. For an empty or invalid cursor it returns newestPlace.
func placeAt(c protocol.Cursor) place {
	if t, ok := c.Time(0); ok && isUUID(c.ID) {
		return place{t, c.ID}
	}
	return newestPlace
}

func (p place) cursor() string { return protocol.NewCursor(p.id, protocol.TimeKey(p.at)).Encode() }

// isUUID reports whether s is a UUID in canonical form. An invalid id in a forged cursor would cause a database error.
func isUUID(s string) bool {
	_, err := uuid.Parse(s) // uuid.Parse also accepts other forms
	return err == nil && len(s) == 36
}

// ListLedger returns at most limit calls on a market, newest first, starting after a cursor, and the number of calls for
// each side.
func (s *Store) ListLedger(ctx context.Context, marketID string, limit int, after protocol.Cursor) (signal.Ledger, error) {
	totals, err := s.marketTotals(ctx, marketID)
	if err != nil {
		return signal.Ledger{}, err
	}
	l := signal.Ledger{Yes: totals.Yes, No: totals.No}
	from := placeAt(after)
	rows, err := s.rq.ListSignalsOfMarket(ctx, db.ListSignalsOfMarketParams{
		MarketID: marketID, BeforeAt: from.at, BeforeID: from.id, Limit: int32(limit),
	})
	if err != nil {
		return signal.Ledger{}, pg.Fault(fmt.Errorf("list signals of market: %w", err))
	}
	l.Signals = pg.Collect(rows, func(r db.ListSignalsOfMarketRow) signal.Record { return listedOf(r.ListedRecord, r.MarketLane) })
	if len(l.Signals) == limit {
		last := l.Signals[limit-1]
		l.Next = place{last.CreatedAt, last.ID}.cursor()
	}
	return l, nil
}

// ListCallers implements signal.Store.
func (s *Store) ListCallers(ctx context.Context, marketID, after string, limit int) ([]string, error) {
	ids, err := s.rq.ListCallers(ctx, db.ListCallersParams{MarketID: marketID, After: after, Limit: int32(limit)})
	return ids, pg.Fault(wrap("list callers of market", err))
}

// CountCalls implements signal.Store.
func (s *Store) CountCalls(ctx context.Context, operatorIDs []string) (map[string]int64, error) {
	rows, err := s.rq.ListCallTotals(ctx, neverNil(operatorIDs))
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.UserID] = r.Total
	}
	return out, pg.Fault(wrap("count calls", err))
}

// ListClosingMarkets implements signal.Store.
func (s *Store) ListClosingMarkets(ctx context.Context, operatorIDs, marketIDs []string, now, before time.Time) ([]signal.Closing, error) {
	rows, err := s.rq.ListClosingMarkets(ctx, db.ListClosingMarketsParams{
		Now: now, Before: before, UserIDs: neverNil(operatorIDs), MarketIDs: neverNil(marketIDs),
	})
	return pg.Collect(rows, func(r db.ListClosingMarketsRow) signal.Closing {
		return signal.Closing{MarketID: r.MarketID, Operator: r.OperatorID}
	}), pg.Fault(wrap("list closing markets", err))
}

// marketTotals returns the counters of the calls on a market. They are zero for a market without a call.
func (s *Store) marketTotals(ctx context.Context, marketID string) (db.GetMarketTotalsRow, error) {
	totals, err := s.rq.GetMarketTotals(ctx, marketID)
	return totals, missing(err, nil, "read market totals")
}

// GetCrowd returns the crowd of a market, from the stored counters. If operatorID is not empty, the result includes the call
// of that operator, if there is one. If the crowd has at least minTopSample calls, the result can include the consensus of
// top forecasters.
func (s *Store) GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (signal.Crowd, error) {
	totals, err := s.marketTotals(ctx, marketID)
	if err != nil {
		return signal.Crowd{}, err
	}
	c := signal.Crowd{UpdatedAt: now.UTC(), Yes: totals.CrowdYes, No: totals.CrowdNo}
	if c.Yes+c.No >= minTopSample {
		if err := s.topCrowd(ctx, marketID, &c); err != nil {
			return signal.Crowd{}, err
		}
	}
	if operatorID == "" {
		return c, nil
	}
	row, err := s.rq.GetSignalOfOperator(ctx, db.GetSignalOfOperatorParams{MarketID: marketID, UserID: operatorID})
	if err != nil {
		return c, missing(err, nil, "read own signal")
	}
	own := ownOf(row)
	c.Own = &own
	return c, nil
}

// minTopSample is the minimum number of top forecasters on a market for which their consensus is shown.
const minTopSample = 3

func (s *Store) topCrowd(ctx context.Context, marketID string, c *signal.Crowd) error {
	cut, err := s.topCut(ctx)
	if err != nil || cut == nil {
		return err
	}
	top, err := s.rq.CountTopCrowd(ctx, db.CountTopCrowdParams{MarketID: marketID, Mean: cut.Mean, Counted: cut.Counted, CutUser: cut.UserID})
	if err != nil {
		return pg.Fault(fmt.Errorf("read top forecasters: %w", err))
	}
	if top.N >= minTopSample {
		percent := int((200*top.Yes + top.N) / (2 * top.N))
		c.TopYesPercent, c.TopSample = &percent, int(top.N)
	}
	return nil
}

// ListCalls implements signal.Store.
func (s *Store) ListCalls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error) {
	from, to, more := placeAt(q.After), oldestPlace, false
	if q.Lane != "" || len(q.Statuses) > 0 || q.ResolvedAfter != nil { // otherwise every call matches and the search needs no limit
		var err error
		if to, more, err = s.windowEnd(ctx, q, from); err != nil {
			return signal.CallPage{}, err
		}
	}
	if q.CreatedAfter != nil && to.at.Before(*q.CreatedAfter) {
		to, more = place{q.CreatedAfter.Add(time.Microsecond), oldestPlace.id}, false
	}
	signals, err := s.callsBetween(ctx, q, from, to)
	if err != nil {
		return signal.CallPage{}, pg.Fault(fmt.Errorf("list signals: %w", err))
	}
	p := signal.CallPage{Signals: signals}
	switch n := len(p.Signals); {
	case n == q.Limit && n > 0:
		last := p.Signals[n-1]
		p.Next = place{last.CreatedAt, last.ID}.cursor()
	case more:
		p.Next = to.cursor()
	}
	return p, nil
}

// windowEnd returns the position at which a filtered list stops its search. It is signal.MaxLook calls after the position
// from, and more is then true, because later calls may exist. If fewer calls are left, windowEnd returns oldestPlace and
// false.
func (s *Store) windowEnd(ctx context.Context, q signal.CallQuery, from place) (end place, more bool, err error) {
	p := db.FindWindowEndParams{BeforeAt: from.at, BeforeID: from.id, Most: signal.MaxLook}
	var row db.FindWindowEndRow
	switch {
	case q.MarketID != "":
		var r db.FindWindowEndOfMarketRow
		r, err = s.rq.FindWindowEndOfMarket(ctx, db.FindWindowEndOfMarketParams{
			BeforeAt: p.BeforeAt, BeforeID: p.BeforeID, Most: p.Most, MarketID: q.MarketID,
		})
		row = db.FindWindowEndRow(r)
	case q.Handle != "":
		var r db.FindWindowEndOfOperatorRow
		r, err = s.rq.FindWindowEndOfOperator(ctx, db.FindWindowEndOfOperatorParams{
			BeforeAt: p.BeforeAt, BeforeID: p.BeforeID, Most: p.Most, Handle: q.Handle,
		})
		row = db.FindWindowEndRow(r)
	default:
		row, err = s.rq.FindWindowEnd(ctx, p)
	}
	if err != nil {
		return oldestPlace, false, missing(err, nil, "find end of window")
	}
	return place{row.CreatedAt, row.ID}, true, nil
}

func (s *Store) callsBetween(ctx context.Context, q signal.CallQuery, from, to place) ([]signal.Record, error) {
	p := db.ListSignalsParams{
		BeforeAt: from.at, BeforeID: from.id, ToAt: to.at, ToID: to.id, Lane: q.Lane, Statuses: make([]string, len(q.Statuses)),
		Handle: q.Handle, Limit: int32(q.Limit), ResolvedAfter: q.ResolvedAfter,
	}
	for i, status := range q.Statuses {
		p.Statuses[i] = string(status)
	}
	switch {
	case q.Own:
		rows, err := s.rq.ListFiledSignalsOfOperator(ctx, db.ListFiledSignalsOfOperatorParams(p))
		return pg.Collect(rows, ownOf), err
	case q.MarketID != "":
		rows, err := s.rq.ListFilteredSignalsOfMarket(ctx, db.ListFilteredSignalsOfMarketParams{
			BeforeAt: p.BeforeAt, BeforeID: p.BeforeID, ToAt: p.ToAt, ToID: p.ToID, Lane: p.Lane, Statuses: p.Statuses,
			Handle: p.Handle, MarketID: q.MarketID, Limit: p.Limit, ResolvedAfter: p.ResolvedAfter,
		})
		return pg.Collect(rows, recordOf), err
	case q.Handle != "":
		rows, err := s.rq.ListSignalsOfOperator(ctx, db.ListSignalsOfOperatorParams(p))
		return pg.Collect(rows, recordOf), err
	}
	rows, err := s.rq.ListSignals(ctx, p)
	return pg.Collect(rows, recordOf), err
}

// recordOf converts a row of the database view signal_records.
func recordOf(v db.SignalRecord) signal.Record { return signal.Record{Row: signal.Row(v)} }

// ownOf converts a row of the database view filed_records to a call that its own operator reads. Unconfirmed of the result
// is always false.
func ownOf(v db.FiledRecord) signal.Record {
	v.Unconfirmed = false
	return recordOf(db.SignalRecord(v))
}

// listedOf converts a row of the database view listed_records, which has no lane. lane is the lane of the call's market.
func listedOf(v db.ListedRecord, lane string) signal.Record {
	r := recordOf(db.SignalRecord(v))
	r.Lane = protocol.Lane(lane)
	return r
}

// openOf converts a call on an open market. It adds the price of the market and the price change since the call, if the
// price is known.
func openOf(v db.ListOpenSignalsRow) signal.Record {
	r := listedOf(v.ListedRecord, v.MarketLane)
	if r.LiveYes = convertInt[protocol.Bps](v.Live); r.LiveYes != nil {
		move := signal.Move(r.Side(), r.PriceBps, *r.LiveYes)
		r.Move = &move
	}
	return r
}
