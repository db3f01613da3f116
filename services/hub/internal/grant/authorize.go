package grant

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

const maxState = 4096

// Visitor is the user of the browser that sent a request.
type Visitor struct {
	UserID  string // empty: not signed in
	Session string // identifies the browser session
	// SignedInAt is the time of the sign-in at the identity provider.
	SignedInAt time.Time
	ClosingAt  time.Time // the user requested the deletion of the account; zero: the account is open
	AvatarURL  string    // empty: none
}

// Answer is the result of an authorization request. Exactly one field is set.
type Answer struct {
	Redirect string   // the browser must be redirected to this URL with status 303
	SignIn   bool     // the user must sign in, then the request is repeated
	Consent  *Consent // the consent page must be shown
}

// Consent is the content of a consent page.
type Consent struct {
	Token       string // the form sends it with the decision; valid once, for this session
	App         App
	Scopes      Scopes
	Resource    string // empty: the request names no resource
	RedirectURI string
	ExpiresAt   time.Time
}

// Request is a stored authorization request that waits for the decision of the user.
type Request struct {
	Hash        Hash
	Session     Hash
	UserID      string
	AppID       string
	RedirectURI string
	Scopes      Scopes
	State       []byte // any bytes; nil: no state
	Challenge   string
	Resource    string
	Renew       bool // prompt=consent: a consent to the same scopes renews the existing grant
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// refusal is an OAuth error response to an authorization request (RFC 6749 4.1.2.1).
type refusal struct{ code, description string }

// refusals maps the code of a refusal to the error that the error page shows.
var refusals = map[string]*apperr.Fault{
	"invalid_request": ErrInvalidRequest, "invalid_scope": ErrInvalidScope, "invalid_target": ErrInvalidTarget,
	"unsupported_response_type": ErrUnsupportedResponse, "login_required": ErrLoginRequired, "consent_required": ErrConsentRequired,
}

// authRequest is an authorization request whose app and redirect URI are valid.
type authRequest struct {
	app         App
	redirectURI string
	state       string
	challenge   string
	prompt      string
	scopes      Scopes
	resource    string
}

// Authorize handles an authorization request with the parameters in query. Without a decision of the user, it redirects only to a
// trusted app. Anyone can register a redirect URI, and this endpoint must not be an open redirector (RFC 9700 4.11.2). If
// Authorize refuses a request without a redirect, it returns an error for the error page.
func (s *Service) Authorize(ctx context.Context, query url.Values, visitor Visitor) (Answer, error) {
	a, err := s.destination(ctx, query)
	if err != nil {
		return Answer{}, err
	}
	if no := s.read(&a, query); no != nil {
		return s.refuse(a, *no)
	}
	switch {
	case a.prompt == "none":
		return s.authorizeSilently(ctx, a, visitor)
	case visitor.UserID == "":
		return Answer{SignIn: true}, nil
	}
	return s.requestConsent(ctx, a, visitor)
}

// destination returns the app and the redirect URI of the request. It returns invalid_request if the app is unknown or disabled,
// or if the redirect URI is not registered for the app.
func (s *Service) destination(ctx context.Context, query url.Values) (authRequest, error) {
	id, uri := query["client_id"], query["redirect_uri"]
	if len(id) != 1 || !isID(id[0]) {
		return authRequest{}, invalid("client_id", "The app that sent you here is unknown or disabled.")
	}
	app, err := s.Store.FindApp(ctx, id[0])
	if err != nil {
		return authRequest{}, err
	}
	if app == nil || !app.Active() {
		return authRequest{}, invalid("client_id", "The app that sent you here is unknown or disabled.")
	}
	if len(uri) != 1 || !app.matches(uri[0]) {
		return authRequest{}, invalid("redirect_uri", "The app that sent you here named an address that is not registered for it.")
	}
	return authRequest{app: *app, redirectURI: uri[0]}, nil
}

// read validates all parameters except client_id and redirect_uri, and sets them in a. A parameter without a value counts as
// absent (RFC 6749 3.1). It returns nil if all are valid.
func (s *Service) read(a *authRequest, query url.Values) *refusal {
	if state := query["state"]; len(state) == 1 && len(state[0]) <= maxState {
		a.state = state[0]
	}
	for name, values := range query {
		if len(values) > 1 && name != "resource" {
			return &refusal{"invalid_request", "no parameter except resource may be repeated"}
		}
	}
	if len(query.Get("state")) > maxState {
		return &refusal{"invalid_request", fmt.Sprintf("state must have at most %d bytes", maxState)}
	}
	switch query.Get("response_type") {
	case "code":
	case "":
		return &refusal{"invalid_request", "response_type is missing"}
	default:
		return &refusal{"unsupported_response_type", "response_type must be code"}
	}
	if mode := query.Get("response_mode"); mode != "" && mode != "query" {
		return &refusal{"invalid_request", "response_mode must be query"}
	}
	if query.Get("request") != "" || query.Get("request_uri") != "" {
		return &refusal{"invalid_request", "request objects are not supported"}
	}
	a.challenge = query.Get("code_challenge")
	if query.Get("code_challenge_method") != "S256" || !isChallenge(a.challenge) {
		return &refusal{"invalid_request", "code_challenge must have 43 characters and code_challenge_method must be S256"}
	}
	a.prompt = query.Get("prompt")
	if a.prompt != "" && a.prompt != "none" && a.prompt != "consent" {
		return &refusal{"invalid_request", "prompt must be none or consent"}
	}
	if no := a.readScopes(query.Get("scope")); no != nil {
		return no
	}
	return s.readResource(a, query["resource"])
}

func (a *authRequest) readScopes(text string) *refusal {
	scopes, err := ParseScopes(text)
	if len(scopes) == 0 {
		scopes = Scopes{ProfileRead}
	}
	if err != nil || !a.app.Scopes.Contains(scopes) {
		return &refusal{"invalid_scope", "the scope is unknown or not registered for this app"}
	}
	a.scopes = scopes
	return nil
}

// readResource validates the resource parameters and sets a.resource. A token is valid for one resource, so repeated parameters
// must have the same value.
func (s *Service) readResource(a *authRequest, values []string) *refusal {
	for _, r := range values {
		if r == "" {
			continue
		}
		if !s.isResource(r) || !a.app.allows(r) || a.resource != "" && a.resource != r {
			return &refusal{"invalid_target", "resource must be one resource of this service that the app may use"}
		}
		a.resource = r
	}
	return nil
}

func isChallenge(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == 32 && len(text) == 43
}

// authorizeSilently handles prompt=none. For a trusted app, it uses an existing grant without a consent page; it never creates a
// grant. A public app must have an https redirect URI. Any program can receive redirects to other URIs, and only the user can
// decide whether it is the right program (RFC 8252 8.6).
func (s *Service) authorizeSilently(ctx context.Context, a authRequest, visitor Visitor) (Answer, error) {
	if visitor.UserID == "" {
		return s.refuse(a, refusal{"login_required", "no user is signed in; repeat the request without prompt=none"})
	}
	if a.app.Trusted() && (a.app.Kind == Confidential || isClaimed(a.redirectURI)) {
		grants, err := s.Store.FindGrants(ctx, visitor.UserID, a.app.ID, s.Now())
		if err != nil {
			return Answer{}, err
		}
		for _, g := range grants {
			if g.Resource == a.resource && g.Scopes.Contains(a.scopes) {
				return s.issue(ctx, Code{GrantID: g.ID}, s.request(a, visitor))
			}
		}
	}
	return s.refuse(a, refusal{"consent_required", "the user must consent; repeat the request without prompt=none"})
}

// requestConsent stores the request until the user decides, and returns the content of the consent page.
func (s *Service) requestConsent(ctx context.Context, a authRequest, visitor Visitor) (Answer, error) {
	token, hash := mint(requestPrefix)
	r := s.request(a, visitor)
	r.Hash = hash
	if err := s.Store.AddRequest(ctx, r); err != nil {
		return Answer{}, err
	}
	return Answer{Consent: &Consent{
		Token: token, App: a.app, Scopes: a.scopes, Resource: a.resource, RedirectURI: a.redirectURI, ExpiresAt: r.ExpiresAt,
	}}, nil
}

func (s *Service) request(a authRequest, visitor Visitor) Request {
	now := s.Now()
	return Request{
		Session: hashOf(visitor.Session), UserID: visitor.UserID, AppID: a.app.ID, RedirectURI: a.redirectURI, Scopes: a.scopes,
		State: []byte(a.state), Challenge: a.challenge, Resource: a.resource, Renew: a.prompt == "consent",
		CreatedAt: now, ExpiresAt: now.Add(requestLife),
	}
}

// refuse returns the refusal no: as a redirect if the app is trusted, otherwise as an error for the error page.
func (s *Service) refuse(a authRequest, no refusal) (Answer, error) {
	if !a.app.Trusted() {
		return Answer{}, refusals[no.code].WithText(
			"The request of the app was refused (%s): %s. Go back to the app and start again.", no.code, no.description)
	}
	return Answer{Redirect: s.errorAt(a.redirectURI, a.state, no)}, nil
}

// errorAt returns redirectURI with the error response as query parameters.
func (s *Service) errorAt(redirectURI, state string, no refusal) string {
	return withQuery(redirectURI, s.withIssuer(state, [2]string{"error", no.code}, [2]string{"error_description", no.description}))
}

// withIssuer adds two parameters to an authorization response: state, unless it is empty, and the issuer as iss (RFC 9207).
func (s *Service) withIssuer(state string, answer ...[2]string) [][2]string {
	if state != "" {
		answer = append(answer, [2]string{"state", state})
	}
	return append(answer, [2]string{"iss", s.Settings.Issuer})
}
