package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// pageTime is how long one page of a record may take.
const pageTime = 10 * time.Second

// RecordOwner implements export.Store.
func (s *Store) RecordOwner(ctx context.Context, handle string) (export.Owner, error) {
	o, err := s.rq.GetOwner(ctx, handle)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return export.Owner{}, export.ErrUnknown
	case err != nil:
		return export.Owner{}, pg.Fault(fmt.Errorf("read owner of a record: %w", err))
	}
	return export.Owner{
		ID: o.ID, PublicID: o.PublicID, Handle: o.Handle, DisplayName: o.DisplayName, OperatorType: string(o.OperatorType), Tier: o.Tier,
	}, nil
}

// RecordPage implements export.Store.
func (s *Store) RecordPage(ctx context.Context, owner string, behind export.Place, asOf time.Time, n int) ([]export.Call, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	if behind.ID == "" {
		behind.ID = "00000000-0000-0000-0000-000000000000"
	}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	q := db.New(tx)
	rows, err := q.ListExportedCalls(ctx, db.ListExportedCallsParams{
		UserID: owner, AfterAt: behind.At, AfterID: behind.ID, AsOf: asOf, Limit: int32(n),
	})
	calls := pg.Collect(rows, exportedOf)
	if err == nil {
		err = historiesOf(ctx, q, calls, asOf)
	}
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	return calls, nil
}

func exportedOf(r db.ListExportedCallsRow) export.Call {
	c := export.Call{
		Record: signal.Record{
			ID: r.ID, PublicID: r.PublicID, Handle: r.Handle, DisplayName: r.DisplayName, Tier: r.Tier, MarketID: r.MarketID,
			MarketTitle: r.MarketTitle, Lane: r.Lane, Side: sideOf(r.Yes), Price: r.PriceBps, CrowdYes: r.CrowdYesBps,
			Confidence: r.Confidence, TextTake: r.TextTake, Source: r.Source, TimeToResolution: r.TTR, CreatedAt: r.CreatedAt,
			Status: syntax.SignalStatus(r.Status), Score: convertInt[int](r.Score), ResolvedAt: r.ResolvedAt, Outcome: (*syntax.Side)(r.Outcome),
			ClosePrice: convertInt[syntax.Bps](r.ClosePrice), CLV: convertInt[int](r.CLVBps), Basis: syntax.Bps(r.ScoredBps),
			Verified: r.PriceVerified, Rated: r.Rated, Counted: r.Counted, MarketYes: r.MarketYesBps, ClosesAt: r.ClosesAt,
			QuoteAt: r.QuoteAt, ConfirmedAt: r.ConfirmedAt, Reason: pg.Value(r.Reason),
		},
		FilingBasis: syntax.Bps(r.ScoreBasisBps), Version: r.Version, Vertical: r.Vertical,
		InitialYes: convertInt[syntax.Bps](r.InitialYesBps), OwnMarket: r.OwnMarket,
		Quote:       quoteOf(r.QuoteYes, r.QuoteNo, r.QuoteAt, r.QuoteRule, r.QuoteSha256),
		SecondQuote: quoteOf(r.SecondYes, r.SecondNo, r.ConfirmedAt, r.SecondRule, r.SecondSha256),
	}
	if r.Claimed != nil {
		c.Resolution = &export.Resolution{
			Outcome: *r.Claimed, Resolver: pg.Value(r.Resolver), Source: pg.Value(r.ClaimSource), ProofURL: pg.Value(r.ProofURL),
			CloseAt: pg.Value(r.CloseAt), ClosePrice: convertInt[syntax.Bps](r.ClaimClose), ResolvedAt: pg.Value(r.ClaimedAt),
			Rated: pg.Value(r.ClaimRated), DecidedAt: r.DecidedAt, Disputed: r.Disputed,
		}
	}
	return c
}

// quoteOf returns a stored quote; without prices there is none.
func quoteOf(yes, no *int32, at *time.Time, rule *string, sha256 []byte) *market.Quote {
	if at == nil || yes == nil || no == nil {
		return nil
	}
	return &market.Quote{Yes: syntax.Bps(*yes), No: syntax.Bps(*no), At: *at, Rule: pg.Value(rule), SHA256: sha256}
}

// ConfirmAfter implements export.Store.
func (s *Store) ConfirmAfter() time.Duration { return s.rules.ConfirmAfter }

// historiesOf reads the events of all calls of a page at once.
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
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read price tolerances: %w", err))
	}
	return pg.Collect(rows, func(r db.PriceTolerance) export.Tolerance { return export.Tolerance{Since: r.Since, Bps: int(r.Bps)} }), nil
}

// noteTime is how long noting it may take; filings wait meanwhile.
const noteTime = 5 * time.Second

// noted remembers that the setting of this process is in the history.
type noted struct {
	mu   sync.Mutex
	done bool
}

// NoteTolerance writes the price tolerance into its history when it differs from the
// last one there. It is done once; every filing asks for it first, so that no call is
// filed under a tolerance that is not recorded. Fault: db_unavailable.
func (s *Store) NoteTolerance(ctx context.Context) error {
	s.noted.mu.Lock()
	defer s.noted.mu.Unlock()
	if s.noted.done {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		if err := q.LockTolerances(ctx); err != nil {
			return err
		}
		return q.NoteTolerance(ctx, db.NoteToleranceParams{
			Bps: int32(s.rules.PriceToleranceBps), Now: s.now().UTC().Truncate(time.Millisecond),
		})
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("note price tolerance: %w", err))
	}
	s.noted.done = true
	return nil
}
