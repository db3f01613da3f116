package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/station"
)

// runSigned calls the function act in a transaction. If e has a message id, runSigned calls act only for the first execution
// of that message.
func (s *Store) runSigned(ctx context.Context, e effect, act func(q *db.Queries) error) error {
	if e.message == "" {
		return inTx(ctx, s.pool, act)
	}
	_, err := s.executeOnce(ctx, e, func(q *db.Queries, _ protocol.Tier) (string, error) { return e.user, act(q) })
	return err
}

// CreateStation implements station.Store.
func (s *Store) CreateStation(ctx context.Context, st station.Station, messageID string) error {
	e := effect{message: messageID, kind: "station.create", user: st.OwnerID, now: st.CreatedAt}
	return s.runSigned(ctx, e, func(q *db.Queries) error {
		if _, err := lockSender(ctx, q, st.OwnerID); err != nil { // makes concurrent registrations of one operator wait
			return err
		}
		used, err := q.CountStationIDs(ctx, db.CountStationIDsParams{UserID: st.OwnerID, StationID: st.ID})
		switch {
		case err != nil:
			return fmt.Errorf("count stations: %w", err)
		case used.Owned >= station.MaxOwned:
			return station.ErrLimit
		case used.IDs >= station.MaxIDs:
			return station.ErrIDs
		}
		n, err := q.InsertStation(ctx, db.InsertStationParams{
			StationID: st.ID, UserID: st.OwnerID, Name: st.Name, URL: st.URL, OriginURL: st.OriginURL, Description: st.Description,
			Lanes: neverNil(st.Lanes), Providers: neverNil(st.Providers), TapesURL: st.TapesURL, OperatorsURL: st.OperatorsURL,
			Now: st.CreatedAt,
		})
		if err == nil && n == 0 {
			return station.ErrExists
		}
		return stationFault(err)
	})
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
	return s.runSigned(ctx, e, func(q *db.Queries) error {
		old, err := lockStation(ctx, q, id, ownerID)
		if err != nil {
			return err
		}
		made, err := change(old)
		if err != nil {
			return err
		}
		return updateStation(ctx, q, made, now)
	})
}

func updateStation(ctx context.Context, q *db.Queries, st station.Station, now time.Time) error {
	return stationFault(q.UpdateStation(ctx, db.UpdateStationParams{
		StationID: st.ID, Name: st.Name, URL: st.URL, OriginURL: st.OriginURL, Description: st.Description,
		Lanes: neverNil(st.Lanes), Providers: neverNil(st.Providers), TapesURL: st.TapesURL, OperatorsURL: st.OperatorsURL,
		Status: st.Status, Now: now,
	}))
}

// lockStation reads a station and locks it until the end of the transaction. Errors: station.ErrNotFound; station.ErrOwner if
// another operator owns the station. For an act of an administrator, ownerID is empty and any owner is accepted.
func lockStation(ctx context.Context, q *db.Queries, id, ownerID string) (station.Station, error) {
	row, err := q.LockStation(ctx, id)
	st := stationOf(row.Station, row.Handle)
	switch {
	case err != nil:
		return station.Station{}, missing(err, station.ErrNotFound, "lock station")
	case ownerID != "" && st.OwnerID != ownerID:
		return station.Station{}, station.ErrOwner
	}
	return st, nil
}

// RuleStation implements station.Store.
func (s *Store) RuleStation(ctx context.Context, id string, to station.Status, reason string, now time.Time, may func(station.Station) error) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		st, err := lockStation(ctx, q, id, "")
		if err != nil {
			return err
		}
		if err := may(st); err != nil {
			return err
		}
		from := st.Status
		st.Status = to
		if err := updateStation(ctx, q, st, now); err != nil {
			return err
		}
		return audit(ctx, q, now, "station.ruled", id, map[string]any{"from": from, "to": to, "reason": reason})
	})
}

// audit adds an entry about an act of an administrator to the audit log.
func audit(ctx context.Context, q *db.Queries, now time.Time, action, id string, data map[string]any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return wrap("audit", q.InsertAudit(ctx, db.InsertAuditParams{At: now, Actor: "admin", Action: action, Subject: id, Data: raw}))
}

// SeeStation implements station.Store.
func (s *Store) SeeStation(ctx context.Context, id, ownerID string, now time.Time) error {
	n, err := s.q.MarkStationSeen(ctx, db.MarkStationSeenParams{StationID: id, UserID: ownerID, Now: &now})
	if err != nil {
		return pg.Fault(fmt.Errorf("mark station seen: %w", err))
	}
	if n > 0 {
		return nil
	}
	if _, err := s.GetStation(ctx, id); err != nil {
		return err
	}
	return station.ErrOwner
}

// DropStation implements station.Store.
func (s *Store) DropStation(ctx context.Context, id, ownerID string, now time.Time) error {
	return inTx(ctx, s.pool, func(q *db.Queries) error {
		st, err := lockStation(ctx, q, id, ownerID)
		if err != nil {
			return err
		}
		if err := q.DeleteStation(ctx, db.DeleteStationParams{StationID: id, Now: &now}); err != nil {
			return fmt.Errorf("delete station: %w", err)
		}
		if ownerID != "" {
			return nil
		}
		return audit(ctx, q, now, "station.dropped", id, map[string]any{"owner": st.OwnerID})
	})
}

// GetStation implements station.Store.
func (s *Store) GetStation(ctx context.Context, id string) (station.Station, error) {
	row, err := s.rq.GetStation(ctx, id)
	return stationOf(row.Station, row.Handle), missing(err, station.ErrNotFound, "read station")
}

// ListStations implements station.Store.
func (s *Store) ListStations(ctx context.Context, q station.Query) ([]station.Station, error) {
	rows, err := s.rq.ListStations(ctx, db.ListStationsParams{
		After: q.After, Lane: string(q.Lane), Provider: string(q.Provider), Limit: int32(q.Limit),
	})
	return pg.Collect(rows, func(r db.ListStationsRow) station.Station { return stationOf(r.Station, r.Handle) }), wrap("list stations", err)
}

// CountStations implements station.Store.
func (s *Store) CountStations(ctx context.Context, ownerID string) (int64, error) {
	n, err := s.rq.CountStations(ctx, ownerID)
	return n, wrap("count stations", err)
}

func stationOf(s db.Station, owner string) station.Station {
	return station.Station{
		ID: s.StationID, OwnerID: s.UserID, OwnerHandle: owner, Name: s.Name, URL: s.URL, OriginURL: s.OriginURL,
		Description: pg.Value(s.Description), Lanes: s.Lanes, Providers: s.Providers, TapesURL: pg.Value(s.TapesURL),
		OperatorsURL: pg.Value(s.OperatorsURL), Status: s.Status, LastSeenAt: pg.Value(s.LastSeenAt), CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt,
	}
}
