package message

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
)

// The window around now in which a new message is taken, its edges included.
const (
	WindowPast   = 5 * time.Minute
	WindowFuture = time.Minute
)

// secondsBelow: as milliseconds these times lie before 1973; as seconds they
// reach beyond the year 5000.
const secondsBelow = 100_000_000_000

// checkWindow faults with invalid_request, reason timestamp_out_of_window.
func checkWindow(m Message, now time.Time) error {
	age := now.UnixMilli() - m.Timestamp
	switch {
	case age <= WindowPast.Milliseconds() && age >= -WindowFuture.Milliseconds():
		return nil
	case m.Timestamp < secondsBelow:
		return invalid(ReasonWindow, "timestamp is in milliseconds; this one looks like seconds").With(memberField, "timestamp")
	case age > 0:
		return invalid(ReasonWindow, "timestamp is more than 5 minutes old").With(memberField, "timestamp")
	default:
		return invalid(ReasonWindow, "timestamp is more than 1 minute ahead").With(memberField, "timestamp")
	}
}

// checkScope faults with insufficient_scope.
func checkScope(m Message, s Signer) error {
	if !slices.Contains(s.Scopes, m.Type.Scope()) {
		return ErrScope.With(memberScope, m.Type.Scope()).Say("the signer has not the scope of the message's type")
	}
	return nil
}

// judge holds a message of form and signature against its signer: time window,
// state of the signer, scope, payload. The end of a grant ends its signers, so
// the signer's state is the grant's too. Faults, the first that holds: invalid_request (timestamp_out_of_window),
// unauthenticated (signer_revoked, signer_expired), insufficient_scope,
// invalid_request (payload).
func judge(m Message, s Signer, now time.Time) error {
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

// checkPayload holds the payload of a client's new message to its form and to what no
// schema can say: the checksum of a payout address. What was taken before is not
// asked again. Fault: invalid_request with reason payload and the field.
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
		return invalid(ReasonPayload, "payoutAddress is the zero address, or its checksum (EIP-55) does not fit").With(memberField, "payoutAddress")
	}
	return nil
}

var (
	errUnknownSigner = unauthenticated(ReasonSigner, "the key is no signer of this passport and app")
	errSignature     = unauthenticated(ReasonSignature, "the signature does not fit")
)

// signs faults with unauthenticated, reason unknown_signer, when the signer is of
// another passport or app than the message says.
func signs(m Message, s Signer) error {
	if s.DenpaID != m.DenpaID || s.AppID != m.AppID {
		return errUnknownSigner
	}
	return nil
}
