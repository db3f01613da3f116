package postgres

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// AddClip implements clip.Store. It locks the creator and the stream, so that concurrent requests are counted one after the
// other. It takes both locks in alphabetical order, which avoids deadlocks.
func (s *Store) AddClip(ctx context.Context, d clip.Draft) (v clip.Verdict, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		locks := []string{"by:" + d.By.String(), "of:" + d.Handle.String()}
		slices.Sort(locks)
		for _, l := range locks {
			if err := q.LockClips(ctx, l); err != nil {
				return err
			}
		}
		at := d.At.UTC()
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		count, err := q.CountClipsOfDay(ctx, db.CountClipsOfDayParams{CreatedBy: d.By, Handle: d.Handle, Day: day})
		if err != nil {
			return err
		}
		switch {
		case max(count.ByMaker, count.OfStream) >= clip.PerDay:
			v = clip.Verdict{Daily: true, Wait: day.AddDate(0, 0, 1).Sub(at)}
			return nil
		case at.Before(count.Newest.Add(clip.Cooldown)):
			v = clip.Verdict{Wait: count.Newest.Add(clip.Cooldown).Sub(at)}
			return nil
		}
		return q.InsertClip(ctx, db.InsertClipParams{
			ID: d.ID, Handle: d.Handle, MarketID: string(d.MarketID), ShowID: pg.Null(d.ShowID), Title: pg.Null(d.Title), Stance: d.Stance,
			CreatedBy: d.By, CreatedAt: d.At, Source: string(d.Source.Kind), SourceURL: d.Source.URL, SourceID: d.Source.RemoteID,
		})
	})
	return v, err
}

// LeaseClip implements clip.Store.
func (s *Store) LeaseClip(ctx context.Context, kinds []clip.Kind, now, until time.Time) (clip.Job, bool, error) {
	row, ok, err := found(s.write.ClaimClip(ctx, db.ClaimClipParams{Sources: words(kinds), Now: now, LeaseUntil: until}))
	return clip.Job{
		ID: row.ID, Handle: row.Handle, At: row.CreatedAt, Tries: int(row.Tries), HostID: row.HostClipID,
		Source: clip.Source{Kind: clip.Kind(row.Source), URL: row.SourceURL, RemoteID: row.SourceID},
	}, ok, err
}

// AwaitClip implements clip.Store.
func (s *Store) AwaitClip(ctx context.Context, id, hostID string, until time.Time) error {
	return s.write.AwaitClip(ctx, db.AwaitClipParams{ID: id, HostClipID: hostID, LeaseUntil: until})
}

// ReadyClip implements clip.Store.
func (s *Store) ReadyClip(ctx context.Context, id string, f clip.Video, now time.Time) error {
	return s.write.FinishClip(ctx, db.FinishClipParams{
		ID: id, URL: f.URL, ThumbnailURL: f.Thumbnail, DurationS: int32(math.Round(f.Length.Seconds())), Now: now,
	})
}

// FailClip implements clip.Store.
func (s *Store) FailClip(ctx context.Context, id, reason string) error {
	return s.write.FailClip(ctx, db.FailClipParams{ID: id, Reason: reason})
}

// BoostClip implements clip.Store.
func (s *Store) BoostClip(ctx context.Context, id string, boosted bool) (bool, error) {
	n, err := s.write.BoostClip(ctx, db.BoostClipParams{ID: id, Boosted: boosted})
	return n > 0, err
}

// DropClip implements clip.Store.
func (s *Store) DropClip(ctx context.Context, id string) error {
	return s.write.DropClip(ctx, id)
}

// Clips implements stream.Store.
func (s *Store) Clips(ctx context.Context, id protocol.MarketID, limit int) ([]stream.Clip, error) {
	rows, err := s.read.ListClips(ctx, db.ListClipsParams{MarketID: id, MaxRows: int32(limit)})
	return pg.Collect(rows, func(row db.ListClipsRow) stream.Clip {
		return stream.Clip{
			ID: row.ID, Handle: row.Handle, MarketID: id, Title: row.Title, URL: pg.Value(row.URL), ThumbnailURL: row.ThumbnailURL,
			Duration: row.DurationS, Status: row.Status, Stance: row.Stance, Views: row.Views, Boosted: row.Boosted,
			CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, ReadyAt: pg.Value(row.ReadyAt),
		}
	}), err
}

// SessionClips implements stream.Store.
func (s *Store) SessionClips(ctx context.Context, handle protocol.Handle, showID string, limit int) ([]stream.Clip, error) {
	rows, err := s.read.ListSessionClips(ctx, db.ListSessionClipsParams{Handle: handle, ShowID: showID, MaxRows: int32(limit)})
	return pg.Collect(rows, func(row db.ListSessionClipsRow) stream.Clip {
		return stream.Clip{
			ID: row.ID, Handle: handle, URL: pg.Value(row.URL), Duration: row.DurationS, CreatedBy: row.CreatedBy,
			CreatedAt: row.CreatedAt,
		}
	}), err
}

// Clip implements stream.Store.
func (s *Store) Clip(ctx context.Context, id string) (stream.Clip, error) {
	row, ok, err := found(s.read.GetClip(ctx, id))
	if err == nil && !ok {
		err = stream.ErrNoClip
	}
	return stream.Clip{
		ID: row.ID, Handle: row.Handle, MarketID: protocol.MarketID(row.MarketID), Title: row.Title, URL: pg.Value(row.URL),
		ThumbnailURL: row.ThumbnailURL,
		Duration:     row.DurationS, Status: row.Status, Stance: row.Stance, Views: row.Views, Boosted: row.Boosted,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, ReadyAt: pg.Value(row.ReadyAt),
	}, err
}

// UnreportedTapes implements clip.ReportStore.
func (s *Store) UnreportedTapes(ctx context.Context, repeat time.Time, limit int) ([]clip.Count, error) {
	rows, err := s.read.ListUnreportedTapes(ctx, db.ListUnreportedTapesParams{Repeat: repeat, MaxRows: int32(limit)})
	return pg.Collect(rows, func(row db.ListUnreportedTapesRow) clip.Count {
		return clip.Count{MarketID: protocol.MarketID(row.MarketID), Tapes: row.Tapes}
	}), err
}

// TapesReported implements clip.ReportStore.
func (s *Store) TapesReported(ctx context.Context, list []clip.Count, at time.Time) error {
	p := db.StoreTapeReportsParams{At: at}
	for _, c := range list {
		p.MarketIDs, p.Tapes = append(p.MarketIDs, string(c.MarketID)), append(p.Tapes, c.Tapes)
	}
	return s.write.StoreTapeReports(ctx, p)
}

// CountTapes implements broadcast.Store.
func (s *Store) CountTapes(ctx context.Context, ids []protocol.MarketID) (map[protocol.MarketID]int64, error) {
	rows, err := s.read.CountClips(ctx, words(ids))
	return mapOf(rows, err, func(row db.CountClipsRow) (protocol.MarketID, int64) {
		return protocol.MarketID(row.MarketID), row.Clips
	})
}
