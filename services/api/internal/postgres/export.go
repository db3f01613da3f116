package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// pageTimeout is the timeout of RecordPage and PersonalRows.
const pageTimeout = 10 * time.Second

// RecordOwner implements export.Store.
func (s *Store) RecordOwner(ctx context.Context, handle string) (export.Owner, error) {
	o, err := s.rq.GetExportedOperator(ctx, handle)
	return export.Owner{
		ID: o.ID, PublicID: o.PublicID, Handle: o.Handle, DisplayName: o.DisplayName, OperatorType: string(o.OperatorType), Tier: o.Tier,
	}, missing(err, export.ErrUnknown, "read operator of a record")
}

// RecordPage implements export.Store.
func (s *Store) RecordPage(ctx context.Context, owner string, after export.Place, asOf time.Time, n int) ([]export.Call, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	if after.ID == "" {
		after.ID = "00000000-0000-0000-0000-000000000000"
	}
	var calls []export.Call
	err := inSnapshot(ctx, s.pool, "read record", func(tx pgx.Tx) error {
		q := db.New(tx)
		rows, err := q.ListExportedCalls(ctx, db.ListExportedCallsParams{
			UserID: owner, AfterAt: after.At, AfterID: after.ID, AsOf: asOf, Limit: int32(n),
		})
		if err != nil {
			return err
		}
		calls = pg.Collect(rows, exportedOf)
		return historiesOf(ctx, q, calls, asOf)
	})
	return calls, err
}

// exportedOf converts a database row to a call of an exported record. The row contains the status, the score and the result
// as of the time of the export.
func exportedOf(r db.ListExportedCallsRow) export.Call {
	c := export.Call{
		Record: recordOf(r.SignalRecord), Version: r.Version, Vertical: r.Vertical,
		InitialYes: convertInt[protocol.Bps](r.InitialYesBps), OwnMarket: r.OwnMarket,
		Quote:       quoteOf(r.QuoteYes, r.QuoteNo, r.SignalRecord.QuoteAt, r.QuoteRule, r.QuoteSha256),
		SecondQuote: quoteOf(r.SecondYes, r.SecondNo, r.ConfirmedAt, r.SecondRule, r.SecondSha256),
	}
	c.Status, c.Score, c.ResolvedAt = protocol.SignalStatus(r.Status), convertInt[int](r.Score), r.ResolvedAt
	c.Outcome, c.ClosePrice = (*protocol.Side)(r.Outcome), convertInt[protocol.Bps](r.ClosePrice)
	c.CLVBps, c.ScoredBps, c.Counted = convertInt[int](r.CLVBps), protocol.Bps(r.ScoredBps), r.Counted
	c.ConfirmedAt, c.Reason, c.ProviderID = r.ConfirmedAt, r.Reason, "" // a record does not contain the id of the provider
	if r.Claimed != nil {
		c.Resolution = &export.Resolution{
			Outcome: *r.Claimed, Resolver: pg.Value(r.Resolver), Source: pg.Value(r.ClaimSource), ProofURL: pg.Value(r.ProofURL),
			CloseAt: pg.Value(r.CloseAt), ClosePrice: convertInt[protocol.Bps](r.ClaimClose), ResolvedAt: pg.Value(r.ClaimedAt),
			Rated: pg.Value(r.ClaimRated), DecidedAt: r.DecidedAt, Disputed: r.Disputed,
		}
	}
	return c
}

// quoteOf returns the quote in the given columns, or nil if the time or a price is null.
func quoteOf(yes, no *int32, at *time.Time, rule *string, sha256 []byte) *market.Quote {
	if at == nil || yes == nil || no == nil {
		return nil
	}
	return &market.Quote{Yes: protocol.Bps(*yes), No: protocol.Bps(*no), At: *at, Rule: pg.Value(rule), SHA256: sha256}
}

// ConfirmAfter implements export.Store.
func (s *Store) ConfirmAfter() time.Duration { return s.rules.ConfirmAfter }

// historiesOf adds to each call its events that were stored until the time asOf. It reads the events of all calls in one
// statement.
func historiesOf(ctx context.Context, q *db.Queries, calls []export.Call, asOf time.Time) error {
	if len(calls) == 0 {
		return nil
	}
	ids, at := make([]string, len(calls)), make(map[string]*export.Call, len(calls))
	for i := range calls {
		ids[i], at[calls[i].ID] = calls[i].ID, &calls[i]
	}
	rows, err := q.ListEventsOfSignals(ctx, db.ListEventsOfSignalsParams{SignalIDs: ids, AsOf: asOf})
	for _, r := range rows {
		c := at[r.SignalID]
		c.Events = append(c.Events, signal.Event{ID: r.ID, Type: r.Type, Payload: r.Payload, Actor: r.Actor, CreatedAt: r.CreatedAt})
	}
	return err
}

// PriceTolerances implements export.Store.
func (s *Store) PriceTolerances(ctx context.Context) ([]export.Tolerance, error) {
	rows, err := s.rq.ListTolerances(ctx)
	return pg.Collect(rows, func(r db.PriceTolerance) export.Tolerance {
		return export.Tolerance{Since: r.Since, Bps: int(r.Bps)}
	}), pg.Fault(wrap("read price tolerances", err))
}

// PersonalRows implements export.Store.
func (s *Store) PersonalRows(ctx context.Context, owner, section, after string) ([]export.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	rows, err := s.q.ListPersonalRows(ctx, db.ListPersonalRowsParams{Section: section, UserID: owner, After: after, Limit: export.MaxRows})
	return pg.Collect(rows, func(r db.ListPersonalRowsRow) export.Row { return export.Row{Key: r.Key, JSON: r.Data} }),
		pg.Fault(wrap("read rows of an account", err))
}
