package caller

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Logins verifies identity-provider tokens. Faults: unauthenticated,
// identity_provider_unavailable.
type Logins interface {
	Verify(ctx context.Context, raw string) (operator.Identity, error)
}

// Delegate is what an app token stands for.
type Delegate struct {
	UserID  operator.ID // who gave the grant; the token acts as this operator
	AppID   string
	GrantID string
	Scopes  []string
}

// Tokens returns what an app token may act for at a resource. It reads the store for each call, so that a revocation
// applies to the next request. Fault: unauthenticated.
type Tokens func(ctx context.Context, bearer, resource string) (Delegate, error)

// Granted is what a key may do. It never changes after the key was minted.
type Granted struct {
	KeyID       string
	Permissions []string
	Strict      bool // held to its permissions on every route, not only where scopes apply
}

// Allows reports whether the key has the permission.
func (g Granted) Allows(permission string) bool { return slices.Contains(g.Permissions, permission) }

// Owned is an active key: its owner and what it may do.
type Owned struct {
	Operator operator.Operator
	Granted
}

// Request is what a request carries to be told apart by.
type Request struct {
	Take          Take
	InCall        bool   // the ledger checks the key inside the call that acts
	Resource      string // what an app token has to be for
	Authorization []string
	UID, Sig      string // cookie pair
	Bind          string // the cookie that binds the pair to a browser
	AdminSecret   []string
	CronSecret    []string
	IP            string
	Unsafe        bool // the method changes something
	SameOrigin    bool // the browser says that our own page asks
}

// Caller is who asks.
type Caller struct {
	Kind     Kind
	KeyHash  KeyHash            // Kind Key
	Operator *operator.Operator // set when the ledger was asked
	Granted                     // Kind Key

	SignedInAt time.Time         // Kind Session: when the person proved who they are
	Delegate   Delegate          // Kind Token
	Identity   operator.Identity // Kind Login
	Doubt      error             // Kind Anonymous: why a session could not be checked; nil: none was sent, or it is void
}

// Actor is for whom the ledger shall act.
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

// UserID returns the id of the operator for whom the caller acts: of an app token the one who granted it.
func (c Caller) UserID() string {
	if c.Kind == Token {
		return string(c.Delegate.UserID)
	}
	return string(c.Operator.ID)
}

// Deps are the parts of a Service.
type Deps struct {
	Sessions  *Sessions
	Logins    Logins
	Tokens    Tokens // nil: no route takes app tokens
	Directory operator.Directory
	Limits    *Limits
	Admin     protocol.Secret
	Cron      protocol.Secret
	Failures  Failures // wrong secrets by address
	Now       func() time.Time
}

// Service resolves callers.
type Service struct {
	Deps
	keys    keyring
	lookUps cache.Flight[Granted]
}

// New builds a Service.
func New(d Deps) *Service { return &Service{Deps: d, keys: newKeyring()} }

// Resolve returns the caller of a request after it has charged the request to
// the limit of the caller, and the state of that limit (nil for callers without one).
// A credential that is there but wrong, or of a kind that the route does not
// take, is refused; it never falls back to another one.
// Faults: unauthenticated, forbidden, rate_limited, and those of the ports.
func (s *Service) Resolve(ctx context.Context, r Request) (Caller, *Standing, error) {
	if r.Take.Has(TakeClient) { // with a header that is no bearer, or none
		return Caller{Kind: Client}, nil, nil
	}
	b, err := parseBearer(r.Authorization)
	switch {
	case err != nil:
		return Caller{}, nil, err
	case b.kind == Key && r.Take.Has(TakeKey):
		return s.key(ctx, r, b.hash)
	case b.kind == Login && r.Take.Has(TakeLogin):
		return s.login(ctx, b.raw)
	case b.kind == Token && r.Take.Has(TakeToken) && s.Tokens != nil:
		return s.token(ctx, b.raw, r.Resource)
	case b.kind != Anonymous:
		return Caller{}, nil, ErrUnauthenticated
	case r.Take.Has(TakeAdmin) || r.Take.Has(TakeCron):
		c, err := s.secret(ctx, r)
		return c, nil, err
	case r.Take.Has(TakeSession) && r.UID != "" && r.Sig != "":
		return s.session(ctx, r)
	case r.Take.Has(TakeNone):
		return Caller{}, nil, nil
	}
	return Caller{}, nil, ErrUnauthenticated
}

