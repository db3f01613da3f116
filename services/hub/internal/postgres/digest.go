package postgres

import (
	"context"
	"fmt"
	"time"
)

// TakeDigest implements digest.Sent.
func (s *Store) TakeDigest(ctx context.Context, date string, now time.Time) (bool, error) {
	tag, err := s.db.Exec(ctx, query("digest_take"), date, now)
	if err != nil {
		return false, fmt.Errorf("take digest: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// EndDigest implements digest.Sent.
func (s *Store) EndDigest(ctx context.Context, date string, now time.Time, recipients int) error {
	if _, err := s.db.Exec(ctx, query("digest_end"), date, now, recipients); err != nil {
		return fmt.Errorf("end digest: %w", err)
	}
	return nil
}

// FreeDigest implements digest.Sent.
func (s *Store) FreeDigest(ctx context.Context, date string) error {
	if _, err := s.db.Exec(ctx, query("digest_free"), date); err != nil {
		return fmt.Errorf("free digest: %w", err)
	}
	return nil
}
