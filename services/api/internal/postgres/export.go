package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// pageTime is how long one page of a record may take.
const pageTime = 10 * time.Second

// RecordOwner implements export.Store.
func (s *Store) RecordOwner(ctx context.Context, handle string) (export.Owner, error) {
	var o export.Owner
	err := s.reads.QueryRow(ctx, query("export_owner"), handle).
		Scan(&o.ID, &o.PublicID, &o.Handle, &o.DisplayName, &o.OperatorType, &o.Tier)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return export.Owner{}, export.ErrUnknown
	case err != nil:
		return export.Owner{}, pg.Fault(fmt.Errorf("read owner of a record: %w", err))
	}
	return o, nil
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
	rows, err := tx.Query(ctx, query("export_calls"), owner, behind.At, behind.ID, asOf, n)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	calls, err := pgx.CollectRows(rows, scanCall)
	if err == nil {
		err = historiesOf(ctx, tx, calls, asOf)
	}
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	return calls, nil
}

func scanCall(row pgx.CollectableRow) (export.Call, error) {
	var c export.Call
	var yes bool
	var res export.Resolution
	var closeAt, resolvedAt *time.Time
	var outcome, resolver, source, proof, reason *string
	var rated *bool
	var first, second storedQuote
	err := row.Scan(&c.ID, &c.PublicID, &c.Handle, &c.DisplayName, &c.Tier, &c.MarketID, &c.MarketTitle, &c.Lane, &yes, &c.Price,
		&c.CrowdYes, &c.Confidence, &c.TextTake, &c.Source, &c.TimeToResolution, &c.CreatedAt, &c.Status, &c.Score, &c.ResolvedAt,
		&c.Outcome, &c.ClosePrice, &c.CLV, &c.Basis, &c.Verified, &c.Rated, &c.Counted, &c.MarketYes,
		&c.ClosesAt, &c.QuoteAt, &c.ConfirmedAt, &reason, &c.FilingBasis, &c.Version, &c.Vertical, &c.InitialYes, &c.OwnMarket,
		&first.yes, &first.no, &first.rule, &first.sha256, &second.yes, &second.no, &second.rule, &second.sha256,
		&outcome, &resolver, &source, &proof, &closeAt, &res.ClosePrice, &resolvedAt, &rated, &res.DecidedAt, &res.Disputed)
	c.Side, c.Reason = sideOf(yes), orEmpty(reason)
	c.Quote, c.SecondQuote = first.at(c.QuoteAt), second.at(c.ConfirmedAt)
	if outcome != nil {
		res.Outcome, res.Resolver, res.Source, res.ProofURL = *outcome, orEmpty(resolver), orEmpty(source), orEmpty(proof)
		res.CloseAt, res.ResolvedAt, res.Rated = *closeAt, *resolvedAt, *rated
		c.Resolution = &res
	}
	return c, err
}

// storedQuote is a row of quotes; without prices there is none.
type storedQuote struct {
	yes, no *syntax.Bps
	rule    *string
	sha256  []byte
}

func (q *storedQuote) at(t *time.Time) *market.Quote {
	if t == nil || q.yes == nil || q.no == nil {
		return nil
	}
	return &market.Quote{Yes: *q.yes, No: *q.no, At: *t, Rule: orEmpty(q.rule), SHA256: q.sha256}
}

// ConfirmAfter implements export.Store.
func (s *Store) ConfirmAfter() time.Duration { return s.rules.ConfirmAfter }

// historiesOf reads the events of all calls of a page at once.
func historiesOf(ctx context.Context, tx pgx.Tx, calls []export.Call, asOf time.Time) error {
	if len(calls) == 0 {
		return nil
	}
	ids, at := make([]string, len(calls)), make(map[string]*export.Call, len(calls))
	for i := range calls {
		ids[i], at[calls[i].ID] = calls[i].ID, &calls[i]
	}
	rows, err := tx.Query(ctx, query("export_events"), ids, asOf)
	if err != nil {
		return err
	}
	var id string
	var e signal.Event
	_, err = pgx.ForEachRow(rows, []any{&id, &e.ID, &e.Type, &e.Payload, &e.Actor, &e.CreatedAt}, func() error {
		if c := at[id]; c != nil {
			c.Events = append(c.Events, e)
		}
		e.Actor = nil
		return nil
	})
	return err
}
