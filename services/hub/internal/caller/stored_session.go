package caller

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// useEvery is the minimum time between two updates of the last use of a session.
const useEvery = time.Hour

// DeviceLife is the time without use after which a device is new again.
const DeviceLife = 90 * 24 * time.Hour

// maxSessions is the maximum number of sessions that a list has.
const maxSessions = 100

// sessionCache is the time for which an active session is cached. A hub therefore detects a sign-out on another hub within this
// time.
const sessionCache = 5 * time.Second

// StoredSession is the stored record of a sign-in. Operator and IssuedAt identify it; both are also in the cookie.
type StoredSession struct {
	Operator   operator.ID
	IssuedAt   time.Time // whole seconds
	SignedInAt time.Time // time of the sign-in at the identity provider
	Bind       []byte    // SHA-256 of the cookie that binds the session; nil: not bound
	EndedAt    time.Time // zero: active
	UsedAt     time.Time // last use, at most useEvery too early
	Device     Device
	Pushes     bool   // has a web push subscription
	Email      string // of a new session: encrypted address that the provider has verified; empty: none
}

// Store stores sessions. Error of all methods: db_unavailable.
type Store interface {
	// AddSession stores a session under its IssuedAt second. If the operator already has a session of that second, it uses the
	// closest free earlier second. It returns the second that it used.
	AddSession(ctx context.Context, s StoredSession) (issuedAt time.Time, err error)
	// FindSession returns a session, even if it has ended. found is false if it does not exist.
	FindSession(ctx context.Context, id operator.ID, issuedAt time.Time) (s StoredSession, found bool, err error)
	// ListSessions returns the active sessions of an operator that were used after idle, the last used first.
	ListSessions(ctx context.Context, id operator.ID, idle time.Time, limit int) ([]StoredSession, error)
	// UseSession stores that a session and its device were used. It does nothing if the session is unknown or has ended.
	UseSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error
	// UseDevice stores a sign-in from a device. It notifies the operator and returns true if the operator has signed in before, but
	// not from this device after recent.
	UseDevice(ctx context.Context, id operator.ID, d Device, recent, now time.Time) (isNew bool, err error)
	// EndSession ends an active session. It does nothing if the session is unknown or has ended.
	EndSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error
	// EndSessions ends all sessions of the operator.
	EndSessions(ctx context.Context, id operator.ID, now time.Time) error
}

// SessionCookies holds the values of the cookies of a new session.
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

// Start stores a session and returns its cookies. email is the encrypted address that the provider has verified; empty: none.
// Error: db_unavailable.
func (s *Sessions) Start(
	ctx context.Context, op operator.Operator, signedInAt time.Time, from Device, email string,
) (SessionCookies, error) {
	now := s.now().UTC()
	row := StoredSession{
		Operator: op.ID, IssuedAt: now.Truncate(time.Second), SignedInAt: signedInAt.UTC(), Device: from, Email: email,
	}
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
	if _, err = s.store.UseDevice(ctx, op.ID, from, now.Add(-DeviceLife), now); err != nil {
		return SessionCookies{}, err
	}
	out.UID, out.Sig = s.issue(op.ID, op.SessionVersion, issued)
	return out, nil
}

// Renewed returns the cookies of a valid session, signed with the first secret, which may be newer than the session.
func (s *Sessions) Renewed(uid, bind string) SessionCookies {
	return SessionCookies{UID: uid, Sig: s.signature(uid), Bind: bind}
}

// List returns the active sessions of an operator, at most maxSessions, the last used first. Error: db_unavailable.
func (s *Sessions) List(ctx context.Context, id operator.ID) ([]StoredSession, error) {
	return s.store.ListSessions(ctx, id, s.now().Add(-SessionIdle), maxSessions)
}

// Find returns the active session of signed cookies and updates its last use. renewed reports whether it did; the cookies should
// then be set again. bind is the value of the third cookie, which binds a session to one browser. If s.bound is true, every session
// needs this cookie. Errors: db_unavailable, and unauthenticated if the session does not exist, has ended, was not used for
// SessionIdle, or is bound to another browser.
func (s *Sessions) Find(ctx context.Context, signed Signed, bind string) (row StoredSession, renewed bool, err error) {
	if row, err = s.read(ctx, signed); err != nil {
		return StoredSession{}, false, err
	}
	if row.Bind != nil || s.bound {
		sum := sha256.Sum256([]byte(bind))
		if subtle.ConstantTimeCompare(row.Bind, sum[:]) != 1 {
			return StoredSession{}, false, errUnknownSession
		}
	}
	now := s.now()
	switch idle := now.Sub(row.UsedAt); {
	case idle > SessionIdle:
		return StoredSession{}, false, errExpiredSession
	case idle < useEvery:
		return row, false, nil
	}
	if s.store.UseSession(ctx, signed.Operator, signed.IssuedAt, now) != nil {
		return row, false, nil // the next use renews the session
	}
	row.UsedAt = now
	s.active.put(sessionKey{signed.Operator, signed.IssuedAt.Unix()}, cachedSession{row, now})
	return row, true, nil
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
	case !found:
		s.active.drop(key)
		return StoredSession{}, errUnknownSession
	case !row.EndedAt.IsZero():
		s.active.drop(key)
		return StoredSession{}, errEndedSession
	}
	s.active.put(key, cachedSession{row, now})
	return row, nil
}

// End ends a session. It takes effect at once on this hub, and within sessionCache on other hubs. Error: db_unavailable.
func (s *Sessions) End(ctx context.Context, signed Signed) error {
	if err := s.store.EndSession(ctx, signed.Operator, signed.IssuedAt, s.now()); err != nil {
		return err
	}
	s.active.drop(sessionKey{signed.Operator, signed.IssuedAt.Unix()})
	return nil
}

// EndOne ends the session of an operator that was issued at a second. It does nothing if there is none. It takes effect like End.
// Error: db_unavailable.
func (s *Sessions) EndOne(ctx context.Context, id operator.ID, issuedAt time.Time) error {
	return s.End(ctx, Signed{Operator: id, IssuedAt: issuedAt})
}

// EndAll ends all stored sessions of an operator. The caller must first raise the session version in the ledger. Hubs check
// this version for every request, but they can have stored sessions cached. Error: db_unavailable.
func (s *Sessions) EndAll(ctx context.Context, id operator.ID) error {
	return s.store.EndSessions(ctx, id, s.now())
}
