package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// FindPicture implements picture.Store.
func (s *Store) FindPicture(ctx context.Context, of operator.ID) (picture.Stored, error) {
	row, _, err := found(s.read.GetPicture(ctx, of))
	return picture.Stored{Source: row.Source, JPEG: row.Jpeg, TriedAt: row.TriedAt.UTC()}, err
}

// StartPicture implements picture.Store.
func (s *Store) StartPicture(ctx context.Context, of operator.ID, now, before time.Time) (bool, error) {
	n, err := s.write.StartPicture(ctx, db.StartPictureParams{OperatorID: of, Now: now, Before: before})
	return n > 0, err
}

// EndPicture implements picture.Store.
func (s *Store) EndPicture(ctx context.Context, of operator.ID, p picture.Stored) error {
	return s.write.EndPicture(ctx, db.EndPictureParams{OperatorID: of, Source: p.Source, Jpeg: p.JPEG, Started: p.TriedAt})
}

// StorePicture implements picture.Store.
func (s *Store) StorePicture(ctx context.Context, of operator.ID, p picture.Stored) error {
	return s.write.StorePicture(ctx, db.StorePictureParams{OperatorID: of, Source: p.Source, Jpeg: p.JPEG, TriedAt: p.TriedAt})
}

// MovePicture implements account.HandleStore.
func (s *Store) MovePicture(ctx context.Context, of operator.ID, former, wanted string) error {
	return s.write.MovePicture(ctx, db.MovePictureParams{OperatorID: of, Former: former, Wanted: wanted})
}

// DeletePicture implements profile.Store.
func (s *Store) DeletePicture(ctx context.Context, of operator.ID) error {
	return s.write.DeletePicture(ctx, of)
}
