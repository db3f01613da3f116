package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Waiting implements outbox.Store.
func (s *Store) Waiting(ctx context.Context, limit int) ([]outbox.Fact, error) {
	rows, err := s.write.ListOutbox(ctx, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	return pg.Collect(rows, func(row db.ListOutboxRow) outbox.Fact { return outbox.Fact(row) }), nil
}

// Sent implements outbox.Store.
func (s *Store) Sent(ctx context.Context, places []int64) error {
	if err := s.write.DeleteOutbox(ctx, places); err != nil {
		return fmt.Errorf("empty outbox: %w", err)
	}
	return nil
}

// AddDue implements creation.Dues.
func (s *Store) AddDue(ctx context.Context, d creation.Due) error {
	err := s.write.InsertAttestation(ctx, db.InsertAttestationParams{Subject: d.Subject, Body: string(d.Body), At: d.At})
	if err != nil {
		return fmt.Errorf("insert attestation: %w", err)
	}
	return nil
}

// ListDues implements creation.Dues.
func (s *Store) ListDues(ctx context.Context, before time.Time, limit int) ([]creation.Due, error) {
	rows, err := s.write.ListAttestations(ctx, db.ListAttestationsParams{Before: before, MaxRows: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list attestations: %w", err)
	}
	return pg.Collect(rows, func(row db.AttestationsDue) creation.Due {
		return creation.Due{Subject: row.Subject, Body: []byte(row.Body), At: row.At}
	}), nil
}

// DropDue implements creation.Dues.
func (s *Store) DropDue(ctx context.Context, subject string) error {
	if err := s.write.DeleteAttestation(ctx, subject); err != nil {
		return fmt.Errorf("delete attestation: %w", err)
	}
	return nil
}

// TakeDigest implements digest.Sent.
func (s *Store) TakeDigest(ctx context.Context, date string, now time.Time) (bool, error) {
	n, err := s.write.ReserveDigest(ctx, db.ReserveDigestParams{Date: date, Now: now})
	if err != nil {
		return false, fmt.Errorf("reserve digest: %w", err)
	}
	return n > 0, nil
}

// EndDigest implements digest.Sent.
func (s *Store) EndDigest(ctx context.Context, date string, now time.Time, recipients int) error {
	err := s.write.FinishDigest(ctx, db.FinishDigestParams{Date: date, Now: now, Recipients: int32(recipients)})
	if err != nil {
		return fmt.Errorf("finish digest: %w", err)
	}
	return nil
}

// FreeDigest implements digest.Sent.
func (s *Store) FreeDigest(ctx context.Context, date string) error {
	if err := s.write.ReleaseDigest(ctx, date); err != nil {
		return fmt.Errorf("release digest: %w", err)
	}
	return nil
}
