package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// sessionTries is how often a sign-in looks for a free second before it gives up.
const sessionTries = 20

var errManySessions = fault.New(fault.Limited, "rate_limited", "too many sign-ins of one account at once").With("retryAfterMs", 1000)

// AddSession implements caller.SessionStore.
func (s *Store) AddSession(ctx context.Context, row caller.StoredSession) (issuedAt time.Time, err error) {
	for range sessionTries {
		err = s.db.QueryRow(ctx, query("session_add"), string(row.Operator), row.IssuedAt, row.SignedInAt, row.Bind).Scan(&issuedAt)
		switch {
		case err == nil:
			return issuedAt.UTC(), nil
		case !errors.Is(err, pgx.ErrNoRows):
			return time.Time{}, fmt.Errorf("insert session: %w", err)
		}
	}
	return time.Time{}, errManySessions
}

// FindSession implements caller.SessionStore.
func (s *Store) FindSession(ctx context.Context, id operator.ID, issuedAt time.Time) (row caller.StoredSession, found bool, err error) {
	row = caller.StoredSession{Operator: id, IssuedAt: issuedAt}
	if uuid.Validate(string(id)) != nil { // a signed cookie of another installation or of a test
		return row, false, nil
	}
	err = s.read.QueryRow(ctx, query("session_get"), string(id), issuedAt).Scan(&row.SignedInAt, &row.Bind, scanTime(&row.EndedAt))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return row, false, nil
	case err != nil:
		return row, false, fmt.Errorf("read session: %w", err)
	}
	row.SignedInAt = row.SignedInAt.UTC()
	return row, true, nil
}

// EndSession implements caller.SessionStore.
func (s *Store) EndSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error {
	if _, err := s.db.Exec(ctx, query("session_end"), string(id), issuedAt, now); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// EndSessions implements caller.SessionStore.
func (s *Store) EndSessions(ctx context.Context, id operator.ID, now time.Time) error {
	if _, err := s.db.Exec(ctx, query("session_end_all"), string(id), now); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

// SweepSessions deletes sessions issued before a time and returns how many.
func (s *Store) SweepSessions(ctx context.Context, before time.Time) (int64, error) {
	tag, err := s.db.Exec(ctx, query("session_sweep"), before)
	if err != nil {
		return 0, fmt.Errorf("sweep sessions: %w", err)
	}
	return tag.RowsAffected(), nil
}
