package message

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
)

// Maximum age of the timestamp of a new message, and maximum time by which the timestamp may be ahead of the hub's clock.
const (
	WindowPast   = 5 * time.Minute
	WindowFuture = time.Minute
)

// secondsBelow is the value below which a timestamp is probably in seconds instead of milliseconds. In milliseconds the value is
// a time in 1973; in seconds it is after the year 5000.
const secondsBelow = 100_000_000_000

// checkWindow returns invalid_request with reason timestamp_out_of_window unless the timestamp is between WindowPast before now
// and WindowFuture after now.
func checkWindow(m Message, now time.Time) error {
	age := now.UnixMilli() - m.Timestamp
	switch {
	case age <= WindowPast.Milliseconds() && age >= -WindowFuture.Milliseconds():
		return nil
	case m.Timestamp < secondsBelow:
		return invalid(ReasonWindow, "timestamp must be in milliseconds; the value looks like seconds").With(memberField, "timestamp")
	case age > 0:
		return invalid(ReasonWindow, "timestamp must not be more than 5 minutes old").With(memberField, "timestamp")
	default:
		return invalid(ReasonWindow, "timestamp must not be more than 1 minute ahead").With(memberField, "timestamp")
	}
}

// checkScope returns insufficient_scope unless the signer has the scope that the message type requires.
func checkScope(m Message, s Signer) error {
	if !slices.Contains(s.Scopes, m.Type.Scope()) {
		return ErrScope.With(memberScope, m.Type.Scope()).WithText(
			"the signer lacks the scope of the message type; use a signer with the scope that the member required names")
	}
	return nil
}

// checkNew validates a new message whose signature is valid. It checks the time window, the state of the signer, the scope and
// the payload, and returns the first error. The revocation of a grant also revokes its signers, so the state of the signer covers
// the grant. Errors: invalid_request with reason timestamp_out_of_window or payload, unauthenticated with reason signer_revoked
// or signer_expired, insufficient_scope.
func checkNew(m Message, s Signer, now time.Time) error {
	if err := checkWindow(m, now); err != nil {
		return err
	}
	if err := s.Usable(now); err != nil {
		return err
	}
	if err := checkScope(m, s); err != nil {
		return err
	}
	return checkPayload(m)
}

// checkPayload validates the payload of a new message against its schema. It also validates a payout address, whose checksum a
// schema cannot express. Error: invalid_request with reason payload and the field.
func checkPayload(m Message) error {
	read, err := ReadPayload(m.Type, m.Payload, false)
	if err != nil {
		return err
	}
	p, ok := read.(*Profile)
	if !ok || p.PayoutAddress.Text == nil {
		return nil
	}
	if _, err := identityclaim.ParsePayout(*p.PayoutAddress.Text); err != nil {
		return invalid(ReasonPayload, "payoutAddress must not be all zeros and, in mixed case, must have an EIP-55 checksum").
			With(memberField, "payoutAddress")
	}
	return nil
}

var (
	errUnknownSigner = unauthenticated(ReasonSigner, "the key is not a signer of this passport and app")
	errSignature     = unauthenticated(ReasonSignature, "the signature is invalid")
)

// checkOwner returns unauthenticated with reason unknown_signer unless the signer belongs to the user and the app that the
// message names.
func checkOwner(m Message, s Signer) error {
	if s.DenpaID != m.DenpaID || s.AppID != m.AppID {
		return errUnknownSigner
	}
	return nil
}
