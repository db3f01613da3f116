package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// OnAir stores live sessions, overlay signals and streamer profiles. It implements livestream.Store.
type OnAir struct{ conn }

// OnAir returns the store of package livestream on the same pool.
func (s *Store) OnAir() *OnAir { return &OnAir{s.conn} }

// Suspended reports whether an administrator has suspended an operator. Error: db_unavailable.
func (s *Store) Suspended(ctx context.Context, handle protocol.Handle) (bool, error) {
	p, err := s.OnAir().Streamer(ctx, handle)
	return p.Status == livestream.Suspended, err
}

// withOperator runs the function do in a transaction that holds the lock of an operator. Concurrent changes of one operator's
// sessions, streams and overlay are thus serialized.
func (s *OnAir) withOperator(ctx context.Context, handle protocol.Handle, do func(ctx context.Context, t operatorTx) error) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockOperator(ctx, string(handle)); err != nil {
			return err
		}
		return do(ctx, operatorTx{q: q, handle: handle})
	})
}

// operatorTx is a transaction that holds the lock of an operator.
type operatorTx struct {
	q      *db.Queries
	handle protocol.Handle
}

// Beat implements livestream.Store.
func (s *OnAir) Beat(ctx context.Context, b livestream.Start) (out livestream.Session, err error) {
	err = s.withOperator(ctx, b.Handle, func(ctx context.Context, t operatorTx) error {
		if b.MessageID != "" {
			row, done, err := found(t.q.GetLiveSessionOfMessage(ctx, b.MessageID))
			if err != nil {
				return err
			}
			if done {
				out = session(row.LiveSession)
				return nil
			}
		}
		if err := t.checkAllowed(ctx); err != nil {
			return err
		}
		out, err = t.beat(ctx, b)
		return err
	})
	return out, err
}

// checkAllowed returns livestream.ErrNotApproved if the operator is suspended.
func (t operatorTx) checkAllowed(ctx context.Context) error {
	one, err := streamer(ctx, t.q, t.handle)
	if err == nil && one.Status == livestream.Suspended {
		return livestream.ErrNotApproved
	}
	return err
}

func (t operatorTx) beat(ctx context.Context, b livestream.Start) (livestream.Session, error) {
	open, ok, err := t.open(ctx)
	if err != nil {
		return livestream.Session{}, err
	}
	if current := open.At(b.At); ok && !current.Open() {
		if err := t.end(ctx, open, current.EndedAt, b.At); err != nil {
			return livestream.Session{}, err
		}
		ok = false
	}
	url, err := t.requestedURL(ctx, b)
	if err != nil {
		return livestream.Session{}, err
	}
	id := open.ID
	if !ok {
		id = b.NewID
	}
	if err := t.storeBeat(ctx, b, id, url, ok); err != nil {
		return livestream.Session{}, err
	}
	if err := t.updateURL(ctx, id, b.Provisioned, b.At); err != nil {
		return livestream.Session{}, err
	}
	now, _, err := t.open(ctx)
	now.WentLive = now.URL != "" && (!ok || open.URL == "")
	return now, err
}

// storeBeat stores a heartbeat. If extend is true, it extends the session with the given id. Otherwise it starts a session
// with this id. It also extends the overlay signal. For a go-live message, it stores that the message has been executed.
func (t operatorTx) storeBeat(ctx context.Context, b livestream.Start, id string, url *string, extend bool) error {
	p := db.ExtendLiveSessionParams{
		ID: id, Now: b.At, MarketID: pg.Null(string(b.MarketID)), OwnURL: url, BroadcastID: pg.Null(b.BroadcastID),
		BitrateKbps: b.Bitrate, ReportedViewers: b.Viewers,
	}
	var err error
	if extend {
		err = t.q.ExtendLiveSession(ctx, p)
	} else {
		err = t.q.InsertLiveSession(ctx, db.InsertLiveSessionParams{
			ID: id, Handle: b.Handle, Now: p.Now, MarketID: p.MarketID, OwnURL: p.OwnURL, BroadcastID: p.BroadcastID,
			BitrateKbps: p.BitrateKbps, ReportedViewers: p.ReportedViewers,
		})
	}
	if err != nil {
		return err
	}
	err = t.q.ExtendOverlay(ctx, db.ExtendOverlayParams{Handle: b.Handle, Now: b.At, ExpiresAt: b.At.Add(livestream.OverlayLife)})
	if err != nil || b.MessageID == "" {
		return err
	}
	return t.q.InsertGoLive(ctx, db.InsertGoLiveParams{MessageID: b.MessageID, SessionID: id, Now: b.At, BroadcastID: b.BroadcastID})
}

