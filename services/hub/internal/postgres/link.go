package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// KeepLink implements share.Store.
func (s *Store) KeepLink(ctx context.Context, l share.Link) (string, error) {
	var code string
	err := s.db.QueryRow(ctx, query("link_keep"), l.Code, l.Kind, l.ID).Scan(&code)
	if errors.Is(err, pgx.ErrNoRows) { // taken, or somebody else shares the same thing at this moment
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("keep link: %w", err)
	}
	return code, nil
}

// Link implements share.Store.
func (s *Store) Link(ctx context.Context, code string) (share.Link, error) {
	var l share.Link
	err := s.read.QueryRow(ctx, query("link_get"), code).Scan(&l.Code, &l.Kind, &l.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, share.ErrUnknown
	}
	if err != nil {
		return l, fmt.Errorf("read link: %w", err)
	}
	return l, nil
}
