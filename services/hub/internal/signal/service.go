package signal

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Writer is the ledger's writing side.
type Writer interface {
	File(ctx context.Context, by operator.Actor, d Draft) (Filed, error)
	Append(ctx context.Context, by operator.Actor, d EventDraft) (*signalv1.Event, error)
	// RehearseFile and RehearseEvent return what File and Append would store, and store nothing.
	RehearseFile(ctx context.Context, by operator.Actor, d Draft) (*signalv1.Signal, Filing, error)
	RehearseEvent(ctx context.Context, by operator.Actor, d EventDraft) (*signalv1.Event, error)
}

// ErrAway is what a ledger that cannot be reached answers a write with.
var ErrAway = fault.New(fault.Unavailable, "signal_service_unavailable", "signal service is away, try again")

// Budgets of a write, within the time of a request. The first try leaves
// room for the second: a try that got no answer may have been written, and
// only the same id can tell. The pause lets a broken connection come back.
const (
	firstTry = 2500 * time.Millisecond
	pause    = 100 * time.Millisecond
	inAll    = 3500 * time.Millisecond
)

// Service files calls and appends events.
type Service struct {
	ledger Writer
	newID  func() string
}

// NewService takes the ledger and a maker of uuid v7 ids.
func NewService(ledger Writer, newID func() string) *Service {
	return &Service{ledger: ledger, newID: newID}
}

// File gives the draft an id, if it has none, and files it. An answer that was lost is asked
// for once more with the same id, which the ledger answers with what really
// happened. Faults: unauthenticated, market_not_found, market_closed,
// already_predicted, price_moved, idempotency_key_reused, signal_service_unavailable,
// db_unavailable.
func (s *Service) File(ctx context.Context, by operator.Actor, d Draft) (Filed, error) {
	if d.ID == "" {
		d.ID = s.newID()
	}
	var filed Filed
	err := twice(ctx, func(ctx context.Context) (err error) {
		filed, err = s.ledger.File(ctx, by, d)
		d.Again = true
		return err
	})
	return filed, err
}

// Append gives the event its id and appends it, twice if need be as in File. The same
// idempotency key on the same signal is the same event. Faults: unauthenticated,
// not_found, forbidden, event_limit_reached, idempotency_key_reused,
// signal_service_unavailable, db_unavailable.
func (s *Service) Append(ctx context.Context, by operator.Actor, d EventDraft) (*signalv1.Event, error) {
	if d.ID = eventID(d.SignalID, d.IdempotencyKey); d.IdempotencyKey == "" {
		d.ID = s.newID()
	}
	var event *signalv1.Event
	err := twice(ctx, func(ctx context.Context) (err error) {
		event, err = s.ledger.Append(ctx, by, d)
		return err
	})
	return event, err
}

// RehearseFile returns the call that File would store, without its id, and stores nothing.
// It uses no idempotency key. Faults: those of File.
func (s *Service) RehearseFile(ctx context.Context, by operator.Actor, d Draft) (*signalv1.Signal, Filing, error) {
	d.ID, d.IdempotencyKey, d.BodyHash = s.newID(), "", nil
	would, filing, err := s.ledger.RehearseFile(ctx, by, d)
	if err != nil {
		return nil, Filing{}, err
	}
	would.Id = ""
	return would, filing, nil
}

// RehearseEvent returns the event that Append would store, without its id, and stores
// nothing. It uses no idempotency key. Faults: those of Append.
func (s *Service) RehearseEvent(ctx context.Context, by operator.Actor, d EventDraft) (*signalv1.Event, error) {
	d.ID, d.IdempotencyKey = s.newID(), ""
	would, err := s.ledger.RehearseEvent(ctx, by, d)
	if err != nil {
		return nil, err
	}
	would.Id = ""
	return would, nil
}

// twice runs a write and, when its answer was lost, once more.
func twice(ctx context.Context, write func(context.Context) error) error {
	first, done := context.WithTimeout(ctx, firstTry)
	err := write(first)
	done()
	if !errors.Is(err, ErrAway) {
		return err
	}
	wait := time.NewTimer(pause)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return err
	}
	end, _ := first.Deadline()
	second, done := context.WithDeadline(ctx, end.Add(inAll-firstTry))
	defer done()
	return write(second)
}
