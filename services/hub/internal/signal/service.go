package signal

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ErrAway is what a ledger that cannot be reached answers a write with.
var ErrAway = apperr.New(apperr.Unavailable, "signal_service_unavailable", "signal service is away, try again")

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
	ledger *ledgerclient.Client
	newID  func() string
}

// NewService takes the client of the ledger and a maker of uuid v7 ids.
func NewService(ledger *ledgerclient.Client, newID func() string) *Service {
	return &Service{ledger: ledger, newID: newID}
}

// File gives the draft an id, if it has none, and files it. If the answer was lost, the call is
// sent once more with the same id, and the ledger answers with what it has stored. Faults:
// unauthenticated, market_not_found, market_closed, already_predicted, price_moved,
// idempotency_key_reused, signal_service_unavailable, db_unavailable.
func (s *Service) File(ctx context.Context, by operator.Actor, d *signalv1.Draft) (*signalv1.FileResponse, error) {
	if d.GetId() == "" {
		d.Id = s.newID()
	}
	var filed *signalv1.FileResponse
	again := false
	err := twice(ctx, func(ctx context.Context) (err error) {
		filed, err = s.ledger.File(ctx, &signalv1.FileRequest{Caller: callerOf(by), Draft: d}, again)
		again = true
		return err
	})
	return filed, err
}

// Append gives the event its id and appends it, twice if need be as in File. The same
// idempotency key on the same signal is the same event; an empty key is none. Errors: unauthenticated,
// not_found, forbidden, event_limit_reached, idempotency_key_reused,
// signal_service_unavailable, db_unavailable.
func (s *Service) Append(ctx context.Context, by operator.Actor, d *signalv1.AppendEventRequest, key string) (*signalv1.Event, error) {
	d.Caller = callerOf(by)
	if d.EventId = eventID(d.GetSignalId(), key); key == "" {
		d.EventId = s.newID()
	}
	var event *signalv1.Event
	err := twice(ctx, func(ctx context.Context) error {
		r, err := s.ledger.SignalWrites.AppendEvent(ctx, d)
		event = r.GetEvent()
		return err
	})
	return event, err
}

// RehearseFile returns the call that File would store, without its id, and stores nothing.
// It uses no idempotency key. Errors: those of File.
func (s *Service) RehearseFile(ctx context.Context, by operator.Actor, d *signalv1.Draft) (*signalv1.RehearseFileResponse, error) {
	d.Id, d.IdempotencyKey, d.BodyHash = s.newID(), nil, nil
	r, err := s.ledger.SignalWrites.RehearseFile(ctx, &signalv1.RehearseFileRequest{Caller: callerOf(by), Draft: d})
	if err != nil {
		return nil, err
	}
	r.Signal.Id = ""
	return r, nil
}

// RehearseEvent returns the event that Append would store, without its id, and stores
// nothing. It uses no idempotency key. Errors: those of Append.
func (s *Service) RehearseEvent(ctx context.Context, by operator.Actor, d *signalv1.AppendEventRequest) (*signalv1.Event, error) {
	r, err := s.ledger.SignalWrites.RehearseEvent(ctx, &signalv1.RehearseEventRequest{
		Caller: callerOf(by), SignalId: d.GetSignalId(), Type: d.GetType(), Payload: d.GetPayload(), EventId: s.newID(),
	})
	if err != nil {
		return nil, err
	}
	r.Event.Id = ""
	return r.GetEvent(), nil
}

func callerOf(by operator.Actor) *operatorv1.Caller {
	if by.KeyHash != nil {
		return &operatorv1.Caller{Credential: &operatorv1.Caller_KeyHash{KeyHash: by.KeyHash}}
	}
	return &operatorv1.Caller{Credential: &operatorv1.Caller_OperatorId{OperatorId: string(by.ID)}}
}

// twice runs a write and, when its answer was lost, once more.
func twice(ctx context.Context, write func(context.Context) error) error {
	first, done := context.WithTimeout(ctx, firstTry)
	err := write(first)
	done()
	if !errors.Is(err, ErrAway) {
		return err
	}
	if dbtime.Sleep(ctx, pause) != nil {
		return err
	}
	end, _ := first.Deadline()
	second, done := context.WithDeadline(ctx, end.Add(inAll-firstTry))
	defer done()
	return write(second)
}
