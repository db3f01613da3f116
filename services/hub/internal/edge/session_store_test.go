package edge_test

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// sessionStore stores sessions in memory.
type sessionStore struct {
	mu    sync.Mutex
	rows  []caller.StoredSession
	fails error
}

func (s *sessionStore) AddSession(_ context.Context, row caller.StoredSession) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.find(row.Operator, row.IssuedAt) != nil {
		row.IssuedAt = row.IssuedAt.Add(-time.Second)
	}
	s.rows = append(s.rows, row)
	return row.IssuedAt, s.fails
}

func (s *sessionStore) find(id operator.ID, at time.Time) *caller.StoredSession {
	for i := range s.rows {
		if s.rows[i].Operator == id && s.rows[i].IssuedAt.Equal(at) {
			return &s.rows[i]
		}
	}
	return nil
}

func (s *sessionStore) FindSession(_ context.Context, id operator.ID, at time.Time) (caller.StoredSession, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.find(id, at); row != nil {
		return *row, true, s.fails
	}
	return caller.StoredSession{}, false, s.fails
}

func (s *sessionStore) EndSession(_ context.Context, id operator.ID, at, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.find(id, at); row != nil && s.fails == nil {
		row.EndedAt = now
	}
	return s.fails
}

func (s *sessionStore) EndSessions(_ context.Context, id operator.ID, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if s.rows[i].Operator == id {
			s.rows[i].EndedAt = now
		}
	}
	return s.fails
}
