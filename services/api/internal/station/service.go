package station

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store keeps stations. Each method is one transaction. Fault of all: db_unavailable.
type Store interface {
	// CreateStation does so once for a message, where one is named. The id of a station
	// that was ended is free for whoever owned it. Faults: station_exists,
	// limit_reached; forbidden for an owner that is not there.
	CreateStation(ctx context.Context, s Station, messageID string) error
	// ChangeStation writes what change makes of an operator's station, once for a
	// message where one is named. Faults: not_found, forbidden, station_exists, and
	// those of change.
	ChangeStation(ctx context.Context, id, ownerID, messageID string, now time.Time, change func(Station) (Station, error)) error
	// RuleStation is the act of an admin, which the audit log keeps; may says whether the
	// station can be so. Faults: not_found, station_exists, and those of may.
	RuleStation(ctx context.Context, id string, to Status, reason string, now time.Time, may func(Station) error) error
	// SeeStation notes a sign of life. Faults: not_found, forbidden.
	SeeStation(ctx context.Context, id, ownerID string, now time.Time) error
	// DropStation ends a station; its id stays its owner's. Without an owner it is the
	// act of an admin, which the audit log keeps. Faults: not_found, forbidden.
	DropStation(ctx context.Context, id, ownerID string, now time.Time) error
	// GetStation faults with not_found.
	GetStation(ctx context.Context, id string) (Station, error)
	// ListStations lists active ones behind an id, by id.
	ListStations(ctx context.Context, q Query) ([]Station, error)
	CountStations(ctx context.Context, ownerID string) (int64, error)
}

// Query asks for active stations.
type Query struct {
	Lane     protocol.Lane     // empty: all
	Provider protocol.Provider // empty: all
	After    string            // id; empty: from the beginning
	Limit    int
}

// Service keeps the rules.
type Service struct {
	store   Store
	hub     string // scheme, host and port of the hub
	allowed func(url string) bool
	now     func() time.Time
}

// NewService wires the subject; hub is the hub's own address, which no station has, and
// allowed tells which addresses a station may name.
func NewService(store Store, hub string, allowed func(url string) bool, now func() time.Time) *Service {
	return &Service{store: store, hub: Origin(hub), allowed: allowed, now: now}
}

// foreign faults with station_exists for a station that would speak as the hub.
func (s *Service) foreign(st Station) error {
	if st.OriginURL == s.hub {
		return ErrOurs
	}
	return nil
}

func (s *Service) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Create registers a station; it waits for an admin. Faults: invalid_*,
// station_exists, limit_reached.
func (s *Service) Create(ctx context.Context, ownerID, messageID string, d Draft) error {
	d.Status = nil
	made, err := Station{ID: d.ID, OwnerID: ownerID, Status: Pending, CreatedAt: s.time()}.apply(d, s.allowed)
	switch {
	case err != nil:
		return err
	case made.ID == Hub:
		return ErrExists
	}
	if err := s.foreign(made); err != nil {
		return err
	}
	return s.store.CreateStation(ctx, made, messageID)
}

// Change is the owner's. Faults: not_found, forbidden, not_approved, station_exists,
// invalid_*.
func (s *Service) Change(ctx context.Context, ownerID, messageID string, d Draft) error {
	if !IsID(d.ID) {
		return ErrNotFound
	}
	return s.store.ChangeStation(ctx, d.ID, ownerID, messageID, s.time(), func(old Station) (Station, error) {
		made, err := old.apply(d, s.allowed)
		if err != nil {
			return Station{}, err
		}
		return made, s.foreign(made)
	})
}

// Rule is an admin's word on a station. Faults: not_found, station_exists,
// invalid_status.
func (s *Service) Rule(ctx context.Context, id string, to Status, reason string) error {
	if !slices.Contains(Statuses[:], to) {
		return ErrStatus
	}
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.RuleStation(ctx, id, to, reason, s.time(), func(st Station) error {
		if to != Active {
			return nil
		}
		return s.foreign(st)
	})
}

// Beat notes that a station is there. Faults: not_found, forbidden.
func (s *Service) Beat(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.SeeStation(ctx, id, ownerID, s.time())
}

// Drop ends a station; without an owner an admin does. Faults: not_found, forbidden.
func (s *Service) Drop(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.DropStation(ctx, id, ownerID, s.time())
}

// Get gives one station, whatever its status. Fault: not_found.
func (s *Service) Get(ctx context.Context, id string) (Station, error) {
	if !IsID(id) {
		return Station{}, ErrNotFound
	}
	return s.store.GetStation(ctx, id)
}

// List gives active stations.
func (s *Service) List(ctx context.Context, q Query) ([]Station, error) {
	return s.store.ListStations(ctx, q)
}

// MaxActive is the most active stations that the network reads.
const MaxActive = 200

// Active gives all stations whose rows are shown, by id.
func (s *Service) Active(ctx context.Context) ([]Station, error) {
	list, err := s.store.ListStations(ctx, Query{Limit: MaxActive})
	return slices.DeleteFunc(list, func(st Station) bool { return s.foreign(st) != nil }), err
}

// Owned counts an operator's stations.
func (s *Service) Owned(ctx context.Context, ownerID string) (int64, error) {
	return s.store.CountStations(ctx, ownerID)
}