// requestedURL returns the stream URL that a go-live message sets for the session. It returns nil if the request has no URL,
// as for a heartbeat. If the message names a market, requestedURL binds the URL to the market and returns an empty text.
func (t operatorTx) requestedURL(ctx context.Context, b livestream.Start) (*string, error) {
	if b.OwnURL == "" {
		return nil, nil
	}
	url := b.OwnURL
	if b.MarketID != "" {
		url = ""
		one := stream.Stream{MarketID: b.MarketID, Handle: b.Handle, URL: b.OwnURL, Label: b.Label, UpdatedAt: b.At}
		if err := t.bind(ctx, one); err != nil {
			return nil, err
		}
	}
	return &url, nil
}

// open locks and returns the open session of the operator. It returns false if there is none.
func (t operatorTx) open(ctx context.Context) (livestream.Session, bool, error) {
	row, ok, err := found(t.q.LockLiveSession(ctx, t.handle))
	return session(row.LiveSession), ok, err
}

func session(row db.LiveSession) livestream.Session {
	return livestream.Session{
		ID: row.ID, Handle: row.Handle, StartedAt: row.StartedAt, LastBeat: row.LastBeat, EndedAt: pg.Value(row.EndedAt),
		MarketID: protocol.MarketID(pg.Value(row.MarketID)), OwnURL: pg.Value(row.OwnURL), URL: pg.Value(row.HLSURL), Aired: row.Aired,
		Viewers: int64(row.Viewers), Peak: int64(row.ViewersPeak), Signal: signalOf(row.SignalMarket, pg.Value(row.SignalName)),
	}
}

// updateURL updates the stream URL of the open session with the given id. provisioned is the playback URL of the provisioned
// stream, or empty. After a change, updateURL publishes snapshots. If the session thereby goes live or offline, it first
// publishes an event.
func (t operatorTx) updateURL(ctx context.Context, id, provisioned string, now time.Time) error {
	s, _, err := t.open(ctx)
	if err != nil {
		return err
	}
	url, err := t.q.GetSessionURL(ctx, db.GetSessionURLParams{Handle: t.handle, ID: id, Provisioned: provisioned, Now: now})
	if err != nil || url == s.URL {
		return err
	}
	if err := t.q.SetSessionURL(ctx, db.SetSessionURLParams{ID: id, HLSURL: pg.Null(url)}); err != nil {
		return err
	}
	switch {
	case s.URL == "":
		err = t.q.PublishLive(ctx, db.PublishLiveParams{ID: id, Now: now})
	case url == "":
		err = t.q.PublishOffline(ctx, db.PublishOfflineParams{ID: id, Now: now, EndedAt: now})
	}
	if err != nil {
		return err
	}
	return t.publishSnapshots(ctx, now, true)
}

// end ends a session and publishes snapshots. ended is the time at which the session ended. If the session was live, end first
// publishes an event.
func (t operatorTx) end(ctx context.Context, s livestream.Session, ended, now time.Time) error {
	if err := t.q.EndLiveSession(ctx, db.EndLiveSessionParams{ID: s.ID, EndedAt: ended, Now: now}); err != nil {
		return err
	}
	if s.URL == "" {
		return t.publishSnapshots(ctx, now, s.Aired)
	}
	if err := t.q.PublishOffline(ctx, db.PublishOfflineParams{ID: s.ID, Now: now, EndedAt: ended}); err != nil {
		return err
	}
	return t.publishSnapshots(ctx, now, true)
}

// publishSnapshots publishes the snapshot of the operator's channel. If list is true, it then publishes the live list. The
// live list is last, because all operators share its lock.
func (t operatorTx) publishSnapshots(ctx context.Context, now time.Time, list bool) error {
	handle := string(t.handle)
	at, err := t.q.TakeChannelTime(ctx, db.TakeChannelTimeParams{Channel: "operator:" + handle, Now: now})
	if err != nil {
		return err
	}
	err = t.q.PublishOperator(ctx, db.PublishOperatorParams{Handle: handle, At: at, Now: now, Stale: now.Add(-livestream.Life)})
	if err != nil || !list {
		return err
	}
	return publishLiveList(ctx, t.q, now)
}

