package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// Streamer implements livestream.Store.
func (s *OnAir) Streamer(ctx context.Context, handle protocol.Handle) (livestream.Streamer, error) {
	return streamer(ctx, s.read, handle)
}

// streamer returns the streamer profile of an operator; its status is Unregistered if none is stored.
func streamer(ctx context.Context, q *db.Queries, handle protocol.Handle) (livestream.Streamer, error) {
	row, ok, err := found(q.GetStreamer(ctx, handle))
	if err != nil {
		return livestream.Streamer{}, err
	}
	if !ok {
		return livestream.Streamer{Status: livestream.Unregistered}, nil
	}
	return livestream.Streamer(row), nil
}

// BoundTo implements livestream.Store.
func (s *OnAir) BoundTo(ctx context.Context, handle protocol.Handle) (string, error) {
	url, _, err := found(s.read.GetNewestStream(ctx, handle))
	if err != nil {
		return "", err
	}
	return url, nil
}

// Register implements livestream.Store.
func (s *OnAir) Register(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) (status livestream.Status, first bool, err error) {
	err = s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error {
		status, first, err = found(t.q.RegisterStreamer(ctx, db.RegisterStreamerParams{Handle: handle, Lanes: lanes, Now: now}))
		if err != nil || first {
			return err
		}
		before, err := streamer(ctx, t.q, handle)
		status = before.Status
		return err
	})
	return status, first, err
}

// ChooseLanes implements livestream.Store.
func (s *OnAir) ChooseLanes(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) error {
	return s.write.UpsertLanes(ctx, db.UpsertLanesParams{Handle: handle, Lanes: words(lanes), Now: now})
}

// Decide implements livestream.Store.
func (s *OnAir) Decide(ctx context.Context, handle protocol.Handle, status livestream.Status, now time.Time) error {
	return s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error {
		before, err := streamer(ctx, t.q, handle)
		if err != nil {
			return err
		}
		err = t.q.UpsertStreamerStatus(ctx, db.UpsertStreamerStatusParams{Handle: handle, Status: status, Now: now})
		if err != nil || status == before.Status {
			return err
		}
		if status == livestream.Suspended {
			if _, _, err := t.endOpen(ctx, now); err != nil {
				return err
			}
			if err := t.clearOverlay(ctx, now, false); err != nil {
				return err
			}
		}
		if err := t.q.PublishStreams(ctx, db.PublishStreamsParams{Handle: handle, Now: now}); err != nil {
			return err
		}
		return t.publishSnapshots(ctx, now, true)
	})
}

// Hide implements livestream.Store.
func (s *OnAir) Hide(ctx context.Context, handle protocol.Handle, hidden bool, provisioned string, now time.Time) error {
	return s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error {
		changed, err := t.q.HideStreamer(ctx, db.HideStreamerParams{Handle: handle, Hidden: hidden, Now: now})
		if err != nil || changed == 0 {
			return err
		}
		if err := t.q.PublishStreams(ctx, db.PublishStreamsParams{Handle: handle, Now: now}); err != nil {
			return err
		}
		if err := t.refresh(ctx, provisioned, now); err != nil {
			return err
		}
		if err := t.q.PublishOverlay(ctx, db.PublishOverlayParams{Handle: handle, Now: now}); err != nil {
			return err
		}
		return t.publishSnapshots(ctx, now, true)
	})
}

// Aired implements broadcast.Store.
func (s *Store) Aired(ctx context.Context, handles []string) (map[string]bool, error) {
	return setOf(s.read.ListShown(ctx, handles))
}

// Withheld returns the media that the HLS origin must not serve: handles of operators and ids of clips. The origin calls it as
// hls.Options.Withheld.
func (s *OnAir) Withheld(ctx context.Context) (map[string]bool, error) {
	return setOf(s.read.ListWithheldMedia(ctx))
}

func setOf(names []string, err error) (map[string]bool, error) {
	return mapOf(names, err, func(name string) (string, bool) { return name, true })
}

// Announce implements livestream.Store.
func (s *OnAir) Announce(ctx context.Context, b livestream.Broadcast) error {
	return s.write.InsertBroadcast(ctx, db.InsertBroadcastParams{
		ID: b.ID, Owner: b.Owner, Title: b.Title, MarketID: pg.Null(string(b.MarketID)), StationID: pg.Null(b.StationID),
		Lane: pg.Null(string(b.Lane)), ScheduledFor: pg.Null(b.ScheduledFor), CreatedAt: b.CreatedAt,
	})
}

