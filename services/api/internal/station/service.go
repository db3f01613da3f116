package station

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores partner stations. Each method is one transaction and can return db_unavailable.
type Store interface {
	// CreateStation stores a new station, once for each messageID if messageID is not empty. The owner of a deleted station can
	// use the id of that station again. Errors: station_exists, limit_reached, and forbidden for an owner that does not exist.
	CreateStation(ctx context.Context, s Station, messageID string) error
	// ChangeStation stores the result of change for a station of the owner, once for each messageID if messageID is not empty.
	// Errors: not_found, forbidden, station_exists, and those of change.
	ChangeStation(ctx context.Context, id, ownerID, messageID string, now time.Time, change func(Station) (Station, error)) error
	// RuleStation sets the status of a station as an administrator, and writes the audit log. It calls may, which returns an
	// error if the station must not get the status. Errors: not_found, station_exists, and those of may.
	RuleStation(ctx context.Context, id string, to Status, reason string, now time.Time, may func(Station) error) error
	// SeeStation stores now as the time of the last heartbeat of a station. Errors: not_found, forbidden.
	SeeStation(ctx context.Context, id, ownerID string, now time.Time) error
	// DropStation deletes a station. Its id remains reserved for its owner. If ownerID is empty, an administrator deletes it,
	// and DropStation writes the audit log. Errors: not_found, forbidden.
	DropStation(ctx context.Context, id, ownerID string, now time.Time) error
	// GetStation returns the station with an id. Error: not_found.
	GetStation(ctx context.Context, id string) (Station, error)
	// ListStations returns up to q.Limit active stations with ids after q.After, ordered by id.
	ListStations(ctx context.Context, q Query) ([]Station, error)
	CountStations(ctx context.Context, ownerID string) (int64, error)
}

// Query selects a page of active stations.
type Query struct {
	Lane     protocol.Lane     // empty: all
	Provider protocol.Provider // empty: all
	After    string            // id of the last station of the previous page; empty: first page
	Limit    int
}

// Service creates, changes, approves and deletes partner stations.
type Service struct {
	store   Store
	hub     string // scheme, host and port of the hub
	allowed func(url string) bool
	now     func() time.Time
}

// NewService returns a Service that stores stations in store. hub is the URL of the hub; no station may have its origin.
// allowed reports whether a URL of a station is permitted.
func NewService(store Store, hub string, allowed func(url string) bool, now func() time.Time) *Service {
	return &Service{store: store, hub: Origin(hub), allowed: allowed, now: now}
}

// notHub returns the error station_exists if a station has the origin of the hub.
func (s *Service) notHub(st Station) error {
	if st.OriginURL == s.hub {
		return ErrHubURL
	}
	return nil
}

func (s *Service) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Create stores a new station with the status pending. If messageID is not empty, it does so once for each message. Errors:
// invalid_<member>, station_exists, limit_reached, forbidden.
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

// Change changes a station of the owner. If messageID is not empty, it does so once for each message. Errors: not_found,
// forbidden, not_approved, station_exists, invalid_<member>.
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

// Rule sets the status of a station as an administrator. The reason is for the audit log. Errors: not_found, station_exists,
// invalid_status.
func (s *Service) Rule(ctx context.Context, id string, to Status, reason string) error {
	if !slices.Contains(Statuses[:], to) {
		return ErrStatus.WithText("status must be pending, active, paused or suspended")
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

// Beat stores the time of a heartbeat of the owner's station. Errors: not_found, forbidden.
func (s *Service) Beat(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.SeeStation(ctx, id, ownerID, s.time())
}

// Drop deletes a station of the owner. If ownerID is empty, an administrator deletes it. Errors: not_found, forbidden.
func (s *Service) Drop(ctx context.Context, ownerID, id string) error {
	if !IsID(id) {
		return ErrNotFound
	}
	return s.store.DropStation(ctx, id, ownerID, s.time())
}

// Get returns the station with an id, whatever its status. Error: not_found.
func (s *Service) Get(ctx context.Context, id string) (Station, error) {
	if !IsID(id) {
		return Station{}, ErrNotFound
	}
	return s.store.GetStation(ctx, id)
}

// List returns the page of active stations that q selects, ordered by id.
func (s *Service) List(ctx context.Context, q Query) ([]Station, error) {
	return s.store.ListStations(ctx, q)
}

// MaxActive is the maximum number of active stations from which the hub reads data.
const MaxActive = 200

// Active returns the stations from which the hub reads data, ordered by id: all active stations except a station with the
// origin of the hub. It returns at most MaxActive stations.
func (s *Service) Active(ctx context.Context) ([]Station, error) {
	list, err := s.store.ListStations(ctx, Query{Limit: MaxActive})
	return slices.DeleteFunc(list, func(st Station) bool { return s.notHub(st) != nil }), err
}

// Owned returns the number of stations of an operator.
func (s *Service) Owned(ctx context.Context, ownerID string) (int64, error) {
	return s.store.CountStations(ctx, ownerID)
}
