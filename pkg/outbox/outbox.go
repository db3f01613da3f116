package outbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Fact is an event that is stored in the outbox and sent to another service. Fields that do not apply to the event are empty.
type Fact struct {
	RowID    int64  // id of the row in the table outbox, in the order of writing
	ID       string // uuid
	Type     string
	At       time.Time
	MarketID string
	Handle   string
	Topic    string
	Data     string // a JSON object on one line
}

// Store reads and deletes the rows of the table outbox in the schema of a service.
type Store interface {
	// Waiting returns the oldest unsent facts, at most limit, in the order in which they were written.
	Waiting(ctx context.Context, limit int) ([]Fact, error)
	// Sent deletes the facts with the given row ids.
	Sent(ctx context.Context, rowIDs []int64) error
}

const (
	pageSize = 200
	// pollInterval is the time between two reads of the outbox.
	pollInterval  = 250 * time.Millisecond
	sendTimeout   = 5 * time.Second
	minRetryDelay = 250 * time.Millisecond
	maxRetryDelay = 5 * time.Second
)

// Sender sends the facts of an outbox. At most one Sender may run per outbox.
type Sender struct {
	Store Store
	// Send sends facts to the receiver. After an error the same facts are sent again in the same order.
	Send func(ctx context.Context, facts []Fact) error
	Log  *slog.Logger
}

// Run sends facts until ctx ends, and returns the error of ctx. After a failure it waits before the next attempt, from
// 250 ms up to 5 s.
func (s Sender) Run(ctx context.Context) error {
	retry := minRetryDelay
	for {
		n, err := s.sendPage(ctx)
		wait := pollInterval
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if retry == minRetryDelay {
				s.Log.WarnContext(ctx, "outbox delivery failed", "error", err)
			}
			wait, retry = retry, min(2*retry, maxRetryDelay)
		default:
			if retry != minRetryDelay {
				s.Log.InfoContext(ctx, "outbox delivery resumed")
			}
			retry = minRetryDelay
		}
		if n == pageSize {
			continue
		}
		if err := dbtime.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// sendPage sends the oldest facts, at most pageSize, deletes them and returns their number. After an error the number
// is 0.
func (s Sender) sendPage(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	facts, err := s.Store.Waiting(ctx, pageSize)
	if err != nil || len(facts) == 0 {
		return 0, err
	}
	if err := s.Send(ctx, facts); err != nil {
		return 0, err
	}
	rowIDs := make([]int64, len(facts))
	for i, f := range facts {
		rowIDs[i] = f.RowID
	}
	if err := s.Store.Sent(ctx, rowIDs); err != nil {
		return 0, err
	}
	return len(facts), nil
}
