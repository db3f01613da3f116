package grant

import "github.com/signalcast/signalcast/pkg/apperr"

// Faults of the token, revocation and introspection endpoints, named by RFC 6749
// and RFC 8707.
var (
	ErrInvalidRequest       = apperr.New(apperr.Invalid, "invalid_request", "")
	ErrInvalidGrant         = apperr.New(apperr.Invalid, "invalid_grant", "The code or refresh token is unknown, used up, expired or revoked.")
	ErrInvalidScope         = apperr.New(apperr.Invalid, "invalid_scope", "The scope is unknown or more than may be asked for.")
	ErrInvalidTarget        = apperr.New(apperr.Invalid, "invalid_target", "The resource is unknown or not the one that was approved.")
	ErrUnsupportedGrantType = apperr.New(apperr.Invalid, "unsupported_grant_type", "grant_type is authorization_code or refresh_token")
	ErrUnauthorizedClient   = apperr.New(apperr.Invalid, "unauthorized_client", "This app may not use this grant type.")
	ErrUnsupportedResponse  = apperr.New(apperr.Invalid, "unsupported_response_type", "response_type is code")
	ErrLoginRequired        = apperr.New(apperr.Invalid, "login_required", "no user is signed in")
	ErrConsentRequired      = apperr.New(apperr.Invalid, "consent_required", "the user must be asked")
	ErrInvalidClient        = apperr.New(apperr.Unauthenticated, "invalid_client", "The client is unknown or did not prove who it is.")
)

// Faults of apps.
var (
	ErrRedirectURI = apperr.New(apperr.Invalid, "invalid_redirect_uri",
		"redirectUris are 1 to 10 different absolute URIs: https, http on 127.0.0.1 or [::1], or a private scheme with a dot").With("field", "redirectUris")
	ErrAppLimit     = apperr.New(apperr.Conflict, "limit_reached", "An owner has at most 20 apps.").With("limit", MaxApps)
	ErrPublicClient = apperr.New(apperr.Conflict, "public_client", "A public app has no secret.")
	ErrNotFound     = apperr.New(apperr.NotFound, "not_found", "")
)

// Faults of whoever asks.
var (
	// ErrUnauthenticated refuses a bearer that lets nobody in here and now.
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "")
	// ErrInsufficientScope refuses a good bearer for what it was not given.
	ErrInsufficientScope = apperr.New(apperr.Forbidden, "insufficient_scope", "")
	// ErrForbidden refuses a decision that does not belong to this session.
	ErrForbidden = apperr.New(apperr.Forbidden, "forbidden", "")
)

func invalid(field, format string, args ...any) error {
	return ErrInvalidRequest.Say(format, args...).With("field", field)
}
