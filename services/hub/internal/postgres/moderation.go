package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

// Moderation keeps decisions about applications, and reports.
type Moderation struct{ *Store }

// Moderation is the store of package moderation.
func (s *Store) Moderation() *Moderation { return &Moderation{s} }

// Decide implements moderation.Store.
func (s *Moderation) Decide(ctx context.Context, d moderation.Decision) (moderation.Decision, error) {
	if uuid.Validate(d.ID) != nil {
		return d, moderation.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err := pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		var original []byte
		err := tx.QueryRow(ctx, query("moderation_app"), d.ID, d.Hidden, d.Reason, d.By, d.At).Scan(&original)
		if errors.Is(err, pgx.ErrNoRows) {
			return moderation.ErrNotFound
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, query("moderation_app_apply"), d.ID, string(original))
		return err
	})
	if err != nil {
		return d, fmt.Errorf("moderate app: %w", err)
	}
	return d, nil
}

// Find implements moderation.Store.
func (s *Moderation) Find(ctx context.Context, _, id string) error {
	if uuid.Validate(id) != nil {
		return moderation.ErrNotFound
	}
	rows, err := s.read.Query(ctx, query("app_find"), id)
	if err != nil {
		return fmt.Errorf("find app: %w", err)
	}
	found := rows.Next()
	rows.Close()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("find app: %w", err)
	}
	if !found {
		return moderation.ErrNotFound
	}
	return nil
}

// List implements moderation.Store.
func (s *Moderation) List(ctx context.Context, limit int) ([]moderation.Decision, error) {
	rows, err := s.read.Query(ctx, query("moderation_app_list"), limit)
	if err != nil {
		return nil, fmt.Errorf("list moderated apps: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[moderation.Decision])
	if err != nil {
		return nil, fmt.Errorf("list moderated apps: %w", err)
	}
	return list, nil
}

// AddReport implements moderation.Reports.
func (s *Moderation) AddReport(ctx context.Context, r moderation.Report, since time.Time, most int) (added bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err = pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("report_lock"), string(r.Reporter)); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, query("report_add"), r.ID, r.Reporter, r.Kind, r.Thing, r.Reason, r.At, since, most)
		added = done.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("add report: %w", err)
	}
	return added, nil
}
