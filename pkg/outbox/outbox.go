// Package outbox carries what one service has committed to another that has to
// know, at least once and in order.
//
// Who writes a fact puts a row into the table outbox of its own schema, in the same
// statement or transaction. One replica sends what waits and deletes what was taken;
// the receiver tells repeats by the fact's id.
package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
)

// Fact is something that happened. Members that do not apply are empty.
type Fact struct {
	ID       string // uuid
	Type     string
	At       time.Time
	MarketID string
	Handle   string
	Topic    string
	Data     string // one JSON object on one line
}

const (
	pageSize = 200
	// lookEvery is how soon a fact is found that another process wrote.
	lookEvery  = 250 * time.Millisecond
	sendTime   = 5 * time.Second
	retryFirst = 250 * time.Millisecond
	retryMost  = 5 * time.Second
)

// Sender empties the outbox of a schema. All fields are required.
type Sender struct {
	Pool  *pgxpool.Pool // its search path begins with the schema
	Lease int64         // advisory lock of the one replica that sends
	// Send hands facts over. What fails is sent again, the same and in the same order.
	Send func(ctx context.Context, facts []Fact) error
	Log  *slog.Logger

	ring chan struct{}
}

// New makes a sender ready to be rung.
func New(s Sender) *Sender {
	s.ring = make(chan struct{}, 1)
	return &s
}

// Ring says that a fact was written in this process. It never waits.
func (s *Sender) Ring() {
	select {
	case s.ring <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, while this replica is the one that does.
func (s *Sender) Run(ctx context.Context) error {
	pg.Leader(ctx, s.Pool, s.Lease, s.lead)
	return ctx.Err()
}

func (s *Sender) lead(ctx context.Context) error {
	retry := retryFirst
	for {
		n, err := s.page(ctx)
		wait := lookEvery
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if retry == retryFirst {
				s.Log.WarnContext(ctx, "facts wait to be sent", "error", err)
			}
			wait, retry = retry, min(2*retry, retryMost)
		case n == pageSize:
			wait = 0
			fallthrough
		default:
			if retry != retryFirst {
				s.Log.InfoContext(ctx, "facts are sent again")
			}
			retry = retryFirst
		}
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		case <-s.ring:
			timer.Stop()
		}
	}
}

// page sends what waits longest and says how much it was.
func (s *Sender) page(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	rows, err := s.Pool.Query(ctx, `SELECT id, event_id, type, at, coalesce(market_id, ''), coalesce(handle, ''), coalesce(topic, ''), data
		FROM outbox ORDER BY id LIMIT $1`, pageSize)
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("read outbox: %w", err))
	}
	var ids []int64
	facts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Fact, error) {
		var id int64
		var f Fact
		err := row.Scan(&id, &f.ID, &f.Type, &f.At, &f.MarketID, &f.Handle, &f.Topic, &f.Data)
		ids = append(ids, id)
		return f, err
	})
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("read outbox: %w", err))
	}
	if len(facts) == 0 {
		return 0, nil
	}
	if err := s.Send(ctx, facts); err != nil {
		return 0, err
	}
	if _, err := s.Pool.Exec(ctx, `DELETE FROM outbox WHERE id = ANY ($1)`, ids); err != nil {
		return 0, pg.Fault(fmt.Errorf("empty outbox: %w", err))
	}
	return len(facts), nil
}
