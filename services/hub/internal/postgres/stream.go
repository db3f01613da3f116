package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Bind implements stream.Store.
func (s *Store) Bind(ctx context.Context, b stream.Stream) error {
	return s.OnAir().withOperator(ctx, b.Handle, func(ctx context.Context, t operatorTx) error {
		if err := t.checkAllowed(ctx); err != nil {
			return err
		}
		return t.bind(ctx, b)
	})
}

func (t operatorTx) bind(ctx context.Context, b stream.Stream) error {
	return t.q.BindStream(ctx, db.BindStreamParams{
		MarketID: string(b.MarketID), Handle: string(b.Handle), URL: b.URL, Label: b.Label, Now: b.UpdatedAt,
	})
}

// Unbind implements stream.Store.
func (s *Store) Unbind(ctx context.Context, id protocol.MarketID, by protocol.Handle, at time.Time) (bool, error) {
	n, err := s.write.UnbindStream(ctx, db.UnbindStreamParams{MarketID: string(id), Handle: by, Now: at})
	return n > 0, err
}

// Streams implements stream.Store.
func (s *Store) Streams(ctx context.Context, id protocol.MarketID) ([]stream.Stream, error) {
	rows, err := s.read.ListStreams(ctx, db.ListStreamsParams{MarketID: id, MaxRows: stream.MaxStreams})
	return pg.Collect(rows, func(row db.Stream) stream.Stream { return stream.Stream(row) }), err
}

// Approved implements ingest.Store.
func (s *Store) Approved(ctx context.Context, handle protocol.Handle) (bool, error) {
	one, err := streamer(ctx, s.read, handle)
	return one.Status == livestream.Approved, err
}

// IngestStream implements ingest.Store.
func (s *Store) IngestStream(ctx context.Context, handle protocol.Handle) (ingest.Stream, bool, error) {
	row, ok, err := found(s.read.GetIngestStream(ctx, handle))
	return ingest.Stream(row.IngestStream), ok, err
}

// IngestByKey implements ingest.Store.
func (s *Store) IngestByKey(ctx context.Context, hash []byte) (ingest.Stream, bool, error) {
	row, ok, err := found(s.read.GetIngestStreamByKey(ctx, hash))
	return ingest.Stream(row.IngestStream), ok, err
}

// StoreIngest implements ingest.Store.
func (s *Store) StoreIngest(ctx context.Context, st ingest.Stream, before int64) (bool, error) {
	var n int64
	var err error
	if before == 0 {
		n, err = s.write.InsertIngestStream(ctx, db.InsertIngestStreamParams(st))
	} else {
		n, err = s.write.UpdateIngestStream(ctx, db.UpdateIngestStreamParams{
			Handle: st.Handle, Provider: st.Provider, RemoteID: st.RemoteID, KeyHash: st.KeyHash, HLSURL: st.HLSURL, Label: st.Label,
			Latency: st.Latency, RotatedAt: st.RotatedAt, Version: st.Version, VersionBefore: before,
		})
	}
	return n > 0, err
}
