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
	var snapYes *syntax.Bps
	var snapAt, closeAt, resolvedAt *time.Time
	var outcome, resolver, source, proof *string
	var res export.Resolution
	err := row.Scan(&c.ID, &c.PublicID, &c.Handle, &c.DisplayName, &c.Tier, &c.MarketID, &c.MarketTitle, &c.Lane, &yes, &c.Price,
		&c.CrowdYes, &c.Confidence, &c.TextTake, &c.Source, &c.TimeToResolution, &c.CreatedAt, &c.Status, &c.Score, &c.ResolvedAt,
		&c.Outcome, &c.ClosePrice, &c.CLV, &c.Basis, &c.Verified, &snapYes, &snapAt, &c.Version, &c.Vertical,
		&outcome, &resolver, &source, &proof, &closeAt, &res.ClosePrice, &resolvedAt, &res.Disputed)
	c.Side = sideOf(yes)
	if snapYes != nil {
		c.Snapshot = &export.Snapshot{Yes: *snapYes, At: *snapAt}
	}
	if outcome != nil {
		res.Outcome, res.Resolver, res.Source, res.ProofURL = *outcome, orEmpty(resolver), orEmpty(source), orEmpty(proof)
		res.CloseAt, res.ResolvedAt = *closeAt, *resolvedAt
		c.Resolution = &res
	}
	return c, err
}

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
