package grant

import "github.com/signalcast/signalcast/pkg/apperr"

// Errors of the OAuth endpoints, with the error codes of RFC 6749, RFC 8707 and OpenID Connect.
var (
	ErrInvalidRequest = apperr.New(apperr.Invalid, "invalid_request", "the request is invalid")
	ErrInvalidGrant   = apperr.New(apperr.Invalid, "invalid_grant",
		"the code or refresh token is unknown, used, expired or revoked; start a new authorization")
	ErrInvalidScope = apperr.New(apperr.Invalid, "invalid_scope",
		"the scope is unknown or exceeds what the app may request")
	ErrInvalidTarget = apperr.New(apperr.Invalid, "invalid_target",
		"the resource is unknown or differs from the approved one")
	ErrUnsupportedGrantType = apperr.New(apperr.Invalid, "unsupported_grant_type",
		"grant_type must be authorization_code or refresh_token")
	ErrUnauthorizedClient = apperr.New(apperr.Invalid, "unauthorized_client",
		"the scope offline_access is no longer registered for this app, so it may not use refresh_token")
	ErrUnsupportedResponse = apperr.New(apperr.Invalid, "unsupported_response_type", "response_type must be code")
	ErrLoginRequired       = apperr.New(apperr.Invalid, "login_required",
		"no user is signed in; repeat the request without prompt=none")
	ErrConsentRequired = apperr.New(apperr.Invalid, "consent_required",
		"the user must consent; repeat the request without prompt=none")
	ErrInvalidClient = apperr.New(apperr.Unauthenticated, "invalid_client",
		"the client is unknown or its authentication failed; check client_id and the client secret").
		With(apperr.MemberReason, apperr.ReasonUnknown)
)

// Errors of the registration and the change of apps.
var (
	ErrRedirectURI = apperr.New(apperr.Invalid, "invalid_redirect_uri",
		"redirectUris must be 1 to 10 different absolute URIs of at most 512 ASCII characters, without # and without a user name: "+
			"https (not localhost), http on 127.0.0.1 or [::1], or a private scheme with a dot").With("field", "redirectUris")
	ErrAppLimit = apperr.New(apperr.Conflict, "limit_reached",
		"limit of 20 active apps reached; disable one first").With("limit", MaxApps)
	ErrPublicClient = apperr.New(apperr.Conflict, "public_client", "a public app has no secret; only a confidential app has one")
	ErrNotFound     = apperr.New(apperr.NotFound, "not_found", "you have no app or grant with this id")
)

// Errors of requests with an access token and of consent decisions.
var (
	// ErrUnauthenticated is the error of an access token that is invalid, expired or revoked, or that is valid for another
	// resource.
	ErrUnauthenticated = apperr.ErrCredentialUnknown.WithText(
		"the app token is unknown, or it was issued for another resource; request a new one")
	// ErrInsufficientScope is the error of a valid access token without the required scope.
	ErrInsufficientScope = apperr.New(apperr.Forbidden, "insufficient_scope",
		"the credential lacks the scope or permission that the member required names; use one that has it")
	// ErrForbidden is the error of a consent decision that does not belong to the session or has expired.
	ErrForbidden = apperr.New(apperr.Forbidden, "forbidden",
		"the decision does not belong to this session or has expired; start the authorization again")
)

func invalid(field, text string) error {
	return ErrInvalidRequest.WithText("%s", text).With("field", field)
}
