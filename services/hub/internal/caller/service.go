package caller

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Logins verifies the raw token of an identity provider and returns the user's identity. Errors: unauthenticated,
// identity_provider_unavailable.
type Logins interface {
	Verify(ctx context.Context, raw string) (operator.Identity, error)
}

// Delegate holds the user, the app, the grant and the scopes of an app token.
type Delegate struct {
	UserID  operator.ID // user who gave the grant; the token acts as this operator
	AppID   string
	GrantID string
	Scopes  []string
}

// Tokens authenticates an app token for a resource. It reads the store for each request, so a revocation applies to the next
// request. Errors: unauthenticated, and those of the store.
type Tokens func(ctx context.Context, bearer, resource string) (Delegate, error)

// Granted holds the permissions of an operator key. They never change after the creation of the key.
type Granted struct {
	KeyID       string
	Permissions []string
	Strict      bool // permissions are enforced on every route, not only on protocol routes
}

// Allows reports whether the key has the permission.
func (g Granted) Allows(permission string) bool { return slices.Contains(g.Permissions, permission) }

// Owned is an active operator key with its owner and permissions.
type Owned struct {
	Operator operator.Operator
	Granted
}

// Request holds the credentials and the properties of an HTTP request that decide how it is authenticated.
type Request struct {
	Accept        Accepted
	Public        bool   // a public read: every valid bearer credential is accepted and only selects the rate limit
	InCall        bool   // the ledger verifies the key within the call that writes
	Resource      string // resource that an app token must be valid for
	Authorization []string
	UID, Sig      string // values of the session cookies
	Bind          string // cookie that binds a session to a browser
	AdminSecret   []string
	CronSecret    []string
	IP            string
	Unsafe        bool // the method can change state
	SameOrigin    bool // the request comes from a page of the hub
}

// Caller is the authenticated sender of a request. Fields that belong to another Kind are empty.
type Caller struct {
	Kind     Kind
	KeyHash  KeyHash            // Kind Key
	Operator *operator.Operator // set only if the ledger was queried
	Granted                     // Kind Key

	SignedInAt time.Time         // Kind Session: time of the sign-in at the identity provider
	Renewed    bool              // Kind Session: the session was renewed, so its cookies should be set again
	Delegate   Delegate          // Kind Token
	Identity   operator.Identity // Kind Login
	SessionErr error             // Kind Anonymous: the session could not be checked; nil: no session, or an invalid one
}

// Actor returns the operator in the form that the ledger expects: the key hash for Kind Key, else the operator id. It is empty
// for a caller without an operator.
func (c Caller) Actor() operator.Actor {
	switch c.Kind {
	case Key:
		return operator.Actor{KeyHash: c.KeyHash[:]}
	case Token:
		return operator.Actor{ID: c.Delegate.UserID}
	}
	if c.Operator == nil {
		return operator.Actor{}
	}
	return operator.Actor{ID: c.Operator.ID}
}

// UserID returns the id of the operator. For an app token, it is the user who gave the grant. For other kinds, c.Operator must be
// set.
func (c Caller) UserID() string {
	if c.Kind == Token {
		return string(c.Delegate.UserID)
	}
	return string(c.Operator.ID)
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Sessions  *Sessions
	Logins    Logins
	Tokens    Tokens // nil: no route accepts app tokens
	Directory operator.Directory
	Limits    *Limits
	Admin     protocol.Secret
	Cron      protocol.Secret
	Failures  Failures // counts wrong secrets by IP address
	Now       func() time.Time
}

// Service authenticates requests and counts them against rate limits.
type Service struct {
	Deps
	keys    keyCache
	lookUps cache.Flight[Granted]
	readers *readers
}

// New builds a Service with empty caches. The caller must call Close.
func New(d Deps) *Service {
	return &Service{Deps: d, keys: newKeyCache(), readers: newReaders(d.Now)}
}

