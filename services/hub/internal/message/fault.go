package message

import "github.com/signalcast/signalcast/pkg/apperr"

// Faults that say what is wrong with a message; reason tells kinds of one code
// apart.
var (
	ErrInvalid         = apperr.New(apperr.Invalid, "invalid_request", "")
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "")

	ErrTooLarge = apperr.New(apperr.TooLarge, "payload_too_large", "a message has at most 32 KiB")
	ErrScope    = apperr.New(apperr.Forbidden, "insufficient_scope", "")
	ErrBearer   = apperr.New(apperr.Forbidden, "forbidden", "the bearer is not of the passport and app that the message names")
	ErrNonce    = apperr.New(apperr.Conflict, "nonce_reused", "the key has signed another message with this nonce").With(memberReason, reasonNonce)
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "")
)

// Faults of signers.
var (
	ErrWeakKey       = apperr.New(apperr.Invalid, "weak_key", "the public key is no point of the prime-order group in its one encoding")
	ErrProof         = apperr.New(apperr.Invalid, "invalid_proof", "the proof does not fit the key and what is registered")
	ErrChallenge     = apperr.New(apperr.Invalid, "challenge_expired", "the challenge is unknown, used or older than five minutes")
	ErrSignerExists  = apperr.New(apperr.Conflict, "signer_exists", "the public key is registered")
	ErrSignerRevoked = apperr.New(apperr.Conflict, "signer_revoked", "the public key was removed and never comes back")
	ErrLimit         = apperr.New(apperr.Conflict, "limit_reached", "a passport has at most ten active signers for an app").With("limit", MaxSigners)
)

// The values of reason.
const (
	ReasonSchema       = "schema"
	ReasonWindow       = "timestamp_out_of_window"
	ReasonCanonical    = "not_canonicalizable"
	ReasonMember       = "unknown_member"
	ReasonPayload      = "payload"
	ReasonSignature    = "bad_signature"
	ReasonSigner       = "unknown_signer"
	ReasonRevoked      = "signer_revoked"
	ReasonExpired      = "signer_expired"
	memberReason       = "reason"
	memberField        = "field"
	memberScope        = "required"
	reasonNonce        = "nonce_reused"
	reasonScope        = "insufficient_scope"
	messageNotReadable = "the body is not JSON with one canonical form: "
)

func invalid(reason, format string, args ...any) *apperr.Fault {
	return ErrInvalid.With(memberReason, reason).Say(format, args...)
}

func badMember(name, format string, args ...any) *apperr.Fault {
	return invalid(ReasonSchema, format, args...).With(memberField, name)
}

func unauthenticated(reason, text string) *apperr.Fault {
	return ErrUnauthenticated.With(memberReason, reason).Say("%s", text)
}
