package message

import "github.com/signalcast/signalcast/pkg/apperr"

// Errors of messages. The member "reason" distinguishes errors that have the same code.
var (
	ErrInvalid         = apperr.New(apperr.Invalid, "invalid_request", "the message is invalid")
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "no valid signer has signed the message")

	ErrTooLarge = apperr.New(apperr.TooLarge, "payload_too_large", "a message must have at most 32 KiB")
	ErrScope    = apperr.New(apperr.Forbidden, "insufficient_scope", "the signer lacks the scope that the member required names")
	ErrBearer   = apperr.New(apperr.Forbidden, "forbidden",
		"the bearer token belongs to another passport or app than the message; use a token of the same passport and app")
	ErrNonce = apperr.New(apperr.Conflict, "nonce_reused",
		"the key has already signed another message with this nonce; use a new nonce").With(memberReason, reasonNonce)
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "there is no such signer or message")
)

// Errors of the registration and revocation of signers.
var (
	ErrWeakKey = apperr.New(apperr.Invalid, "weak_key",
		"the public key is not a safe Ed25519 key (a canonically encoded point of the prime-order group); create a new key")
	ErrProof = apperr.New(apperr.Invalid, "invalid_proof",
		"proof must be a signature with the new key over denpa-signer-v1, the issuer and the canonical registration; "+
			"see registerSigner")
	ErrChallenge = apperr.New(apperr.Invalid, "challenge_expired",
		"the challenge is unknown, used or older than five minutes; request a new one")
	ErrSignerExists  = apperr.New(apperr.Conflict, "signer_exists", "the public key is already registered; use another key")
	ErrSignerRevoked = apperr.New(apperr.Conflict, "signer_revoked",
		"the public key was revoked and cannot be registered again; use a new key")
	ErrLimit = apperr.New(apperr.Conflict, "limit_reached",
		"limit of ten active signers of a passport for an app reached; revoke one first").With("limit", MaxSigners)
)

// Texts in error responses: values of the member "reason", and names of members.
const (
	ReasonSchema    = "schema"
	ReasonWindow    = "timestamp_out_of_window"
	ReasonCanonical = "not_canonicalizable"
	ReasonMember    = "unknown_member"
	ReasonPayload   = "payload"
	ReasonSignature = "bad_signature"
	ReasonSigner    = "unknown_signer"
	ReasonRevoked   = "signer_revoked"
	ReasonExpired   = "signer_expired"
	memberReason    = "reason"
	memberField     = "field"
	memberScope     = "required"
	reasonNonce     = "nonce_reused"
	reasonScope     = "insufficient_scope"
)

func invalid(reason, format string, args ...any) *apperr.Fault {
	return ErrInvalid.With(memberReason, reason).WithText(format, args...)
}

func badMember(name, format string, args ...any) *apperr.Fault {
	return invalid(ReasonSchema, format, args...).With(memberField, name)
}

func unauthenticated(reason, text string) *apperr.Fault {
	return ErrUnauthenticated.With(memberReason, reason).WithText("%s", text)
}