// Broadcast implements livestream.Store.
func (s *OnAir) Broadcast(ctx context.Context, id string) (livestream.Broadcast, bool, error) {
	row, ok, err := found(s.read.GetBroadcast(ctx, id))
	return livestream.Broadcast{
		ID: id, Owner: row.Owner, Title: row.Title, MarketID: protocol.MarketID(row.MarketID), StationID: row.StationID,
		Lane: protocol.Lane(row.Lane), ScheduledFor: pg.Value(row.ScheduledFor), CreatedAt: row.CreatedAt,
	}, ok, err
}

// Overlay implements livestream.Store.
func (s *OnAir) Overlay(ctx context.Context, handle protocol.Handle, now time.Time) (livestream.Overlay, bool, error) {
	row, ok, err := found(s.read.GetOverlay(ctx, db.GetOverlayParams{Handle: handle, Now: now}))
	return livestream.Overlay{
		MarketID: protocol.MarketID(pg.Value(row.MarketID)), Name: pg.Value(row.Name), YesPct: row.YesPct, Handle: handle, Slug: row.Slug,
		UpdatedAt: row.UpdatedAt, Annotation: row.Annotation, ClosesAt: pg.Value(row.ClosesAt),
	}, ok, err
}

// OverlaySets implements livestream.Store.
func (s *OnAir) OverlaySets(ctx context.Context, handle protocol.Handle, from time.Time) (int64, error) {
	return s.read.CountOverlaySets(ctx, db.CountOverlaySetsParams{Handle: handle, Since: from})
}

// SetOverlay implements livestream.Store.
func (s *OnAir) SetOverlay(ctx context.Context, o livestream.Overlay, until time.Time) (at time.Time, err error) {
	now := o.UpdatedAt
	err = s.withOperator(ctx, o.Handle, func(ctx context.Context, t operatorTx) error {
		if err := t.checkAllowed(ctx); err != nil {
			return err
		}
		market := string(o.MarketID)
		at, err = t.q.UpsertOverlay(ctx, db.UpsertOverlayParams{
			Handle: o.Handle, MarketID: &market, Name: &o.Name, YesPct: o.YesPct, Slug: o.Slug, Annotation: o.Annotation,
			ClosesAt: pg.Null(o.ClosesAt), UpdatedAt: now, ExpiresAt: until,
		})
		if err != nil {
			return err
		}
		if err := t.q.InsertOverlaySet(ctx, db.InsertOverlaySetParams{Handle: o.Handle, At: now}); err != nil {
			return err
		}
		return t.publishOverlay(ctx, now)
	})
	return at, err
}

// ClearOverlay implements livestream.Store.
func (s *OnAir) ClearOverlay(ctx context.Context, handle protocol.Handle, now time.Time) error {
	return s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error { return t.clearOverlay(ctx, now, false) })
}

// clearOverlay deletes the overlay signal of the operator and publishes the change. If onlyExpired is true, it does so only if
// the signal has expired.
func (t operatorTx) clearOverlay(ctx context.Context, now time.Time, onlyExpired bool) error {
	expired, err := t.q.IsOverlayExpired(ctx, db.IsOverlayExpiredParams{Handle: t.handle, Now: now})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && onlyExpired && !expired {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := t.q.UpsertOverlay(ctx, db.UpsertOverlayParams{Handle: t.handle, UpdatedAt: now, ExpiresAt: now}); err != nil {
		return err
	}
	return t.publishOverlay(ctx, now)
}

// publishOverlay publishes a change of the operator's overlay signal. If the change selects another stream URL, the next
// heartbeat sets that URL for the session.
func (t operatorTx) publishOverlay(ctx context.Context, now time.Time) error {
	if err := t.q.PublishOverlay(ctx, db.PublishOverlayParams{Handle: t.handle, Now: now}); err != nil {
		return err
	}
	open, ok, err := t.open(ctx)
	if err != nil {
		return err
	}
	return t.publishSnapshots(ctx, now, ok && open.At(now).Live())
}
