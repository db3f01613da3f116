package apperr

// Reasons with which a fault of kind Unauthenticated says why the credential is rejected: values of the member MemberReason.
const (
	ReasonMissing   = "missing"    // the request has no credential
	ReasonUnknown   = "unknown"    // malformed, not issued by this installation, or issued for another resource
	ReasonRevoked   = "revoked"    // revoked, replaced, or ended by a sign-out
	ReasonExpired   = "expired"    // past its time
	ReasonWrongKind = "wrong_kind" // the route does not accept credentials of this kind

	// MemberReason is the member of an error response that has the reason.
	MemberReason = "reason"
)

// Faults of the credential of a request. All have the code unauthenticated. The messages apply to every kind of credential.
// WithText replaces them where the kind is known.
var (
	ErrCredentialMissing = unauthenticated(ReasonMissing,
		"this route requires a credential; send it in the header Authorization: Bearer <credential>")
	ErrCredentialMalformed = unauthenticated(ReasonUnknown,
		"the request must have exactly one header Authorization, of the form: Bearer <credential>")
	ErrCredentialUnknown = unauthenticated(ReasonUnknown,
		"the credential is malformed, or this installation did not issue it; check that it is complete")
	ErrCredentialRevoked   = unauthenticated(ReasonRevoked, "the credential was revoked; use another one")
	ErrCredentialExpired   = unauthenticated(ReasonExpired, "the credential has expired; renew it or sign in again")
	ErrCredentialWrongKind = unauthenticated(ReasonWrongKind, "this route does not accept a credential of this kind")
)

func unauthenticated(reason, message string) *Fault {
	return New(Unauthenticated, "unauthenticated", message).With(MemberReason, reason)
}

// ReasonOf returns the reason of a fault of kind Unauthenticated, or "" for any other error.
func ReasonOf(err error) string {
	f := Of(err)
	if f == nil || f.Kind != Unauthenticated {
		return ""
	}
	reason, _ := f.Extra[MemberReason].(string)
	return reason
}
