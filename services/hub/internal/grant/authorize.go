package grant

import (
	"context"
	"encoding/base64"
	"net/url"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

const maxState = 4096

// Visitor is who sits before the browser.
type Visitor struct {
	UserID  string // empty: nobody is signed in
	Session string // what tells this session from any other one
	// SignedInAt is when the person proved who they are.
	SignedInAt time.Time
}

// Answer is what the browser gets to see; exactly one member is set.
type Answer struct {
	Redirect string   // go there, with 303
	SignIn   bool     // sign in first and then come back with the same request
	Consent  *Consent // ask the user
}

// Consent is what the user is asked.
type Consent struct {
	Token       string // comes back with the decision; belongs to this request and this session
	App         App
	Scopes      Scopes
	Resource    string // empty: none was named
	RedirectURI string
	ExpiresAt   time.Time
}

// Request is a consent that waits for its decision.
type Request struct {
	Hash        Hash
	Session     Hash
	UserID      string
	AppID       string
	RedirectURI string
	Scopes      Scopes
	State       []byte // any bytes, nil: none
	Challenge   string
	Resource    string
	Renew       bool // prompt=consent: the same scopes again mean the same grant
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// refusal is an error of RFC 6749.
type refusal struct{ code, say string }

// refusals are the faults of refusals, for the error page.
var refusals = map[string]*apperr.Fault{
	"invalid_request": ErrInvalidRequest, "invalid_scope": ErrInvalidScope, "invalid_target": ErrInvalidTarget,
	"unsupported_response_type": ErrUnsupportedResponse, "login_required": ErrLoginRequired, "consent_required": ErrConsentRequired,
}

// asked is an authorization request whose app and redirect URI are right.
type asked struct {
	app         App
	redirectURI string
	state       string
	challenge   string
	prompt      string
	scopes      Scopes
	resource    string
}

// Authorize judges an authorization request, the query of the address. Only a trusted app
// gets a refusal, or an answer without the user, at its redirect URI (RFC 9700, 4.11.2):
// anybody may register an address, and this endpoint must not lead people to it. Faults, for
// an error page: those of refusals, and of the store.
func (s *Service) Authorize(ctx context.Context, query url.Values, who Visitor) (Answer, error) {
	a, err := s.destination(ctx, query)
	if err != nil {
		return Answer{}, err
	}
	if no := s.read(&a, query); no != nil {
		return s.refuse(a, *no)
	}
	switch {
	case a.prompt == "none":
		return s.silently(ctx, a, who)
	case who.UserID == "":
		return Answer{SignIn: true}, nil
	}
	return s.ask(ctx, a, who)
}

// destination finds the app and checks the redirect URI.
func (s *Service) destination(ctx context.Context, query url.Values) (asked, error) {
	id, uri := query["client_id"], query["redirect_uri"]
	if len(id) != 1 || !isID(id[0]) {
		return asked{}, invalid("client_id", "The app that sent you here is unknown.")
	}
	app, err := s.Store.FindApp(ctx, id[0])
	if err != nil {
		return asked{}, err
	}
	if app == nil || !app.Active() {
		return asked{}, invalid("client_id", "The app that sent you here is unknown.")
	}
	if len(uri) != 1 || !app.matches(uri[0]) {
		return asked{}, invalid("redirect_uri", "The app that sent you here named an address that is not registered for it.")
	}
	return asked{app: *app, redirectURI: uri[0]}, nil
}

// read reads the other parameters. A parameter without a value counts as absent.
func (s *Service) read(a *asked, query url.Values) *refusal {
	if state := query["state"]; len(state) == 1 && len(state[0]) <= maxState {
		a.state = state[0]
	}
	for name, values := range query {
		if len(values) > 1 && name != "resource" {
			return &refusal{"invalid_request", "a parameter is given twice"}
		}
	}
	if len(query.Get("state")) > maxState {
		return &refusal{"invalid_request", "state is too long"}
	}
	switch query.Get("response_type") {
	case "code":
	case "":
		return &refusal{"invalid_request", "response_type is missing"}
	default:
		return &refusal{"unsupported_response_type", "response_type is code"}
	}
	if mode := query.Get("response_mode"); mode != "" && mode != "query" {
		return &refusal{"invalid_request", "response_mode is query"}
	}
	if query.Get("request") != "" || query.Get("request_uri") != "" {
		return &refusal{"invalid_request", "request objects are not supported"}
	}
	a.challenge = query.Get("code_challenge")
	if query.Get("code_challenge_method") != "S256" || !isChallenge(a.challenge) {
		return &refusal{"invalid_request", "code_challenge is 43 characters and code_challenge_method is S256"}
	}
	a.prompt = query.Get("prompt")
	if a.prompt != "" && a.prompt != "none" && a.prompt != "consent" {
		return &refusal{"invalid_request", "prompt is none or consent"}
	}
	if no := a.readScopes(query.Get("scope")); no != nil {
		return no
	}
	return s.readResource(a, query["resource"])
}

func (a *asked) readScopes(text string) *refusal {
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

// readResource takes one resource, however often it is named: a token is for one.
func (s *Service) readResource(a *asked, values []string) *refusal {
	for _, r := range values {
		if r == "" {
			continue
		}
		if !s.isResource(r) || !a.app.allows(r) || a.resource != "" && a.resource != r {
			return &refusal{"invalid_target", "resource is one resource of this service that the app may use"}
		}
		a.resource = r
	}
	return nil
}

func isChallenge(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == 32 && len(text) == 43
}

// silently answers prompt=none for a trusted app: from a grant that the user has given
// before, without a consent page and without a new grant. Where any program can sit behind the redirect URI
// of a public app, only the user can say that it is the right one (RFC 8252, 8.6).
func (s *Service) silently(ctx context.Context, a asked, who Visitor) (Answer, error) {
	if who.UserID == "" {
		return s.refuse(a, refusal{"login_required", "no user is signed in"})
	}
	if a.app.Trusted() && (a.app.Kind == Confidential || isClaimed(a.redirectURI)) {
		grants, err := s.Store.FindGrants(ctx, who.UserID, a.app.ID, s.Now())
		if err != nil {
			return Answer{}, err
		}
		for _, g := range grants {
			if g.Resource == a.resource && g.Scopes.Contains(a.scopes) {
				return s.issue(ctx, Code{GrantID: g.ID}, s.request(a, who))
			}
		}
	}
	return s.refuse(a, refusal{"consent_required", "the user must be asked"})
}

// ask keeps the request until the user has decided.
func (s *Service) ask(ctx context.Context, a asked, who Visitor) (Answer, error) {
	token, hash := mint(requestPrefix)
	r := s.request(a, who)
	r.Hash = hash
	if err := s.Store.AddRequest(ctx, r); err != nil {
		return Answer{}, err
	}
	return Answer{Consent: &Consent{
		Token: token, App: a.app, Scopes: a.scopes, Resource: a.resource, RedirectURI: a.redirectURI, ExpiresAt: r.ExpiresAt,
	}}, nil
}

func (s *Service) request(a asked, who Visitor) Request {
	now := s.Now()
	return Request{
		Session: hashOf(who.Session), UserID: who.UserID, AppID: a.app.ID, RedirectURI: a.redirectURI, Scopes: a.scopes,
		State: []byte(a.state), Challenge: a.challenge, Resource: a.resource, Renew: a.prompt == "consent",
		CreatedAt: now, ExpiresAt: now.Add(requestLife),
	}
}

// refuse answers a refusal: at the redirect URI of a trusted app, else on an error page.
func (s *Service) refuse(a asked, no refusal) (Answer, error) {
	if !a.app.Trusted() {
		return Answer{}, refusals[no.code].Say("The app that sent you here made a request that cannot be answered (%s): %s.", no.code, no.say)
	}
	return Answer{Redirect: s.errorAt(a.redirectURI, a.state, no)}, nil
}

// errorAt is the redirect that carries an error.
func (s *Service) errorAt(redirectURI, state string, no refusal) string {
	return withQuery(redirectURI, s.signed(state, [2]string{"error", no.code}, [2]string{"error_description", no.say}))
}

// signed adds to an answer the state, exactly as it came, and who answers (RFC 9207).
func (s *Service) signed(state string, answer ...[2]string) [][2]string {
	if state != "" {
		answer = append(answer, [2]string{"state", state})
	}
	return append(answer, [2]string{"iss", s.Settings.Issuer})
}
