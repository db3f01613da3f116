package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/creation"
)

// AddDue implements creation.Dues.
func (s *Store) AddDue(ctx context.Context, d creation.Due) error {
	if _, err := s.db.Exec(ctx, query("attestation_add"), d.Subject, string(d.Body), d.At); err != nil {
		return fmt.Errorf("insert attestation: %w", err)
	}
	return nil
}

// ListDues implements creation.Dues.
func (s *Store) ListDues(ctx context.Context, before time.Time, limit int) ([]creation.Due, error) {
	rows, err := s.db.Query(ctx, query("attestation_list"), before, limit)
	if err != nil {
		return nil, fmt.Errorf("list attestations: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d creation.Due, err error) {
		var body string
		err = row.Scan(&d.Subject, &body, &d.At)
		d.Body = []byte(body)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("list attestations: %w", err)
	}
	return out, nil
}

// DropDue implements creation.Dues.
func (s *Store) DropDue(ctx context.Context, subject string) error {
	if _, err := s.db.Exec(ctx, query("attestation_drop"), subject); err != nil {
		return fmt.Errorf("drop attestation: %w", err)
	}
	return nil
}