// Resolve authenticates a request and charges it to the rate limit of the caller. It returns the caller and the state of the
// limit; the state is nil for callers without a limit. An Authorization header that is invalid, or that the route does not
// accept, is refused; no other credential is tried. If the route accepts client credentials, Resolve does not read the header.
// Errors: unauthenticated, forbidden, rate_limited, and those of the dependencies.
func (s *Service) Resolve(ctx context.Context, r Request) (Caller, *RateLimitState, error) {
	if r.Accept.Has(AcceptClient) { // the header is missing or contains client credentials
		return Caller{Kind: Client}, nil, nil
	}
	b, err := parseBearer(r.Authorization)
	switch {
	case err != nil:
		return Caller{}, nil, err
	case r.Public && b.kind != Anonymous:
		return s.reader(ctx, b)
	case b.kind == Key && r.Accept.Has(AcceptKey):
		return s.key(ctx, r, b.hash)
	case b.kind == Login && r.Accept.Has(AcceptLogin):
		return s.login(ctx, b.raw)
	case b.kind == Token && r.Accept.Has(AcceptToken) && s.Tokens != nil:
		return s.token(ctx, b.raw, r.Resource)
	case b.kind != Anonymous:
		return Caller{}, nil, r.Accept.wrongKind(b.kind)
	case r.Accept.Has(AcceptAdmin) || r.Accept.Has(AcceptCron):
		c, err := s.secret(ctx, r)
		return c, nil, err
	case r.Accept.Has(AcceptSession) && r.UID != "" && r.Sig != "":
		return s.session(ctx, r)
	case r.Accept.Has(AcceptNone):
		return Caller{}, nil, nil
	}
	return Caller{}, nil, r.Accept.missing()
}

// Known returns the kind of a credential that this process can check without a call. It returns Key if the ledger has accepted
// the key and has not refused it within the last minute. It returns Session for cookies with a valid signature that have not
// expired, and otherwise Anonymous. It does not authenticate. It is used to keep failures of other clients from blocking this
// caller.
func (s *Service) Known(r Request) Kind {
	b, err := parseBearer(r.Authorization)
	switch {
	case err != nil || len(r.AdminSecret)+len(r.CronSecret) > 0:
		return Anonymous
	case b.kind == Key && s.keys.isGood(b.hash, s.Now()):
		return Key
	case b.kind == Anonymous && r.UID != "" && r.Sig != "":
		if _, err := s.Sessions.Read(r.UID, r.Sig); err == nil {
			return Session
		}
	}
	return Anonymous
}

// Refused records that the ledger has refused the caller's key during a write, and returns the error for the caller. For one
// minute, requests with this key are then refused without a call to the ledger. The error of a write does not have the reason,
// so Refused requests it. If the ledger does not answer, or for another kind of caller, it returns err.
func (s *Service) Refused(ctx context.Context, c Caller, err error) error {
	if c.Kind != Key {
		return err
	}
	s.keys.refuse(c.KeyHash, s.Now(), err)
	if _, refused := s.verify(ctx, c.KeyHash); refused != nil && apperr.Of(refused).Kind == apperr.Unauthenticated {
		return refused
	}
	return err
}

// Confirm verifies a key with the ledger if Resolve has not verified it. It does nothing for other kinds of callers. Errors:
// unauthenticated, and those of the ledger.
func (s *Service) Confirm(ctx context.Context, c Caller) error {
	if c.Kind != Key || c.Operator != nil {
		return nil
	}
	_, err := s.verify(ctx, c.KeyHash)
	return err
}

// key authenticates an operator key. If the ledger has accepted the key before, the request is counted first, and then the key
// is verified. With r.InCall, the later write verifies the key. An unknown key is looked up before the request is counted, so
// that random keys use no memory in Redis.
func (s *Service) key(ctx context.Context, r Request, hash KeyHash) (Caller, *RateLimitState, error) {
	if err := s.keys.refusal(hash, s.Now()); err != nil {
		return Caller{}, nil, err
	}
	granted, known := s.keys.existed.get(hash)
	if !known {
		var err error
		if granted, err = s.lookUp(ctx, hash); err != nil {
			return Caller{}, nil, err
		}
	}
	c := Caller{Kind: Key, KeyHash: hash, Granted: granted}
	standing, err := s.count(ctx, Key, keyID(hash))
	if err != nil || r.InCall {
		return c, standing, err
	}
	owned, err := s.verify(ctx, hash)
	if err != nil {
		return Caller{}, standing, err
	}
	c.Operator, c.Granted = &owned.Operator, owned.Granted
	return c, standing, nil
}

