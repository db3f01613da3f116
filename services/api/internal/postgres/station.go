package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/station"
)

// signed does act for a message once, or without one as it is.
func (s *Store) signed(ctx context.Context, e effect, act func(tx pgx.Tx) error) error {
	if e.message == "" {
		return pg.InTx(ctx, s.pool, act)
	}
	_, err := s.once(ctx, e, func(tx pgx.Tx, _ syntax.Tier) (string, error) { return e.user, act(tx) })
	return err
}

// CreateStation implements station.Store.
func (s *Store) CreateStation(ctx context.Context, st station.Station, messageID string) error {
	e := effect{message: messageID, kind: "station.create", user: st.OwnerID, now: st.CreatedAt}
	return s.signed(ctx, e, func(tx pgx.Tx) error {
		var tier syntax.Tier // one registration of an operator at a time
		if err := tx.QueryRow(ctx, query("effect_user"), st.OwnerID).Scan(&tier); errors.Is(err, pgx.ErrNoRows) {
			return errNobody
		} else if err != nil {
			return fmt.Errorf("lock operator: %w", err)
		}
		var owned, ids int // stations that are there; other ids ever taken
		if err := tx.QueryRow(ctx, query("station_taken"), st.OwnerID, st.ID).Scan(&owned, &ids); err != nil {
			return fmt.Errorf("count stations: %w", err)
		}
		switch {
		case owned >= station.MaxOwned:
			return station.ErrLimit
		case ids >= station.MaxIDs:
			return station.ErrIDs
		}
		tag, err := tx.Exec(ctx, query("station_insert"), st.ID, st.OwnerID, st.Name, st.URL, st.OriginURL, st.Description,
			words(st.Lanes), words(st.Providers), st.TapesURL, st.OperatorsURL, st.CreatedAt)
		if err == nil && tag.RowsAffected() == 0 {
			return station.ErrExists
		}
		return stationFault(err)
	})
}

// words are never null.
func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

func stationFault(err error) error {
	switch {
	case err == nil:
		return nil
	case pg.IsUnique(err, "stations_origin"):
		return station.ErrOrigin
	}
	return fmt.Errorf("write station: %w", err)
}

// ChangeStation implements station.Store.
func (s *Store) ChangeStation(ctx context.Context, id, ownerID, messageID string, now time.Time, change func(station.Station) (station.Station, error)) error {
	e := effect{message: messageID, kind: "station.update", user: ownerID, now: now}
	return s.signed(ctx, e, func(tx pgx.Tx) error {
		old, err := lockStation(ctx, tx, id, ownerID)
		if err != nil {
			return err
		}
		made, err := change(old)
		if err != nil {
			return err
		}
		return updateStation(ctx, tx, made, now)
	})
}

func updateStation(ctx context.Context, tx pgx.Tx, st station.Station, now time.Time) error {
	_, err := tx.Exec(ctx, query("station_update"), st.ID, st.Name, st.URL, st.OriginURL, st.Description,
		words(st.Lanes), words(st.Providers), st.TapesURL, st.OperatorsURL, string(st.Status), now)
	return stationFault(err)
}

// lockStation reads a station to change it; without an owner for an admin.
func lockStation(ctx context.Context, tx pgx.Tx, id, ownerID string) (station.Station, error) {
	rows, err := tx.Query(ctx, query("station_lock"), id)
	if err != nil {
		return station.Station{}, fmt.Errorf("lock station: %w", err)
	}
	st, err := pgx.CollectExactlyOneRow(rows, scanStation)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return station.Station{}, station.ErrNotFound
	case err != nil:
		return station.Station{}, fmt.Errorf("lock station: %w", err)
	case ownerID != "" && st.OwnerID != ownerID:
		return station.Station{}, station.ErrOwner
	}
	return st, nil
}

// RuleStation implements station.Store.
func (s *Store) RuleStation(ctx context.Context, id string, to station.Status, reason string, now time.Time, may func(station.Station) error) error {
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		st, err := lockStation(ctx, tx, id, "")
		if err != nil {
			return err
		}
		if err := may(st); err != nil {
			return err
		}
		from := st.Status
		st.Status = to
		if err := updateStation(ctx, tx, st, now); err != nil {
			return err
		}
		return audit(ctx, tx, now, "station.ruled", id, map[string]any{"from": from, "to": to, "reason": reason})
	})
}

// audit notes an act of an admin beside the act itself.
func audit(ctx context.Context, tx pgx.Tx, now time.Time, action, id string, data map[string]any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, query("audit"), now, "admin", action, id, raw); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// SeeStation implements station.Store.
func (s *Store) SeeStation(ctx context.Context, id, ownerID string, now time.Time) error {
	tag, err := s.pool.Exec(ctx, query("station_seen"), id, ownerID, now)
	if err != nil {
		return pg.Fault(fmt.Errorf("see station: %w", err))
	}
	if tag.RowsAffected() > 0 {
		return nil
	}
	if _, err := s.GetStation(ctx, id); err != nil {
		return err
	}
	return station.ErrOwner
}

// DropStation implements station.Store.
func (s *Store) DropStation(ctx context.Context, id, ownerID string, now time.Time) error {
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		st, err := lockStation(ctx, tx, id, ownerID)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query("station_delete"), id, now); err != nil {
			return fmt.Errorf("delete station: %w", err)
		}
		if ownerID != "" {
			return nil
		}
		return audit(ctx, tx, now, "station.dropped", id, map[string]any{"owner": st.OwnerID})
	})
}

// GetStation implements station.Store.
func (s *Store) GetStation(ctx context.Context, id string) (station.Station, error) {
	list, err := s.stations(ctx, "station_get", id)
	if err != nil {
		return station.Station{}, err
	}
	if len(list) == 0 {
		return station.Station{}, station.ErrNotFound
	}
	return list[0], nil
}

// ListStations implements station.Store.
func (s *Store) ListStations(ctx context.Context, q station.Query) ([]station.Station, error) {
	return s.stations(ctx, "station_list", q.After, string(q.Lane), string(q.Provider), q.Limit)
}

// CountStations implements station.Store.
func (s *Store) CountStations(ctx context.Context, ownerID string) (n int64, err error) {
	if err := s.reads.QueryRow(ctx, query("station_count"), ownerID).Scan(&n); err != nil {
		return 0, fmt.Errorf("count stations: %w", err)
	}
	return n, nil
}

func (s *Store) stations(ctx context.Context, name string, args ...any) ([]station.Station, error) {
	rows, err := s.reads.Query(ctx, query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list, err := pgx.CollectRows(rows, scanStation)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func scanStation(row pgx.CollectableRow) (st station.Station, err error) {
	var seen *time.Time
	err = row.Scan(&st.ID, &st.OwnerID, &st.OwnerHandle, &st.Name, &st.URL, &st.OriginURL, &st.Description, &st.Lanes, &st.Providers,
		&st.TapesURL, &st.OperatorsURL, &st.Status, &seen, &st.CreatedAt, &st.UpdatedAt)
	if seen != nil {
		st.LastSeenAt = *seen
	}
	return st, err
}
