package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// settleBudget is how long the last step of a message may take after its sender
// has left.
const settleBudget = 2 * time.Second

// Bearer is the credential that may travel with a message.
type Bearer struct {
	DenpaID string
	AppID   string // empty: an operator key
}

// Submitted is a message that was taken.
type Submitted struct {
	Record
	Replayed bool // it was accepted before: nothing happened now
}

// Submit checks a signed message, stores it and carries it out once. When the same
// message is sent again, Submit returns the stored result and changes nothing; the
// payload is left out while a moderator hides its text. The checks and
// their faults, in this order: form (see Read); signer (unauthenticated,
// unknown_signer) and signature (bad_signature); bearer, if there is one
// (forbidden); the message is there already (no fault); time, state of the
// signer, scope, payload (see judge); nonce (nonce_reused); then what the effect
// refuses. db_unavailable and the effect's own 503 leave it open: the same
// message may be sent again.
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
	signer, own, err := s.signer(ctx, m)
	if err != nil {
		return Submitted{}, err
	}
	if !m.Authentic() {
		return Submitted{}, errSignature
	}
	if by != nil && (by.DenpaID != m.DenpaID || by.AppID != m.AppID) {
		return Submitted{}, ErrBearer
	}
	switch kept, found, err := s.Store.FindMessage(ctx, m.ID, m.Key, m.Nonce); {
	case err != nil:
		return Submitted{}, err
	case found && kept.ID == m.ID: // a nonce that another one holds is told last
		return s.settle(ctx, kept)
	case own:
		// Only the hub has the key, and it keeps what it attests.
		return Submitted{}, errUnknownSigner
	}
	return s.take(ctx, m, signer)
}

// signer finds who signed; own says that it is the hub.
func (s *Service) signer(ctx context.Context, m Message) (signer Signer, own bool, err error) {
	if _, own = s.Keys.Find(m.Key); own {
		return Signer{}, true, nil
	}
	signer, found, err := s.Store.FindSigner(ctx, m.Key)
	if err != nil {
		return Signer{}, false, err
	}
	if !found {
		return Signer{}, false, errUnknownSigner
	}
	return signer, false, signs(m, signer)
}

// take keeps a new message as pending, then settles it.
func (s *Service) take(ctx context.Context, m Message, signer Signer) (Submitted, error) {
	now := s.now()
	if err := judge(m, signer, now); err != nil {
		return Submitted{}, err
	}
	if err := s.keyHolds(ctx, signer); err != nil {
		return Submitted{}, err
	}
	kept, _, err := s.Store.TakeMessage(ctx, Record{
		ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, AppID: m.AppID, Key: m.Key, Nonce: m.Nonce,
		Body: m.Body, ReceivedAt: now, Pending: true, Attempt: s.NewID(),
	})
	if err != nil {
		return Submitted{}, err
	}
	return s.settle(ctx, kept)
}

// settle brings a message to its end. Several may do so at once: the effect is
// the same for all of them, and one accepts.
func (s *Service) settle(ctx context.Context, r Record) (Submitted, error) {
	if !r.Pending {
		return Submitted{Record: r, Replayed: true}, nil
	}
	act, err := actOf(r)
	if err != nil {
		return Submitted{}, err
	}
	result, err := s.Apply(ctx, act)
	// What the effect did is done, whether or not its sender still waits.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleBudget)
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

// refused tells a refusal, after which nothing was done, from an error that
// leaves it open.
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

// actOf reads a kept message again: what is done is what was signed.
func actOf(r Record) (Act, error) {
	members, err := object(r.Body)
	if err != nil {
		return Act{}, fmt.Errorf("read kept message %s: %w", r.ID, err)
	}
	payload, err := ReadPayload(r.Type, members["payload"], r.Attested)
	if err != nil {
		return Act{}, fmt.Errorf("read payload of kept message %s: %w", r.ID, err)
	}
	return Act{ID: r.ID, Type: r.Type, DenpaID: r.DenpaID, AppID: r.AppID, Payload: payload, ReceivedAt: r.ReceivedAt}, nil
}

// Sweeping: what a sender's own request has had time to settle, and how many at
// once.
const (
	settleAfter = 30 * time.Second
	sweepBatch  = 50
)

// Sweep settles messages that a crash or an outage left pending and gives the
// number that it brought to an end. Several may run at once. One message that
// cannot be settled does not keep the others back; the error is of the last such
// one.
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