// lookUp returns the permissions of a key that this process has not seen. Concurrent requests share one call to the ledger. The
// result only decides whether a request is counted or refused; the key is verified again for each request.
func (s *Service) lookUp(ctx context.Context, hash KeyHash) (Granted, error) {
	return s.lookUps.Do(ctx, string(hash[:]), func(ctx context.Context) (Granted, error) {
		owned, err := s.verify(ctx, hash)
		return owned.Granted, err
	})
}

// verify verifies a key with the ledger and caches the result. It returns unauthenticated for an invalid key.
func (s *Service) verify(ctx context.Context, hash KeyHash) (Owned, error) {
	r, err := s.Directory.Ledger.VerifyKey(ctx, &operatorv1.VerifyKeyRequest{KeyHash: hash[:]})
	owned := Owned{Operator: operator.FromMessage(r.GetOperator()), Granted: Granted{
		KeyID: r.GetKey().GetId(), Permissions: r.GetKey().GetPermissions(), Strict: r.GetKey().GetStrict(),
	}}
	switch f := apperr.Of(err); {
	case err == nil:
		s.keys.accept(hash, owned.Granted)
	case f.Kind == apperr.Unauthenticated:
		err = errUnknownKey
		if apperr.ReasonOf(f) == apperr.ReasonRevoked {
			err = errRevokedKey
		}
		s.keys.refuse(hash, s.Now(), err)
	}
	return owned, err
}

// session authenticates the session cookies. It checks the signature and the age, then the stored session, then the session
// version of the ledger. On a public route, an invalid session, or one that cannot be checked now, counts as anonymous. A
// request that can change state is forbidden if it comes from another origin.
func (s *Service) session(ctx context.Context, r Request) (Caller, *RateLimitState, error) {
	signed, err := s.Sessions.Read(r.UID, r.Sig)
	if err != nil {
		if r.Accept.Has(AcceptNone) {
			return Caller{}, nil, nil
		}
		return Caller{}, nil, err
	}
	if r.Unsafe && !r.SameOrigin {
		return Caller{}, nil, ErrForbidden.WithText("a request with a session must have the Origin of this hub")
	}
	standing, err := s.count(ctx, Session, string(signed.Operator))
	if err != nil {
		return Caller{}, standing, err
	}
	stored, renewed, err := s.Sessions.Find(ctx, signed, r.Bind)
	var op operator.Operator
	if err == nil {
		op, err = s.Directory.ByID(ctx, signed.Operator)
	}
	switch {
	case err != nil && apperr.Of(err).Kind == apperr.NotFound:
		err = errUnknownSession
	case err == nil && op.SessionVersion != signed.Version:
		err = errEndedSession
	}
	switch {
	case err == nil:
		return Caller{Kind: Session, Operator: &op, SignedInAt: stored.SignedInAt, Renewed: renewed}, standing, nil
	case !r.Accept.Has(AcceptNone):
		return Caller{}, standing, err
	case errors.Is(err, ErrUnauthenticated):
		return Caller{}, standing, nil
	}
	return Caller{SessionErr: err}, standing, nil
}

// login authenticates a token of an identity provider. The token is verified first, so that only requests of existing subjects
// are counted.
func (s *Service) login(ctx context.Context, raw string) (Caller, *RateLimitState, error) {
	who, err := s.Logins.Verify(ctx, raw)
	if err != nil {
		return Caller{}, nil, err
	}
	standing, err := s.count(ctx, Login, loginID(who))
	return Caller{Kind: Login, Identity: who}, standing, err
}

