package outbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Fact is an event that is to be published. Members that do not apply are empty.
type Fact struct {
	Place    int64  // in the outbox
	ID       string // uuid
	Type     string
	At       time.Time
	MarketID string
	Handle   string
	Topic    string
	Data     string // one JSON object on one line
}

// Store is the outbox of a schema.
type Store interface {
	// Waiting returns the oldest facts that are not sent, at most limit, in the order in which they were written.
	Waiting(ctx context.Context, limit int) ([]Fact, error)
	// Sent removes facts by their places.
	Sent(ctx context.Context, places []int64) error
}

const (
	pageSize = 200
	// lookEvery is the pause between two reads of the outbox.
	lookEvery  = 250 * time.Millisecond
	sendTime   = 5 * time.Second
	retryFirst = 250 * time.Millisecond
	retryMost  = 5 * time.Second
)

// Sender sends the facts of an outbox. An outbox must have one running Sender at a time.
type Sender struct {
	Store Store
	// Send publishes facts. After an error the same facts are sent again, in the same order.
	Send func(ctx context.Context, facts []Fact) error
	Log  *slog.Logger
}

// Run sends until ctx ends.
func (s Sender) Run(ctx context.Context) error {
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
		default:
			if retry != retryFirst {
				s.Log.InfoContext(ctx, "facts are sent again")
			}
			retry = retryFirst
		}
		if n == pageSize {
			continue
		}
		if err := dbtime.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// page sends what waits longest and says how much it was.
func (s Sender) page(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	facts, err := s.Store.Waiting(ctx, pageSize)
	if err != nil || len(facts) == 0 {
		return 0, err
	}
	if err := s.Send(ctx, facts); err != nil {
		return 0, err
	}
	places := make([]int64, len(facts))
	for i, f := range facts {
		places[i] = f.Place
	}
	if err := s.Store.Sent(ctx, places); err != nil {
		return 0, err
	}
	return len(facts), nil
}
