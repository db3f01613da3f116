package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

// Last implements onair.Store.
func (s *OnAir) Last(ctx context.Context, handle syntax.Handle) (onair.Session, bool, error) {
	out, found, err := scanSession(s.read.QueryRow(ctx, query("onair_last"), handle))
	if err != nil {
		return onair.Session{}, false, fmt.Errorf("read session: %w", err)
	}
	return out, found, nil
}

// Find implements onair.Store.
func (s *OnAir) Find(ctx context.Context, handle syntax.Handle, id string) (onair.Session, bool, error) {
	out, found, err := scanSession(s.read.QueryRow(ctx, query("onair_get"), handle, id))
	if err != nil {
		return onair.Session{}, false, fmt.Errorf("read session: %w", err)
	}
	return out, found, nil
}

// Live implements onair.Store.
func (s *OnAir) Live(ctx context.Context, now time.Time) ([]onair.Show, error) {
	rows, err := s.read.Query(ctx, query("onair_live"), now, now.Add(-onair.Life), onair.MaxLive)
	if err != nil {
		return nil, fmt.Errorf("list who is live: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v onair.Show, err error) {
		var market, signal, name *string
		err = row.Scan(&v.ShowID, &v.Handle, &v.HLSURL, &v.Viewers, &v.StartedAt, &market, &signal, &name, &v.Approved)
		if market != nil {
			v.MarketID = syntax.MarketID(*market)
		}
		v.Signal = signalOf(signal, name)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("list who is live: %w", err)
	}
	return out, nil
}

// Recent implements onair.Store.
func (s *OnAir) Recent(ctx context.Context, now time.Time) ([]onair.Past, error) {
	rows, err := s.read.Query(ctx, query("onair_recent"), now.Add(-onair.RecentSpan), onair.MaxRecent, now.Add(-onair.Life))
	if err != nil {
		return nil, fmt.Errorf("list who was live: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p onair.Past, err error) {
		var market, name *string
		err = row.Scan(&p.ShowID, &p.Handle, &p.StartedAt, &p.EndedAt, &p.Peak, &market, &name, &p.Approved)
		p.Signal = signalOf(market, name)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list who was live: %w", err)
	}
	return out, nil
}

func signalOf(market, name *string) *onair.Signal {
	if market == nil || name == nil {
		return nil
	}
	return &onair.Signal{MarketID: syntax.MarketID(*market), Name: *name}
}
