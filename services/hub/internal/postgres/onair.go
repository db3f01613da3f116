package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

// OnAir keeps what happens on the air.
type OnAir struct{ *Store }

// OnAir is the store of package onair.
func (s *Store) OnAir() *OnAir { return &OnAir{s} }

// turn does something about one operator while nothing else about it is done.
func (s *OnAir) turn(ctx context.Context, handle syntax.Handle, do func(ctx context.Context, t stage) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err := pg.InTx(ctx, s.db.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("onair_lock"), handle); err != nil {
			return err
		}
		return do(ctx, stage{tx: tx, handle: handle})
	})
	if err != nil {
		return fmt.Errorf("change what is on the air: %w", err)
	}
	return nil
}

// stage is one operator in its turn.
type stage struct {
	tx     pgx.Tx
	handle syntax.Handle
}

// Beat implements onair.Store.
func (s *OnAir) Beat(ctx context.Context, b onair.Start) (out onair.Session, err error) {
	err = s.turn(ctx, b.Handle, func(ctx context.Context, t stage) (err error) {
		if b.MessageID != "" {
			var done bool
			if out, done, err = scanSession(t.tx.QueryRow(ctx, query("onair_went"), b.MessageID)); err != nil || done {
				return err
			}
		}
		if err := t.allowed(ctx); err != nil {
			return err
		}
		out, err = t.beat(ctx, b)
		return err
	})
	return out, err
}

// allowed refuses a suspended operator.
func (t stage) allowed(ctx context.Context) error {
	status, _, err := t.status(ctx)
	if err == nil && status == onair.Suspended {
		return onair.ErrNotApproved
	}
	return err
}

func (t stage) status(ctx context.Context) (status onair.Status, lanes []string, err error) {
	err = t.tx.QueryRow(ctx, query("streamer_get"), t.handle).Scan(&status, &lanes)
	if errors.Is(err, pgx.ErrNoRows) {
		return onair.Unregistered, nil, nil
	}
	return status, lanes, err
}

func (t stage) beat(ctx context.Context, b onair.Start) (onair.Session, error) {
	open, found, err := t.open(ctx)
	if err != nil {
		return onair.Session{}, err
	}
	if over := open.At(b.At); found && !over.Open() {
		if err := t.end(ctx, open, over.EndedAt, b.At); err != nil {
			return onair.Session{}, err
		}
		found = false
	}
	url, err := t.named(ctx, b)
	if err != nil {
		return onair.Session{}, err
	}
	market, broadcast, id := maybeText(string(b.MarketID)), maybeText(b.BroadcastID), open.ID
	if found {
		_, err = t.tx.Exec(ctx, query("onair_beat"), id, b.At, market, url, broadcast, b.Bitrate, b.Viewers)
	} else {
		id = b.NewID
		_, err = t.tx.Exec(ctx, query("onair_start"), id, b.Handle, b.At, market, url, broadcast, b.Bitrate, b.Viewers)
	}
	if err != nil {
		return onair.Session{}, err
	}
	if _, err := t.tx.Exec(ctx, query("onair_keep_overlay"), b.Handle, b.At, b.At.Add(onair.OverlayLife)); err != nil {
		return onair.Session{}, err
	}
	if b.MessageID != "" {
		if _, err := t.tx.Exec(ctx, query("onair_go"), b.MessageID, id, b.At, b.BroadcastID); err != nil {
			return onair.Session{}, err
		}
	}
	if _, err := t.air(ctx, id, b.Provisioned, b.At); err != nil {
		return onair.Session{}, err
	}
	now, _, err := t.open(ctx)
	now.WentLive = now.URL != "" && (!found || open.URL == "")
	return now, err
}

// named is the address that a go-live names for the session itself: none where the
// stream is bound to a market. nil: it is no go-live.
func (t stage) named(ctx context.Context, b onair.Start) (*string, error) {
	if b.OwnURL == "" {
		return nil, nil
	}
	url := b.OwnURL
	if b.MarketID != "" {
		url = ""
		if _, err := t.tx.Exec(ctx, query("stream_bind"), b.MarketID, b.Handle, b.OwnURL, b.Label, b.At); err != nil {
			return nil, err
		}
	}
	return &url, nil
}

// open finds the open session and holds it.
func (t stage) open(ctx context.Context) (onair.Session, bool, error) {
	return scanSession(t.tx.QueryRow(ctx, query("onair_open"), t.handle))
}

func scanSession(row pgx.Row) (onair.Session, bool, error) {
	var s onair.Session
	var ended *time.Time
	var market, signal, name *string
	err := row.Scan(&s.ID, &s.Handle, &s.StartedAt, &s.LastBeat, &ended, &market, &s.OwnURL, &s.URL, &s.Aired, &s.Viewers, &s.Peak, &signal, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return onair.Session{}, false, nil
	}
	if ended != nil {
		s.EndedAt = *ended
	}
	if market != nil {
		s.MarketID = syntax.MarketID(*market)
	}
	s.Signal = signalOf(signal, name)
	return s, err == nil, err
}

