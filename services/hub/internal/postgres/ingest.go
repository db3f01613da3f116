package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// IngestStream implements ingest.Store.
func (s *Store) IngestStream(ctx context.Context, handle syntax.Handle) (ingest.Stream, bool, error) {
	return s.ingestStream(ctx, "ingest_get", handle)
}

// IngestByKey implements ingest.Store.
func (s *Store) IngestByKey(ctx context.Context, hash []byte) (ingest.Stream, bool, error) {
	return s.ingestStream(ctx, "ingest_by_key", hash)
}

func (s *Store) ingestStream(ctx context.Context, name string, by any) (ingest.Stream, bool, error) {
	var st ingest.Stream
	err := s.read.QueryRow(ctx, query(name), by).Scan(&st.ID, &st.Handle, &st.Provider, &st.RemoteID, &st.KeyHash,
		&st.HLSURL, &st.Label, &st.Latency, &st.CreatedAt, &st.RotatedAt, &st.Version)
	if errors.Is(err, pgx.ErrNoRows) {
		return ingest.Stream{}, false, nil
	}
	if err != nil {
		return ingest.Stream{}, false, fmt.Errorf("read ingest stream: %w", err)
	}
	return st, true, nil
}

// KeepIngest implements ingest.Store.
func (s *Store) KeepIngest(ctx context.Context, st ingest.Stream, before int64) (bool, error) {
	var tag pgconn.CommandTag
	var err error
	if before == 0 {
		tag, err = s.db.Exec(ctx, query("ingest_first"), st.Handle, st.ID, st.Provider, st.RemoteID, st.KeyHash, st.HLSURL,
			st.Label, st.Latency, st.CreatedAt, st.RotatedAt, st.Version)
	} else {
		tag, err = s.db.Exec(ctx, query("ingest_keep"), st.Handle, st.Provider, st.RemoteID, st.KeyHash, st.HLSURL,
			st.Label, st.Latency, st.RotatedAt, st.Version, before)
	}
	if err != nil {
		return false, fmt.Errorf("keep ingest stream: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}
