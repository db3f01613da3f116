package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The kinds of copies.
const (
	copiedTapes     = "tapes"
	copiedOperators = "operators"
)

// KeepTapes implements network.Copies.
func (s *Store) KeepTapes(ctx context.Context, origin string, list []network.Tape, at time.Time) error {
	return keepCopy(ctx, s, origin, copiedTapes, list, at)
}

// KeepOperators implements network.Copies.
func (s *Store) KeepOperators(ctx context.Context, origin string, list []network.Operator, at time.Time) error {
	return keepCopy(ctx, s, origin, copiedOperators, list, at)
}

func keepCopy[T any](ctx context.Context, s *Store, origin, kind string, list []T, at time.Time) error {
	raw, err := json.Marshal(append([]T{}, list...))
	if err != nil {
		return fmt.Errorf("keep %s of %s: %w", kind, origin, err)
	}
	if _, err := s.db.Exec(ctx, query("network_keep"), origin, kind, raw, at); err != nil {
		return fmt.Errorf("keep %s of %s: %w", kind, origin, err)
	}
	return nil
}

// DropOthers implements network.Copies.
func (s *Store) DropOthers(ctx context.Context, origins []string) error {
	if _, err := s.db.Exec(ctx, query("network_drop"), append([]string{}, origins...)); err != nil {
		return fmt.Errorf("drop copies: %w", err)
	}
	return nil
}

// CopiedTapes implements network.Copies.
func (s *Store) CopiedTapes(ctx context.Context, since time.Time) ([]network.Tape, error) {
	return copies[network.Tape](ctx, s, copiedTapes, since)
}

// CopiedOperators implements network.Copies.
func (s *Store) CopiedOperators(ctx context.Context, since time.Time) ([]network.Operator, error) {
	return copies[network.Operator](ctx, s, copiedOperators, since)
}

func copies[T any](ctx context.Context, s *Store, kind string, since time.Time) ([]T, error) {
	rows, err := s.read.Query(ctx, query("network_copies"), kind, since)
	if err != nil {
		return nil, fmt.Errorf("read copies of %s: %w", kind, err)
	}
	lists, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (list []T, err error) {
		var raw []byte
		if err := row.Scan(&raw); err != nil {
			return nil, err
		}
		err = json.Unmarshal(raw, &list)
		return list, err
	})
	if err != nil {
		return nil, fmt.Errorf("read copies of %s: %w", kind, err)
	}
	var out []T
	for _, l := range lists {
		out = append(out, l...)
	}
	return out, nil
}

// Heard implements network.Heard.
func (s *Store) Heard(ctx context.Context) (map[string]time.Time, error) {
	rows, err := s.read.Query(ctx, query("network_heard"))
	if err != nil {
		return nil, fmt.Errorf("read when partners were heard: %w", err)
	}
	out := map[string]time.Time{}
	var origin string
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&origin, &at}, func() error { out[origin] = at; return nil }); err != nil {
		return nil, fmt.Errorf("read when partners were heard: %w", err)
	}
	return out, nil
}

// LocalTapes implements network.Shelf.
func (s *Store) LocalTapes(ctx context.Context, limit int) ([]network.Tape, error) {
	rows, err := s.read.Query(ctx, query("network_clips"), limit)
	if err != nil {
		return nil, fmt.Errorf("list clips: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t network.Tape, err error) {
		err = row.Scan(&t.ID, &t.Handle, &t.URL, &t.MarketID, &t.DurationS, &t.Views, &t.Stance, &t.CreatedAt, &t.Boosted, &t.Approved)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list clips: %w", err)
	}
	return list, nil
}

// Views implements network.Shelf.
func (s *Store) Views(ctx context.Context, list []network.Tape) ([]int64, error) {
	if len(list) == 0 {
		return nil, nil
	}
	origins, ids := make([]string, len(list)), make([]string, len(list))
	for i, t := range list {
		origins[i], ids[i] = t.Origin, t.ID
	}
	rows, err := s.read.Query(ctx, query("network_views"), origins, ids)
	if err != nil {
		return nil, fmt.Errorf("count views: %w", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("count views: %w", err)
	}
	return out, nil
}

// AddView implements network.Shelf.
func (s *Store) AddView(ctx context.Context, origin, id string) error {
	if _, err := s.db.Exec(ctx, query("network_view"), origin, id); err != nil {
		return fmt.Errorf("add view: %w", err)
	}
	return nil
}

// Owners implements network.Links.
func (s *Store) Owners(ctx context.Context, list []network.Proof) (map[network.Proof]operator.ID, error) {
	stations, identities := make([]string, len(list)), make([]string, len(list))
	for i, p := range list {
		stations[i], identities[i] = p.Station, p.Identity
	}
	rows, err := s.read.Query(ctx, query("claim_owners"), stations, identities)
	if err != nil {
		return nil, fmt.Errorf("find claims: %w", err)
	}
	out := make(map[network.Proof]operator.ID)
	var id operator.ID
	var p network.Proof
	if _, err := pgx.ForEachRow(rows, []any{&id, &p.Station, &p.Identity}, func() error { out[p] = id; return nil }); err != nil {
		return nil, fmt.Errorf("find claims: %w", err)
	}
	return out, nil
}
