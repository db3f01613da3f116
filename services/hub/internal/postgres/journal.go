package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Waiting implements outbox.Store.
func (s *Store) Waiting(ctx context.Context, limit int) ([]outbox.Fact, error) {
	rows, err := s.write.ListOutbox(ctx, int32(limit))
	return pg.Collect(rows, func(row db.ListOutboxRow) outbox.Fact { return outbox.Fact(row) }), err
}

// Sent implements outbox.Store.
func (s *Store) Sent(ctx context.Context, rowIDs []int64) error {
	return s.write.DeleteOutbox(ctx, rowIDs)
}

// AddPending implements effect.Store.
func (s *Store) AddPending(ctx context.Context, d effect.PendingAttestation) error {
	return s.write.InsertAttestation(ctx, db.InsertAttestationParams{Subject: d.Subject, Body: string(d.Body), At: d.At})
}

// ListPending implements effect.Store.
func (s *Store) ListPending(ctx context.Context, before time.Time, limit int) ([]effect.PendingAttestation, error) {
	rows, err := s.write.ListAttestations(ctx, db.ListAttestationsParams{Before: before, MaxRows: int32(limit)})
	return pg.Collect(rows, func(row db.AttestationsDue) effect.PendingAttestation {
		return effect.PendingAttestation{Subject: row.Subject, Body: []byte(row.Body), At: row.At}
	}), err
}

// DropPending implements effect.Store.
func (s *Store) DropPending(ctx context.Context, subject string) error {
	return s.write.DeleteAttestation(ctx, subject)
}

// ReserveDigest implements digest.Store.
func (s *Store) ReserveDigest(ctx context.Context, date string, now time.Time) (bool, error) {
	n, err := s.write.ReserveDigest(ctx, db.ReserveDigestParams{Date: date, Now: now})
	return n > 0, err
}

// StartDigest implements digest.Store.
func (s *Store) StartDigest(ctx context.Context, date string, now time.Time) (bool, error) {
	n, err := s.write.StartDigest(ctx, db.StartDigestParams{Date: date, Now: now})
	return n > 0, err
}

// EndDigest implements digest.Store.
func (s *Store) EndDigest(ctx context.Context, date string, recipients int) error {
	return s.write.FinishDigest(ctx, db.FinishDigestParams{Date: date, Recipients: int32(recipients)})
}

// FreeDigest implements digest.Store.
func (s *Store) FreeDigest(ctx context.Context, date string, started bool) error {
	return s.write.ReleaseDigest(ctx, db.ReleaseDigestParams{Date: date, Started: started})
}
