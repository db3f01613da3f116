package caller

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// sessionCache is how long a session that was active is taken for active without another
// read: a sign-out on another replica takes effect within this time.
const sessionCache = 5 * time.Second

// StoredSession is one sign-in. The operator and the second of issue identify it: both
// are in the cookie.
type StoredSession struct {
	Operator   operator.ID
	IssuedAt   time.Time // whole seconds
	SignedInAt time.Time // when the person proved who they are to the identity provider
	Bind       []byte    // SHA-256 of the binding cookie; nil: not bound
	EndedAt    time.Time // zero: active
}

// Store stores sessions. Fault of all: db_unavailable.
type Store interface {
	// AddSession stores a session under its second of issue, or under the closest
	// earlier second that the operator has no session of, and returns that second.
	AddSession(ctx context.Context, s StoredSession) (issuedAt time.Time, err error)
	// FindSession reads a session, ended ones too.
	FindSession(ctx context.Context, id operator.ID, issuedAt time.Time) (s StoredSession, found bool, err error)
	// EndSession ends one session. An unknown or ended session stays as it is.
	EndSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error
	// EndSessions ends all sessions of the operator.
	EndSessions(ctx context.Context, id operator.ID, now time.Time) error
}

// SessionCookies are the cookie values of a new session.
type SessionCookies struct {
	UID, Sig string
	Bind     string // empty: the session is not bound
}

type sessionKey struct {
	id     operator.ID
	issued int64
}

type cachedSession struct {
	StoredSession
	readAt time.Time
}

// Start stores a session and returns its cookies. Fault: db_unavailable.
func (s *Sessions) Start(ctx context.Context, op operator.Operator, signedInAt time.Time) (SessionCookies, error) {
	row := StoredSession{Operator: op.ID, IssuedAt: s.now().UTC().Truncate(time.Second), SignedInAt: signedInAt.UTC()}
	var out SessionCookies
	if s.bound {
		out.Bind = rand.Text()
		sum := sha256.Sum256([]byte(out.Bind))
		row.Bind = sum[:]
	}
	issued, err := s.store.AddSession(ctx, row)
	if err != nil {
		return SessionCookies{}, err
	}
	out.UID, out.Sig = s.issue(op.ID, op.SessionVersion, issued)
	return out, nil
}

// Find returns the active session that the cookies name. Faults: unauthenticated for a
// session that is unknown, ended or bound to another browser; db_unavailable.
func (s *Sessions) Find(ctx context.Context, signed Signed, bind string) (StoredSession, error) {
	row, err := s.read(ctx, signed)
	if err != nil {
		return StoredSession{}, err
	}
	if row.Bind != nil || s.bound {
		sum := sha256.Sum256([]byte(bind))
		if subtle.ConstantTimeCompare(row.Bind, sum[:]) != 1 {
			return StoredSession{}, ErrUnauthenticated
		}
	}
	return row, nil
}

func (s *Sessions) read(ctx context.Context, signed Signed) (StoredSession, error) {
	key, now := sessionKey{signed.Operator, signed.IssuedAt.Unix()}, s.now()
	if c, ok := s.active.get(key); ok && now.Sub(c.readAt).Abs() < sessionCache {
		return c.StoredSession, nil
	}
	row, found, err := s.store.FindSession(ctx, signed.Operator, signed.IssuedAt)
	switch {
	case err != nil:
		return StoredSession{}, err
	case !found || !row.EndedAt.IsZero():
		s.active.drop(key)
		return StoredSession{}, ErrUnauthenticated
	}
	s.active.put(key, cachedSession{row, now})
	return row, nil
}

// End ends one session on every replica: here at once, elsewhere within five seconds.
// Fault: db_unavailable.
func (s *Sessions) End(ctx context.Context, signed Signed) error {
	if err := s.store.EndSession(ctx, signed.Operator, signed.IssuedAt, s.now()); err != nil {
		return err
	}
	s.active.drop(sessionKey{signed.Operator, signed.IssuedAt.Unix()})
	return nil
}

// EndAll ends all sessions of an operator. The session version of the ledger, which
// every request compares, must be raised before. Fault: db_unavailable.
func (s *Sessions) EndAll(ctx context.Context, id operator.ID) error {
	return s.store.EndSessions(ctx, id, s.now())
}
