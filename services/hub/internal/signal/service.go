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

// ErrUnavailable is the error of a write if the ledger cannot be reached or does not answer.
var ErrUnavailable = apperr.New(apperr.Unavailable, "signal_service_unavailable",
	"the signal service is unavailable; retry later")

// Time limits of a write: firstAttempt for its first attempt, pause before the second attempt, and total for both. A write
// without a response may have been stored. A second attempt with the same id returns the stored result. The pause lets the
// connection recover.
const (
	firstAttempt = 2500 * time.Millisecond
	pause        = 100 * time.Millisecond
	total        = 3500 * time.Millisecond
)

// Service files calls and appends events to calls.
type Service struct {
	ledger *ledgerclient.Client
	newID  func() string
}

// NewService builds a Service that uses a client of the ledger. newID must return a new UUIDv7.
func NewService(ledger *ledgerclient.Client, newID func() string) *Service {
	return &Service{ledger: ledger, newID: newID}
}

// File files a call. It assigns an id to the draft unless the draft has one. If the response is lost, File repeats the request
// with the same id, and the ledger returns the stored result. Errors: unauthenticated, market_not_found, market_closed,
// already_predicted, price_moved, idempotency_key_reused, signal_service_unavailable, db_unavailable.
func (s *Service) File(ctx context.Context, by operator.Actor, d *signalv1.Draft) (*signalv1.FileResponse, error) {
	if d.GetId() == "" {
		d.Id = s.newID()
	}
	var filed *signalv1.FileResponse
	again := false
	err := withRetry(ctx, func(ctx context.Context) (err error) {
		filed, err = s.ledger.File(ctx, &signalv1.FileRequest{Caller: callerOf(by), Draft: d}, again)
		again = true
		return err
	})
	return filed, err
}

// Append assigns an id to an event and appends it to its call. It repeats a request whose response was lost. key is the
// idempotency key: the same key on the same call identifies the same event. An empty key means that there is none. Errors:
// unauthenticated, not_found, forbidden, event_limit_reached, idempotency_key_reused, signal_service_unavailable, db_unavailable.
func (s *Service) Append(ctx context.Context, by operator.Actor, d *signalv1.AppendEventRequest, key string) (*signalv1.Event, error) {
	d.Caller = callerOf(by)
	if d.EventId = eventID(d.GetSignalId(), key); key == "" {
		d.EventId = s.newID()
	}
	var event *signalv1.Event
	err := withRetry(ctx, func(ctx context.Context) error {
		r, err := s.ledger.SignalWrites.AppendEvent(ctx, d)
		event = r.GetEvent()
		return err
	})
	return event, err
}

// DryRunFile is a dry run of File: it returns the call without an id and stores nothing. It uses no idempotency key. It has the
// errors of File except idempotency_key_reused.
func (s *Service) DryRunFile(ctx context.Context, by operator.Actor, d *signalv1.Draft) (*signalv1.RehearseFileResponse, error) {
	d.Id, d.IdempotencyKey, d.BodyHash = s.newID(), nil, nil
	r, err := s.ledger.SignalWrites.RehearseFile(ctx, &signalv1.RehearseFileRequest{Caller: callerOf(by), Draft: d})
	if err != nil {
		return nil, err
	}
	r.Signal.Id = ""
	return r, nil
}

// DryRunEvent is a dry run of Append: it returns the event without an id and stores nothing. It uses no idempotency key. It has
// the errors of Append except idempotency_key_reused.
func (s *Service) DryRunEvent(ctx context.Context, by operator.Actor, d *signalv1.AppendEventRequest) (*signalv1.Event, error) {
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

// withRetry runs a write and repeats it once if the ledger was unavailable.
func withRetry(ctx context.Context, write func(context.Context) error) error {
	first, done := context.WithTimeout(ctx, firstAttempt)
	err := write(first)
	done()
	if !errors.Is(err, ErrUnavailable) {
		return err
	}
	if dbtime.Sleep(ctx, pause) != nil {
		return err
	}
	end, _ := first.Deadline()
	second, done := context.WithDeadline(ctx, end.Add(total-firstAttempt))
	defer done()
	return write(second)
}