func publishLiveList(ctx context.Context, q *db.Queries, now time.Time) error {
	at, err := q.TakeChannelTime(ctx, db.TakeChannelTimeParams{Channel: "live", Now: now})
	if err != nil {
		return err
	}
	return q.PublishLiveList(ctx, db.PublishLiveListParams{
		At: at, Now: now, Stale: now.Add(-livestream.Life), Since: now.Add(-livestream.RecentSpan), MaxLive: livestream.MaxLive, MaxRecent: livestream.MaxRecent,
	})
}

// End implements livestream.Store.
func (s *OnAir) End(ctx context.Context, handle protocol.Handle, now time.Time) (out livestream.Session, ended bool, err error) {
	err = s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) (err error) {
		out, ended, err = t.endOpen(ctx, now)
		return err
	})
	return out, ended, err
}

// endOpen ends the open session of the operator at the time now. ended is false if there was none, or if its heartbeats had timed
// out before.
func (t operatorTx) endOpen(ctx context.Context, now time.Time) (out livestream.Session, ended bool, err error) {
	open, ok, err := t.open(ctx)
	if err != nil || !ok {
		return open, false, err
	}
	out = open.At(now)
	if ended = out.Open(); ended {
		out.EndedAt, out.Viewers = now, 0
	}
	return out, ended, t.end(ctx, open, out.EndedAt, now)
}

// Refresh implements livestream.Store.
func (s *OnAir) Refresh(ctx context.Context, handle protocol.Handle, provisioned string, now time.Time) error {
	return s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error { return t.refresh(ctx, provisioned, now) })
}

// refresh updates the stream URL of the operator's open session, if there is one.
func (t operatorTx) refresh(ctx context.Context, provisioned string, now time.Time) error {
	open, ok, err := t.open(ctx)
	if err != nil || !ok || !open.At(now).Open() {
		return err
	}
	return t.updateURL(ctx, open.ID, provisioned, now)
}

// maxSweep is the maximum number of stale sessions, and the maximum number of expired overlay signals, in one sweep.
const maxSweep = 500

// Sweep implements livestream.Store.
func (s *OnAir) Sweep(ctx context.Context, now time.Time) (int, error) {
	stale, err := s.read.ListStaleLiveSessions(ctx, db.ListStaleLiveSessionsParams{Stale: now.Add(-livestream.Life), MaxRows: maxSweep})
	if err != nil {
		return 0, err
	}
	expired, err := s.read.ListExpiredOverlays(ctx, db.ListExpiredOverlaysParams{Now: now, MaxRows: maxSweep})
	if err != nil {
		return 0, err
	}
	due := append(stale, expired...)
	slices.Sort(due)
	due = slices.Compact(due)
	for n, handle := range due {
		if err := s.withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error { return t.settle(ctx, now) }); err != nil {
			return n, err
		}
	}
	return len(due), nil
}

// settle ends the operator's open session if its heartbeats have timed out, and clears the overlay signal if it has expired.
func (t operatorTx) settle(ctx context.Context, now time.Time) error {
	open, ok, err := t.open(ctx)
	if err != nil {
		return err
	}
	if current := open.At(now); ok && !current.Open() {
		if err := t.end(ctx, open, current.EndedAt, now); err != nil {
			return err
		}
	}
	return t.clearOverlay(ctx, now, true)
}

// Last implements livestream.Store.
func (s *OnAir) Last(ctx context.Context, handle protocol.Handle) (livestream.Session, bool, error) {
	row, ok, err := found(s.read.GetNewestLiveSession(ctx, handle))
	return session(row.LiveSession), ok, err
}

// Find implements livestream.Store.
func (s *OnAir) Find(ctx context.Context, handle protocol.Handle, id string) (livestream.Session, bool, error) {
	row, ok, err := found(s.read.GetLiveSession(ctx, db.GetLiveSessionParams{Handle: handle, ID: id}))
	return session(row.LiveSession), ok, err
}

// Live implements livestream.Store.
func (s *OnAir) Live(ctx context.Context, now time.Time) ([]livestream.Show, error) {
	rows, err := s.read.ListLive(ctx, db.ListLiveParams{Now: now, Stale: now.Add(-livestream.Life), MaxRows: livestream.MaxLive})
	return pg.Collect(rows, func(row db.ListLiveRow) livestream.Show {
		return livestream.Show{
			ShowID: row.ID, Handle: row.Handle, HLSURL: pg.Value(row.HLSURL), Viewers: int64(row.Viewers), StartedAt: row.StartedAt,
			MarketID: protocol.MarketID(pg.Value(row.MarketID)), Signal: signalOf(row.SignalMarket, pg.Value(row.SignalName)),
			Approved: row.Approved,
		}
	}), err
}

