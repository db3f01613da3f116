package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Values of the column "kind" of the table partner_copies.
const (
	copiedTapes     = "tapes"
	copiedOperators = "operators"
)

// ReplaceTapes implements federation.Store.
func (s *Store) ReplaceTapes(ctx context.Context, origin string, list []federation.Tape, at time.Time) error {
	return replaceCopy(ctx, s, origin, copiedTapes, list, at)
}

// ReplaceOperators implements federation.Store.
func (s *Store) ReplaceOperators(ctx context.Context, origin string, list []federation.Operator, at time.Time) error {
	return replaceCopy(ctx, s, origin, copiedOperators, list, at)
}

func replaceCopy[T any](ctx context.Context, s *Store, origin, kind string, list []T, at time.Time) error {
	raw, err := json.Marshal(append([]T{}, list...))
	if err == nil {
		err = s.write.UpsertPartnerCopy(ctx, db.UpsertPartnerCopyParams{Origin: origin, Kind: kind, Rows: raw, At: at})
	}
	if err != nil {
		return fmt.Errorf("store %s of %s: %w", kind, origin, err)
	}
	return nil
}

// DeleteOthers implements federation.Store.
func (s *Store) DeleteOthers(ctx context.Context, origins []string) error {
	return s.write.DeletePartnerCopies(ctx, words(origins))
}

// CopiedTapes implements federation.Store.
func (s *Store) CopiedTapes(ctx context.Context, since time.Time) ([]federation.Tape, error) {
	return copies[federation.Tape](ctx, s, copiedTapes, since)
}

// CopiedOperators implements federation.Store.
func (s *Store) CopiedOperators(ctx context.Context, since time.Time) ([]federation.Operator, error) {
	return copies[federation.Operator](ctx, s, copiedOperators, since)
}

func copies[T any](ctx context.Context, s *Store, kind string, since time.Time) ([]T, error) {
	rows, err := s.read.ListPartnerCopies(ctx, db.ListPartnerCopiesParams{Kind: kind, Since: since})
	if err != nil {
		return nil, fmt.Errorf("read copies of %s: %w", kind, err)
	}
	var out []T
	for _, raw := range rows {
		var list []T
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("read copies of %s: %w", kind, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

// LastReads implements federation.Store.
func (s *Store) LastReads(ctx context.Context) (map[string]time.Time, error) {
	rows, err := s.read.ListPartnerTimes(ctx)
	return mapOf(rows, err, func(row db.ListPartnerTimesRow) (string, time.Time) { return row.Origin, row.At })
}

// LocalTapes implements federation.Store.
func (s *Store) LocalTapes(ctx context.Context, limit int) ([]federation.Tape, error) {
	rows, err := s.read.ListTapes(ctx, int32(limit))
	return pg.Collect(rows, tape), err
}

func tape(row db.ListTapesRow) federation.Tape {
	t := federation.Tape{
		ID: row.ID, Handle: string(row.Handle), URL: pg.Value(row.URL), MarketID: string(row.MarketID), Views: row.Views,
		Stance: row.Stance, CreatedAt: row.CreatedAt, Boosted: row.Boosted, Approved: row.Approved,
	}
	if row.DurationS != nil {
		seconds := int64(*row.DurationS)
		t.DurationS = &seconds
	}
	return t
}

// Views implements federation.Store.
func (s *Store) Views(ctx context.Context, list []federation.Tape) ([]int64, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var p db.ListTapeViewsParams
	for _, t := range list {
		p.Origins, p.TapeIDs = append(p.Origins, t.Origin), append(p.TapeIDs, t.ID)
	}
	return s.read.ListTapeViews(ctx, p)
}

// AddView implements federation.Store.
func (s *Store) AddView(ctx context.Context, origin, id string) error {
	return s.write.AddTapeView(ctx, db.AddTapeViewParams{Origin: origin, TapeID: id})
}