// loginID returns the id by which the requests of an identity are counted.
func loginID(who operator.Identity) string {
	return ratelimit.HashedKey(who.Issuer + "|" + who.Subject)
}

// token authenticates an app token and counts the request against the grant of the token. The token is verified first, so that
// random tokens are not counted.
func (s *Service) token(ctx context.Context, raw, resource string) (Caller, *RateLimitState, error) {
	d, err := s.Tokens(ctx, raw, resource)
	if err != nil {
		return Caller{}, nil, err
	}
	standing, err := s.count(ctx, Token, d.GrantID)
	return Caller{Kind: Token, Delegate: d}, standing, err
}

// CountClient counts a request against the limit of an app and an IP address, before the app is authenticated. Error:
// rate_limited.
func (s *Service) CountClient(ctx context.Context, clientID, ip string) (*RateLimitState, error) {
	return s.count(ctx, Client, ratelimit.HashedKey(clientID+"|"+ip))
}

// CountConsent counts a request of the consent page against the limit of its session. Error: rate_limited.
func (s *Service) CountConsent(ctx context.Context, session string) (*RateLimitState, error) {
	return s.count(ctx, Consent, ratelimit.HashedKey(session))
}

// secret checks the admin secret or the cron secret. Errors: ErrForbidden for a wrong secret, and for a route whose secret is
// not configured; ErrUnauthenticated without a secret; ErrLimited after too many wrong secrets from one IP address.
func (s *Service) secret(ctx context.Context, r Request) (Caller, error) {
	kind, given, want := Admin, r.AdminSecret, s.Admin
	if !r.Accept.Has(AcceptAdmin) || len(given) == 0 && r.Accept.Has(AcceptCron) {
		kind, given, want = Cron, r.CronSecret, s.Cron
	}
	if !want.IsSet() {
		return Caller{}, ErrForbidden.WithText("this installation has no secret for this route; an administrator must configure it")
	}
	if len(given) == 0 {
		return Caller{}, r.Accept.missing()
	}
	if wait := s.Failures.Wait(ctx, r.IP); wait > 0 {
		return Caller{}, Limited(MaxFailures, wait)
	}
	if len(given) > 1 || !want.Match(given[0]) {
		if wait := s.Failures.Failed(ctx, r.IP); wait > 0 {
			return Caller{}, Limited(MaxFailures, wait)
		}
		return Caller{}, errWrongSecret
	}
	return Caller{Kind: kind}, nil
}

func (s *Service) count(ctx context.Context, kind Kind, id string) (*RateLimitState, error) {
	st := s.Limits.Count(ctx, kind, id)
	if !st.Allowed {
		return &st, Limited(st.Limit, st.Retry)
	}
	return &st, nil
}

// Errors of authentication and of rate limits.
var (
	ErrUnauthenticated = apperr.ErrCredentialUnknown
	ErrForbidden       = apperr.New(apperr.Forbidden, "forbidden", "the caller may not do this")
	ErrLimited         = apperr.New(apperr.Limited, "rate_limited", "too many requests; retry after the time in retryAfterMs")

	errUnknownKey     = apperr.ErrCredentialUnknown.WithText("the operator key is unknown; check that it is complete")
	errRevokedKey     = apperr.ErrCredentialRevoked.WithText("the operator key was revoked; create another one")
	errUnknownSession = apperr.ErrCredentialUnknown.WithText("the session cookies are invalid; sign in again")
	errEndedSession   = apperr.ErrCredentialRevoked.WithText("the session has ended; sign in again")
	errExpiredSession = apperr.ErrCredentialExpired.WithText("the session has expired; sign in again")
	errWrongSecret    = ErrForbidden.WithText("the secret is wrong; send the secret of this installation once, in x-admin-secret or x-cron-secret")
)

// Limited returns ErrLimited with the limit and with retry, the time until the next request is allowed.
func Limited(limit int, retry time.Duration) error {
	return ErrLimited.With("limit", limit).With("retryAfterMs", ceilMillis(retry))
}

// ceilMillis returns d in milliseconds, rounded up, so that a request after this time is allowed.
func ceilMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
