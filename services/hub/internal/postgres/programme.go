package postgres

import (
	"context"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// Pins implements market.Store.
func (s *Store) Pins(ctx context.Context, limit int) ([]market.Pin, error) {
	rows, err := s.read.ListPins(ctx, int32(limit))
	return pg.Collect(rows, func(row db.Pin) market.Pin { return market.Pin(row) }), err
}

// Pin implements market.Store.
func (s *Store) Pin(ctx context.Context, p market.Pin) (market.Pin, error) {
	at, err := s.write.UpsertPin(ctx, db.UpsertPinParams(p))
	p.CreatedAt = at
	return p, err
}

// Unpin implements market.Store.
func (s *Store) Unpin(ctx context.Context, id protocol.MarketID) (bool, error) {
	n, err := s.write.DeletePin(ctx, id)
	return n > 0, err
}

// Spotlight implements broadcast.Store.
func (s *Store) Spotlight(ctx context.Context) (broadcast.StoredSpotlight, error) {
	row, ok, err := found(s.read.GetSpotlight(ctx))
	if err != nil || !ok {
		return broadcast.StoredSpotlight{}, err
	}
	return broadcast.StoredSpotlight{Version: row.Version, Spotlight: broadcast.Spotlight{
		Reason: row.Reason, ShowID: row.ShowID, MarketID: row.MarketID, Title: row.Title, Yes: row.YesBps, Lane: row.Lane,
		Handle: protocol.Handle(row.Handle), HLSURL: row.HLSURL, Viewers: row.Viewers, SegmentID: row.SegmentID,
		StartedAt: row.StartedAt, ExpiresAt: row.ExpiresAt, ChosenAt: row.ChosenAt,
	}}, nil
}

// ReplaceSpotlight implements broadcast.Store.
func (s *Store) ReplaceSpotlight(ctx context.Context, one broadcast.Spotlight, version int64) (broadcast.StoredSpotlight, error) {
	err := s.write.ReplaceSpotlight(ctx, db.ReplaceSpotlightParams{
		Version: version, Reason: one.Reason, ShowID: one.ShowID, MarketID: one.MarketID, Title: one.Title, YesBps: one.Yes, Lane: one.Lane,
		Handle: string(one.Handle), HLSURL: one.HLSURL, Viewers: one.Viewers, SegmentID: one.SegmentID,
		StartedAt: one.StartedAt, ExpiresAt: one.ExpiresAt, ChosenAt: one.ChosenAt,
	})
	if err != nil {
		return broadcast.StoredSpotlight{}, err
	}
	return s.Spotlight(ctx)
}

// AddLink implements share.Store. It returns an empty code if another target has the code, or if the target gets
// another code concurrently.
func (s *Store) AddLink(ctx context.Context, l share.Link) (string, error) {
	code, _, err := found(s.write.InsertShortLink(ctx, db.InsertShortLinkParams{Code: l.Code, Type: l.Kind, ID: l.ID}))
	return code, err
}

// Link implements share.Store.
func (s *Store) Link(ctx context.Context, code string) (share.Link, error) {
	row, ok, err := found(s.read.GetShortLink(ctx, code))
	if err == nil && !ok {
		err = share.ErrUnknown
	}
	return share.Link{Code: row.Code, Kind: row.Type, ID: row.ID}, err
}
