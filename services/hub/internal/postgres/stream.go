package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/station"
)

// Bind implements station.Streams.
func (s *Store) Bind(ctx context.Context, b station.Stream) error {
	return s.OnAir().turn(ctx, b.Handle, func(ctx context.Context, t stage) error {
		if err := t.allowed(ctx); err != nil {
			return err
		}
		return t.bind(ctx, b)
	})
}

func (t stage) bind(ctx context.Context, b station.Stream) error {
	return t.q.BindStream(ctx, db.BindStreamParams{
		MarketID: string(b.MarketID), Handle: string(b.Handle), URL: b.URL, Label: b.Label, Now: b.UpdatedAt,
	})
}

// Unbind implements station.Streams.
func (s *Store) Unbind(ctx context.Context, id syntax.MarketID, by syntax.Handle, at time.Time) (bool, error) {
	n, err := s.write.UnbindStream(ctx, db.UnbindStreamParams{MarketID: id, Handle: by, Now: at})
	if err != nil {
		return false, fmt.Errorf("unbind stream: %w", err)
	}
	return n > 0, nil
}

// Streams implements station.Streams.
func (s *Store) Streams(ctx context.Context, id syntax.MarketID) ([]station.Stream, error) {
	rows, err := s.read.ListStreams(ctx, db.ListStreamsParams{MarketID: id, MaxRows: station.MaxStreams})
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	return pg.Collect(rows, func(row db.Stream) station.Stream { return station.Stream(row) }), nil
}

// IngestStream implements ingest.Store.
func (s *Store) IngestStream(ctx context.Context, handle syntax.Handle) (ingest.Stream, bool, error) {
	row, ok, err := found(s.read.GetIngestStream(ctx, handle))
	return ingestIf(row.IngestStream, ok, err)
}

// IngestByKey implements ingest.Store.
func (s *Store) IngestByKey(ctx context.Context, hash []byte) (ingest.Stream, bool, error) {
	row, ok, err := found(s.read.GetIngestStreamByKey(ctx, hash))
	return ingestIf(row.IngestStream, ok, err)
}

func ingestIf(row db.IngestStream, ok bool, err error) (ingest.Stream, bool, error) {
	if err != nil {
		return ingest.Stream{}, false, fmt.Errorf("read ingest stream: %w", err)
	}
	return ingest.Stream{
		ID: row.ID, Handle: row.Handle, Provider: row.Provider, RemoteID: row.RemoteID, KeyHash: row.KeyHash, HLSURL: row.HLSURL,
		Label: row.Label, Latency: row.Latency, CreatedAt: row.CreatedAt, RotatedAt: row.RotatedAt, Version: row.Version,
	}, ok, nil
}

// KeepIngest implements ingest.Store.
func (s *Store) KeepIngest(ctx context.Context, st ingest.Stream, before int64) (bool, error) {
	var n int64
	var err error
	if before == 0 {
		n, err = s.write.InsertIngestStream(ctx, db.InsertIngestStreamParams{
			Handle: st.Handle, ID: st.ID, Provider: st.Provider, RemoteID: st.RemoteID, KeyHash: st.KeyHash, HLSURL: st.HLSURL,
			Label: st.Label, Latency: st.Latency, CreatedAt: st.CreatedAt, RotatedAt: st.RotatedAt, Version: st.Version,
		})
	} else {
		n, err = s.write.UpdateIngestStream(ctx, db.UpdateIngestStreamParams{
			Handle: st.Handle, Provider: st.Provider, RemoteID: st.RemoteID, KeyHash: st.KeyHash, HLSURL: st.HLSURL, Label: st.Label,
			Latency: st.Latency, RotatedAt: st.RotatedAt, Version: st.Version, VersionBefore: before,
		})
	}
	if err != nil {
		return false, fmt.Errorf("store ingest stream: %w", err)
	}
	return n > 0, nil
}
