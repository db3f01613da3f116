package station

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores stations. Each method is one transaction and can return db_unavailable.
type Store interface {
	// CreateStation creates a station, once per message if messageID is set. The owner of a deleted station can use its id
	// again. Errors: station_exists, limit_reached, and forbidden for an owner that does not exist.
	CreateStation(ctx context.Context, s Station, messageID string) error
	// ChangeStation stores the result of change for an operator's station, once per message if messageID is set. Errors:
	// not_found, forbidden, station_exists, and those of change.
	ChangeStation(ctx context.Context, id, ownerID, messageID string, now time.Time, change func(Station) (Station, error)) error
	// RuleStation sets the status as an administrator and writes the audit log. may returns an error if the status is not
	// allowed. Errors: not_found, station_exists, and those of may.
	RuleStation(ctx context.Context, id string, to Status, reason string, now time.Time, may func(Station) error) error
	// SeeStation stores the time of a heartbeat. Errors: not_found, forbidden.
	SeeStation(ctx context.Context, id, ownerID string, now time.Time) error
	// DropStation deletes a station; its id remains reserved for its owner. Without an owner it acts as an administrator and
	// writes the audit log. Errors: not_found, forbidden.
	DropStation(ctx context.Context, id, ownerID string, now time.Time) error
	// GetStation returns one station. Error: not_found.
	GetStation(ctx context.Context, id string) (Station, error)
	// ListStations returns active stations after an id, ordered by id.
	ListStations(ctx context.Context, q Query) ([]Station, error)
	CountStations(ctx context.Context, ownerID string) (int64, error)
}

// Query selects active stations.
type Query struct {
	Lane     protocol.Lane     // empty: all
	Provider protocol.Provider // empty: all
	After    string            // id; empty: first page
	Limit    int
}

// Service implements the rules of stations.
type Service struct {
	store   Store
	hub     string // scheme, host and port of the hub
	allowed func(url string) bool
	now     func() time.Time
}

// NewService returns a Service. hub is the URL of the hub, whose origin no station may have. allowed reports whether a
// station may have a URL.
func NewService(store Store, hub string, allowed func(url string) bool, now func() time.Time) *Service {
	return &Service{store: store, hub: Origin(hub), allowed: allowed, now: now}
}

// notHub returns station_exists for a station with the origin of the hub.
func (s *Service) notHub(st Station) error {
	if st.OriginURL == s.hub {
		return ErrHubURL
	}
	return nil
}

func (s *Service) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Create registers a station with status pending. Errors: invalid_*, station_exists, limit_reached.
func (s *Service) Create(ctx context.Context, ownerID, messageID string, d Draft) error {
	d.Status = nil
	made, err := Station{ID: d.ID, OwnerID: ownerID, Status: Pending, CreatedAt: s.time()}.apply(d, s.allowed)
	switch {
	case err != nil:
		return err
	case made.ID == Hub:
		return ErrExists
	}
	if err := s.notHub(made); err != nil {
		return err
	}
	return s.store.CreateStation(ctx, made, messageID)
}

// Change changes a station of its owner. Errors: not_found, forbidden, not_approved, station_exists, invalid_*.
func (s *Service) Change(ctx context.Context, ownerID, messageID string, d Draft) error {
	if !IsID(d.ID) {
		return ErrNotFound
	}
	return s.store.ChangeStation(ctx, d.ID, ownerID, messageID, s.time(), func(old Station) (Station, error) {
		made, err := old.apply(d, s.allowed)
		if err != nil {
			return Station{}, err
		}
		return made, s.notHub(made)
	})
}

// Rule sets the status of a station as an administrator. Errors: not_found, station_exists, invalid_status.
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
		return s.notHub(st)
	})
}

// Beat stores a heartbeat of a station. Errors: not_found, forbidden.
func (s *Service) Beat(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.SeeStation(ctx, id, ownerID, s.time())
}

// Drop deletes a station. Without an owner it acts as an administrator. Errors: not_found, forbidden.
func (s *Service) Drop(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.DropStation(ctx, id, ownerID, s.time())
}

// Get returns one station with any status. Error: not_found.
func (s *Service) Get(ctx context.Context, id string) (Station, error) {
	if !IsID(id) {
		return Station{}, ErrNotFound
	}
	return s.store.GetStation(ctx, id)
}

// List returns active stations.
func (s *Service) List(ctx context.Context, q Query) ([]Station, error) {
	return s.store.ListStations(ctx, q)
}

// MaxActive is the maximum number of active stations that the hub reads.
const MaxActive = 200

// Active returns all stations that the hub reads, ordered by id.
func (s *Service) Active(ctx context.Context) ([]Station, error) {
	list, err := s.store.ListStations(ctx, Query{Limit: MaxActive})
	return slices.DeleteFunc(list, func(st Station) bool { return s.notHub(st) != nil }), err
}

// Owned returns the number of an operator's stations.
func (s *Service) Owned(ctx context.Context, ownerID string) (int64, error) {
	return s.store.CountStations(ctx, ownerID)
}
