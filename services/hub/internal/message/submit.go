package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// settleTimeout bounds the last step of a message, which runs also after the client has disconnected.
const settleTimeout = 2 * time.Second

// Bearer is an optional credential in addition to the signature of a message.
type Bearer struct {
	DenpaID string
	AppID   string // empty: an operator key
}

// Submitted is the result of Submit: the accepted message.
type Submitted struct {
	Record
	Replayed bool // it was accepted earlier and nothing was changed now
}

// Submit validates a signed message, stores it and applies its effect once. A repeated message returns the stored
// result and changes nothing; the payload is omitted while its text is hidden. The checks run in this order: form (see
// Read); signer (unauthenticated, unknown_signer) and signature (bad_signature); bearer, if any (forbidden); a stored
// message with the same id ends the checks; time, signer state, scope and payload (see checkNew); nonce (nonce_reused);
// then the errors of the effect. After db_unavailable or another 503 the client can send the same message again.
func (s *Service) Submit(ctx context.Context, raw []byte, by *Bearer) (Submitted, error) {
	done, err := s.submit(ctx, raw, by)
	if err == nil && done.Replayed {
		done.Record, err = s.shown(ctx, done.Record)
	}
	return done, err
}

func (s *Service) submit(ctx context.Context, raw []byte, by *Bearer) (Submitted, error) {
	m, err := Read(s.Issuer, raw)
	if err != nil {
		return Submitted{}, err
	}
	signer, isHubKey, err := s.signer(ctx, m)
	if err != nil {
		return Submitted{}, err
	}
	if !m.Authentic() {
		return Submitted{}, errSignature
	}
	if by != nil && (by.DenpaID != m.DenpaID || by.AppID != m.AppID) {
		return Submitted{}, ErrBearer
	}
	switch stored, found, err := s.Store.FindMessage(ctx, m.ID, m.Key, m.Nonce); {
	case err != nil:
		return Submitted{}, err
	case found && stored.ID == m.ID: // a reused nonce is reported last
		return s.settle(ctx, stored)
	case isHubKey:
		// Only the hub has this key, and it stores each message that it signs. The signature is therefore not of the
		// hub.
		return Submitted{}, errUnknownSigner
	}
	return s.store(ctx, m, signer)
}

// signer returns the signer of a message. isHubKey reports that the hub signed it.
func (s *Service) signer(ctx context.Context, m Message) (signer Signer, isHubKey bool, err error) {
	if _, isHubKey = s.Keys.Find(m.Key); isHubKey {
		return Signer{}, true, nil
	}
	signer, found, err := s.Store.FindSigner(ctx, m.Key)
	if err != nil {
		return Signer{}, false, err
	}
	if !found {
		return Signer{}, false, errUnknownSigner
	}
	return signer, false, checkOwner(m, signer)
}

// store stores a new message as pending and settles it.
func (s *Service) store(ctx context.Context, m Message, signer Signer) (Submitted, error) {
	now := s.now()
	if err := checkNew(m, signer, now); err != nil {
		return Submitted{}, err
	}
	if err := s.checkOperatorKey(ctx, signer); err != nil {
		return Submitted{}, err
	}
	stored, _, err := s.Store.ReserveMessage(ctx, Record{
		ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, AppID: m.AppID, Key: m.Key, Nonce: m.Nonce,
		Body: m.Body, ReceivedAt: now, Pending: true, Attempt: s.NewID(),
	})
	if err != nil {
		return Submitted{}, err
	}
	return s.settle(ctx, stored)
}

// settle applies a pending message and marks it as accepted or drops it. Concurrent calls are safe: the effect has the
// same result for all, and one of them accepts the message.
func (s *Service) settle(ctx context.Context, r Record) (Submitted, error) {
	if !r.Pending {
		return Submitted{Record: r, Replayed: true}, nil
	}
	act, err := actionOf(r)
	if err != nil {
		return Submitted{}, err
	}
	result, err := s.Apply(ctx, act)
	// The effect is done, so the result is stored also if the client has disconnected.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err != nil {
		if refused(err) {
			if dropping := s.Store.DropMessage(ctx, r.ID, r.Attempt); dropping != nil {
				return Submitted{}, errors.Join(dropping, err)
			}
		}
		return Submitted{}, err
	}
	if result != nil {
		if r.Result, err = json.Marshal(result); err != nil {
			return Submitted{}, fmt.Errorf("write result: %w", err)
		}
	}
	first, err := s.Store.AcceptMessage(ctx, r, s.now())
	r.Pending = false
	return Submitted{Record: r, Replayed: !first}, err
}

// refused reports whether an error refuses a message for good, in contrast to a temporary error after which the state
// is unknown.
func refused(err error) bool {
	var f *apperr.Fault
	if !errors.As(err, &f) {
		return false
	}
	switch f.Kind {
	case apperr.Invalid, apperr.Unauthenticated, apperr.Forbidden, apperr.NotFound, apperr.NotAllowed,
		apperr.Conflict, apperr.Gone, apperr.TooLarge, apperr.Unsupported, apperr.Limited:
		return true
	case apperr.Internal, apperr.Unavailable:
	}
	return false
}

// actionOf decodes a stored message, so that the effect applies exactly the signed content.
func actionOf(r Record) (Action, error) {
	members, err := object(r.Body)
	if err != nil {
		return Action{}, fmt.Errorf("read stored message %s: %w", r.ID, err)
	}
	payload, err := ReadPayload(r.Type, members["payload"], r.Attested)
	if err != nil {
		return Action{}, fmt.Errorf("read payload of stored message %s: %w", r.ID, err)
	}
	return Action{ID: r.ID, Type: r.Type, DenpaID: r.DenpaID, AppID: r.AppID, Payload: payload, ReceivedAt: r.ReceivedAt}, nil
}

// Sweep skips messages that are younger than settleAfter, because their requests may still process them. It settles at most
// sweepBatch messages per round.
const (
	settleAfter = 30 * time.Second
	sweepBatch  = 50
)

// Sweep settles messages that a crash or an outage left pending, and returns the number of accepted and dropped ones.
// Concurrent sweeps are safe. A message that cannot be settled does not delay others; Sweep returns the last such
// error.
func (s *Service) Sweep(ctx context.Context) (settled int, err error) {
	now := s.now()
	left, err := s.Store.ListUnsettledMessages(ctx, now.Add(-settleAfter), now, sweepBatch)
	if err != nil {
		return 0, err
	}
	for _, r := range left {
		switch _, failed := s.settle(ctx, r); {
		case failed == nil, refused(failed):
			settled++
		default:
			err = fmt.Errorf("settle %s: %w", r.ID, failed)
		}
		if ctx.Err() != nil {
			return settled, ctx.Err()
		}
	}
	return settled, err
}