// Recent implements livestream.Store.
func (s *OnAir) Recent(ctx context.Context, now time.Time, span time.Duration) ([]livestream.Past, error) {
	rows, err := s.read.ListRecent(ctx, db.ListRecentParams{
		Since: now.Add(-span), Stale: now.Add(-livestream.Life), MaxRows: livestream.MaxRecent,
	})
	return pg.Collect(rows, func(row db.ListRecentRow) livestream.Past {
		return livestream.Past{
			ShowID: row.ID, Handle: row.Handle, StartedAt: row.StartedAt, EndedAt: row.Ended, Peak: int64(row.ViewersPeak),
			Signal: signalOf(row.SignalMarket, row.SignalName), Approved: row.Approved,
		}
	}), err
}

// signalOf returns the overlay signal with the given market and name. It returns nil if market is nil or name is empty.
func signalOf(market *string, name string) *livestream.Signal {
	if market == nil || name == "" {
		return nil
	}
	return &livestream.Signal{MarketID: protocol.MarketID(*market), Name: name}
}

// Sample implements livestream.Store.
func (s *OnAir) Sample(ctx context.Context, list []livestream.Sample, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	p := db.InsertSamplesParams{Now: now}
	for _, one := range list {
		p.IDs, p.Viewers = append(p.IDs, one.ShowID), append(p.Viewers, int32(min(one.Viewers, 1<<31-1)))
	}
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		changed, err := q.InsertSamples(ctx, p)
		if err != nil || changed == 0 {
			return err
		}
		return publishLiveList(ctx, q, now)
	})
}

// ReportViewers implements livestream.Store.
func (s *OnAir) ReportViewers(ctx context.Context, r livestream.ReportTimes) error {
	return s.write.ReportViewers(ctx, db.ReportViewersParams{
		Oldest: r.Oldest, Due: r.Due, Complete: r.Complete, SampleSeconds: int64(livestream.SampleEvery / time.Second),
	})
}

// Thin implements livestream.Store.
func (s *OnAir) Thin(ctx context.Context, before time.Time) error {
	return s.write.DeleteOldSamples(ctx, before)
}

// Count implements livestream.Store.
func (s *OnAir) Count(ctx context.Context, handle protocol.Handle) (int64, error) {
	return s.read.CountLiveSessions(ctx, handle)
}

// SessionWatched implements livestream.Store.
func (s *OnAir) SessionWatched(ctx context.Context, id string) (livestream.Watched, error) {
	row, err := s.read.GetSessionViewers(ctx, id)
	return livestream.Watched(row), err
}

// Activity implements livestream.Store.
func (s *OnAir) Activity(ctx context.Context, handle protocol.Handle, id operator.ID, from, to time.Time) (livestream.Activity, error) {
	row, err := s.read.GetActivity(ctx, db.GetActivityParams{Handle: handle, Followed: id, First: from, Last: to})
	return livestream.Activity(row), err
}

// Totals implements livestream.Store.
func (s *OnAir) Totals(ctx context.Context, handle protocol.Handle, from, now time.Time) (livestream.Totals, error) {
	row, err := s.read.GetAiredTime(ctx, db.GetAiredTimeParams{Handle: handle, Since: from, Now: now})
	return livestream.Totals{
		Sessions: row.Sessions, Live: time.Duration(row.Seconds) * time.Second, Peak: int64(row.Peak),
		Watched: livestream.Watched{Viewers: row.Viewers, Samples: row.Samples},
	}, err
}

// Series implements livestream.Store.
func (s *OnAir) Series(ctx context.Context, handle protocol.Handle, from time.Time, step time.Duration, most int) ([]livestream.Step, error) {
	rows, err := s.read.ListViewers(ctx, db.ListViewersParams{
		Handle: handle, Since: from, Seconds: int32(step / time.Second), MaxRows: int32(most),
	})
	slices.Reverse(rows)
	return pg.Collect(rows, func(row db.ListViewersRow) livestream.Step {
		return livestream.Step{At: row.Step, Viewers: row.Viewers}
	}), err
}