// Known is the kind of a credential that this process takes for good without asking
// anybody: a key that the ledger has accepted and not refused since, a session with our
// signature on it. Anonymous is everything else. Nobody is let in by it: it tells whom a
// guess of somebody else must not shut out.
func (s *Service) Known(r Request) Kind {
	b, err := parseBearer(r.Authorization)
	switch {
	case err != nil || len(r.AdminSecret)+len(r.CronSecret) > 0:
		return Anonymous
	case b.kind == Key && s.keys.isGood(b.hash, s.Now()):
		return Key
	case b.kind == Anonymous && r.UID != "" && r.Sig != "":
		if _, signed := s.Sessions.Read(r.UID, r.Sig); signed {
			return Session
		}
	}
	return Anonymous
}

// Refused tells that the ledger did not accept this caller's key inside a
// call, so that the next use is refused without one.
func (s *Service) Refused(c Caller) {
	if c.Kind == Key {
		s.keys.refuse(c.KeyHash, s.Now())
	}
}

// Confirm asks the ledger for a key that no call has shown to be good yet; other
// callers are good since Resolve. Faults: unauthenticated, and those of the ledger.
func (s *Service) Confirm(ctx context.Context, c Caller) error {
	if c.Kind != Key || c.Operator != nil {
		return nil
	}
	_, err := s.verify(ctx, c.KeyHash)
	return err
}