// air looks where the viewers of an open session are sent, and tells when it went on
// the air or off it by that; changed tells that they are sent elsewhere.
func (t stage) air(ctx context.Context, id, provisioned string, now time.Time) (changed bool, err error) {
	s, _, err := t.open(ctx)
	if err != nil {
		return false, err
	}
	var url string
	if err := t.tx.QueryRow(ctx, query("onair_url"), t.handle, id, provisioned, now).Scan(&url); err != nil {
		return false, err
	}
	if url == s.URL {
		return false, nil
	}
	if _, err := t.tx.Exec(ctx, query("onair_air"), id, maybeText(url)); err != nil {
		return false, err
	}
	switch {
	case s.URL == "":
		_, err = t.tx.Exec(ctx, query("onair_tell_live"), id, now)
	case url == "":
		_, err = t.tx.Exec(ctx, query("onair_tell_offline"), id, now, now)
	}
	if err != nil {
		return false, err
	}
	return true, t.copies(ctx, now, true)
}

// end ends a session and tells of it.
func (t stage) end(ctx context.Context, s onair.Session, ended, now time.Time) error {
	if _, err := t.tx.Exec(ctx, query("onair_end"), s.ID, ended, now); err != nil {
		return err
	}
	if s.URL == "" {
		return t.copies(ctx, now, s.Aired)
	}
	if _, err := t.tx.Exec(ctx, query("onair_tell_offline"), s.ID, now, ended); err != nil {
		return err
	}
	return t.copies(ctx, now, true)
}

// copies tells how the channel of the operator begins from now on, and that of the
// live list where it moved. Each channel has its turn; that of the list comes last.
func (t stage) copies(ctx context.Context, now time.Time, list bool) error {
	at, err := t.head(ctx, "operator:"+string(t.handle), now)
	if err != nil {
		return err
	}
	if _, err := t.tx.Exec(ctx, query("onair_copy_operator"), t.handle, at, now, now.Add(-onair.Life)); err != nil {
		return err
	}
	if !list {
		return nil
	}
	return t.copyLive(ctx, now)
}

func (t stage) copyLive(ctx context.Context, now time.Time) error {
	at, err := t.head(ctx, "live", now)
	if err != nil {
		return err
	}
	_, err = t.tx.Exec(ctx, query("onair_copy_live"), at, now, now.Add(-onair.Life), now.Add(-onair.RecentSpan), onair.MaxLive, onair.MaxRecent)
	return err
}

// head takes the turn of a channel; copies of it leave in the order of these times.
func (t stage) head(ctx context.Context, channel string, now time.Time) (at time.Time, err error) {
	err = t.tx.QueryRow(ctx, query("onair_head"), channel, now).Scan(&at)
	return at, err
}

// End implements onair.Store.
func (s *OnAir) End(ctx context.Context, handle syntax.Handle, now time.Time) (out onair.Session, ended bool, err error) {
	err = s.turn(ctx, handle, func(ctx context.Context, t stage) (err error) {
		out, ended, err = t.off(ctx, now)
		return err
	})
	return out, ended, err
}

// off ends the open session now; false: there was none, or it was over before.
func (t stage) off(ctx context.Context, now time.Time) (out onair.Session, ended bool, err error) {
	open, found, err := t.open(ctx)
	if err != nil || !found {
		return open, false, err
	}
	out = open.At(now)
	if ended = out.Open(); ended {
		out.EndedAt, out.Viewers = now, 0
	}
	return out, ended, t.end(ctx, open, out.EndedAt, now)
}

// Refresh implements onair.Store.
func (s *OnAir) Refresh(ctx context.Context, handle syntax.Handle, provisioned string, now time.Time) error {
	return s.turn(ctx, handle, func(ctx context.Context, t stage) error {
		open, found, err := t.open(ctx)
		if err != nil || !found || !open.At(now).Open() {
			return err
		}
		_, err = t.air(ctx, open.ID, provisioned, now)
		return err
	})
}

// sweepMost is how many operators one sweep looks at of each kind.
const sweepMost = 500

// Sweep implements onair.Store.
func (s *OnAir) Sweep(ctx context.Context, now time.Time) (int, error) {
	n := 0
	for name, before := range map[string]time.Time{"onair_due": now.Add(-onair.Life), "overlay_due": now} {
		rows, err := s.read.Query(ctx, query(name), before, sweepMost)
		if err != nil {
			return n, fmt.Errorf("look for what is over: %w", err)
		}
		due, err := pgx.CollectRows(rows, pgx.RowTo[syntax.Handle])
		if err != nil {
			return n, fmt.Errorf("look for what is over: %w", err)
		}
		for _, handle := range due {
			if err := s.turn(ctx, handle, func(ctx context.Context, t stage) error { return t.settle(ctx, now) }); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// settle ends what is over of one operator.
func (t stage) settle(ctx context.Context, now time.Time) error {
	open, found, err := t.open(ctx)
	if err != nil {
		return err
	}
	if over := open.At(now); found && !over.Open() {
		if err := t.end(ctx, open, over.EndedAt, now); err != nil {
			return err
		}
	}
	return t.expire(ctx, now)
}
