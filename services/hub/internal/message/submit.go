package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// settleTimeout is the time limit for storing the result of a message or dropping the message. This step also runs if the client
// has disconnected.
const settleTimeout = 2 * time.Second

// Bearer identifies the optional bearer token of a request that submits a signed message.
type Bearer struct {
	DenpaID string
	AppID   string // empty: the token is an operator key
}

// Submitted is the result of Submit: an accepted message.
type Submitted struct {
	Record
	Replayed bool // the message was accepted earlier, and nothing was changed now
}

// Submit validates a signed message, stores it and applies it once. For a message that was accepted earlier, it returns the
// stored result and changes nothing; it then omits the payload if the text is hidden.
//
// The checks run in this order: the format (see Read); the signer (unauthenticated, unknown_signer) and the signature
// (bad_signature); the bearer, if any (forbidden). If a message with the same id is stored, no further checks run. Then: time,
// signer state, scope and payload (see checkNew); the nonce (nonce_reused); the errors of applying the message. After
// db_unavailable or another error with status 503, the client can send the same message again.
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
	case found && stored.ID == m.ID: // a reused nonce is reported after all other errors
		return s.settle(ctx, stored)
	case isHubKey:
		// Only the hub has this private key, and it stores each message that it signs. The hub has therefore not signed this
		// message.
		return Submitted{}, errUnknownSigner
	}
	return s.store(ctx, m, signer)
}

// signer returns the signer of a message. isHubKey reports whether the message was signed with a key of the hub; signer is
// then empty. Errors: unauthenticated with reason unknown_signer, db_unavailable.
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

// store checks a new message, stores it as pending and then settles it (see settle).
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

// settle applies a pending message. It then marks the message as accepted, or drops it if the message is refused. It returns
// an accepted message unchanged. Concurrent calls are safe: applying has the same result for all of them, and one of them
// accepts the message.
func (s *Service) settle(ctx context.Context, r Record) (Submitted, error) {
	if !r.Pending {
		return Submitted{Record: r, Replayed: true}, nil
	}
	act, err := actionOf(r)
	if err != nil {
		return Submitted{}, err
	}
	result, err := s.Apply(ctx, act)
	// The message has been applied, so the result is stored even if the client has disconnected.
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

// refused reports whether err means that a message is refused permanently. After any other error, the message may or may not have
// been applied.
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

// actionOf returns the Action of a stored message. It decodes the signed body, so that exactly the signed content is applied.
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

// settleAfter is the minimum age of a message that Sweep settles. The request of a younger message may still process it.
// sweepBatch is the maximum number of messages that one call of Sweep settles.
const (
	settleAfter = 30 * time.Second
	sweepBatch  = 50
)

// Sweep settles messages that are still pending after a crash or an outage. It returns the number of messages that it
// accepted or dropped. Concurrent calls are safe. A message that cannot be settled does not delay others; Sweep returns the
// last error.
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