// key weighs an operator key. A key heard of before is counted first and
// then checked, by the acting call itself where that does it (InCall). A key
// never heard of is looked up first, so that random keys leave nothing in the
// shared counter; the count comes before the act either way.
func (s *Service) key(ctx context.Context, r Request, hash KeyHash) (Caller, *Standing, error) {
	if s.keys.isRefused(hash, s.Now()) {
		return Caller{}, nil, ErrUnauthenticated
	}
	granted, known := s.keys.existed.get(hash)
	if !known {
		var err error
		if granted, err = s.lookUp(ctx, hash); err != nil {
			return Caller{}, nil, err
		}
	}
	c := Caller{Kind: Key, KeyHash: hash, Granted: granted}
	standing, err := s.count(ctx, Key, hex.EncodeToString(hash[:16]))
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

// lookUp returns what an existing key may do. Concurrent callers share the answer: it
// only decides that they are counted or refused, and the act checks again.
func (s *Service) lookUp(ctx context.Context, hash KeyHash) (Granted, error) {
	return s.lookUps.Do(ctx, string(hash[:]), func(ctx context.Context) (Granted, error) {
		owned, err := s.verify(ctx, hash)
		return owned.Granted, err
	})
}

// verify asks the ledger, whose word is final, and keeps what it means.
func (s *Service) verify(ctx context.Context, hash KeyHash) (Owned, error) {
	r, err := s.Directory.Ledger.VerifyKey(ctx, &operatorv1.VerifyKeyRequest{KeyHash: hash[:]})
	owned := Owned{Operator: operator.FromMessage(r.GetOperator()), Granted: Granted{
		KeyID: r.GetKey().GetId(), Permissions: r.GetKey().GetPermissions(), Strict: r.GetKey().GetStrict(),
	}}
	switch {
	case err == nil:
		s.keys.accept(hash, owned.Granted)
	case apperr.Of(err).Kind == apperr.Unauthenticated:
		s.keys.refuse(hash, s.Now())
		err = ErrUnauthenticated
	}
	return owned, err
}

// session checks the cookies: signature and age first, then the stored session, then the
// version against the ledger's. On a public route a session that is void, or that cannot
// be checked now, counts as none.
func (s *Service) session(ctx context.Context, r Request) (Caller, *Standing, error) {
	signed, ok := s.Sessions.Read(r.UID, r.Sig)
	if !ok {
		if r.Take.Has(TakeNone) {
			return Caller{}, nil, nil
		}
		return Caller{}, nil, ErrUnauthenticated
	}
	if r.Unsafe && !r.SameOrigin {
		return Caller{}, nil, ErrForbidden.Say("a session acts from its own origin only")
	}
	standing, err := s.count(ctx, Session, string(signed.Operator))
	if err != nil {
		return Caller{}, standing, err
	}
	stored, err := s.Sessions.Find(ctx, signed, r.Bind)
	var op operator.Operator
	if err == nil {
		op, err = s.Directory.ByID(ctx, signed.Operator)
	}
	gone := err != nil && apperr.Of(err).Kind == apperr.NotFound
	if gone || err == nil && op.SessionVersion != signed.Version {
		err = ErrUnauthenticated
	}
	switch {
	case err == nil:
		return Caller{Kind: Session, Operator: &op, SignedInAt: stored.SignedInAt}, standing, nil
	case !r.Take.Has(TakeNone):
		return Caller{}, standing, err
	case errors.Is(err, ErrUnauthenticated):
		return Caller{}, standing, nil
	}
	return Caller{Doubt: err}, standing, nil
}

// login weighs an identity-provider token: verified first, so that only real
// subjects are counted.
func (s *Service) login(ctx context.Context, raw string) (Caller, *Standing, error) {
	who, err := s.Logins.Verify(ctx, raw)
	if err != nil {
		return Caller{}, nil, err
	}
	standing, err := s.count(ctx, Login, hashed(who.Issuer+"|"+who.Subject))
	return Caller{Kind: Login, Identity: who}, standing, err
}

// token weighs an app token: verified first, so that random ones leave nothing in
// the shared counter, and counted against its grant.
func (s *Service) token(ctx context.Context, raw, resource string) (Caller, *Standing, error) {
	d, err := s.Tokens(ctx, raw, resource)
	if err != nil {
		return Caller{}, nil, err
	}
	standing, err := s.count(ctx, Token, d.GrantID)
	return Caller{Kind: Token, Delegate: d}, standing, err
}

// CountClient counts a call of an app at an address, before anybody knows whether
// the app is what it says. Fault: rate_limited.
func (s *Service) CountClient(ctx context.Context, clientID, ip string) (*Standing, error) {
	return s.count(ctx, Client, hashed(clientID+"|"+ip))
}

// CountConsent counts a look at the page that asks for a grant. The session is what
// tells it from any other one. Fault: rate_limited.
func (s *Service) CountConsent(ctx context.Context, session string) (*Standing, error) {
	return s.count(ctx, Consent, hashed(session))
}

// secret weighs the admin and the cron secret. A route whose secrets are not
// configured is closed to everybody.
func (s *Service) secret(ctx context.Context, r Request) (Caller, error) {
	kind, given, want := Admin, r.AdminSecret, s.Admin
	if !r.Take.Has(TakeAdmin) || len(given) == 0 && r.Take.Has(TakeCron) {
		kind, given, want = Cron, r.CronSecret, s.Cron
	}
	if !want.IsSet() {
		return Caller{}, ErrForbidden
	}
	if len(given) == 0 {
		return Caller{}, ErrUnauthenticated
	}
	if wait := s.Failures.Wait(ctx, r.IP); wait > 0 {
		return Caller{}, Limited(MaxFailures, wait)
	}
	if len(given) > 1 || !want.Match(given[0]) {
		if wait := s.Failures.Failed(ctx, r.IP); wait > 0 {
			return Caller{}, Limited(MaxFailures, wait)
		}
		return Caller{}, ErrForbidden
	}
	return Caller{Kind: kind}, nil
}

func (s *Service) count(ctx context.Context, kind Kind, whose string) (*Standing, error) {
	st := s.Limits.Count(ctx, kind, whose)
	if !st.Allowed {
		return &st, Limited(st.Limit, st.Retry)
	}
	return &st, nil
}

// Faults of credentials and limits.
var (
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "")
	ErrForbidden       = apperr.New(apperr.Forbidden, "forbidden", "")
	ErrLimited         = apperr.New(apperr.Limited, "rate_limited", "")
)

// Limited returns ErrLimited with the limit and the time until the next request is allowed.
func Limited(limit int, retry time.Duration) error {
	return ErrLimited.With("limit", limit).With("retryAfterMs", ceilMillis(retry))
}

// ceilMillis rounds up: a request after exactly that time is allowed.
func ceilMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
