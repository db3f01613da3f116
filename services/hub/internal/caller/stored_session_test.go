package caller

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// storedSessions is a fake Store that stores sessions in memory and counts reads.
type storedSessions struct {
	mu    sync.Mutex
	rows  map[sessionKey]StoredSession
	reads int
	uses  int
	fails error
}

func (s *storedSessions) AddSession(_ context.Context, row StoredSession) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[sessionKey]StoredSession{}
	}
	for {
		key := sessionKey{row.Operator, row.IssuedAt.Unix()}
		if _, taken := s.rows[key]; !taken {
			row.UsedAt = row.IssuedAt
			s.rows[key] = row
			return row.IssuedAt, s.fails
		}
		row.IssuedAt = row.IssuedAt.Add(-time.Second)
	}
}

func (s *storedSessions) FindSession(_ context.Context, id operator.ID, at time.Time) (StoredSession, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	row, found := s.rows[sessionKey{id, at.Unix()}]
	return row, found, s.fails
}

func (s *storedSessions) ListSessions(context.Context, operator.ID, time.Time, int) ([]StoredSession, error) {
	return nil, s.fails
}

func (s *storedSessions) UseSession(_ context.Context, id operator.ID, at, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sessionKey{id, at.Unix()}
	if row, found := s.rows[key]; found && s.fails == nil {
		row.UsedAt = now
		s.rows[key] = row
		s.uses++
	}
	return s.fails
}

func (s *storedSessions) UseDevice(context.Context, operator.ID, Device, time.Time, time.Time) (bool, error) {
	return false, s.fails
}

func (s *storedSessions) EndSession(_ context.Context, id operator.ID, at, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sessionKey{id, at.Unix()}
	if row, found := s.rows[key]; found {
		row.EndedAt = now
		s.rows[key] = row
	}
	return s.fails
}

func (s *storedSessions) EndSessions(ctx context.Context, id operator.ID, now time.Time) error {
	for key := range s.rows {
		if key.id == id {
			_ = s.EndSession(ctx, id, time.Unix(key.issued, 0), now)
		}
	}
	return s.fails
}

// start signs an operator in and returns the two cookie values of the session.
func start(t *testing.T, s *Sessions, id operator.ID, version int64) (uid, sig string) {
	t.Helper()
	cookies, err := s.Start(t.Context(), operator.Operator{ID: id, SessionVersion: version}, noon, Device{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return cookies.UID, cookies.Sig
}

func TestEndedSessionIsRefusedOnEveryReplica(t *testing.T) {
	t.Parallel()
	w, here, sessions := newWorld(t)
	uid, sig := start(t, sessions, "u1", 3)
	there := New(Deps{
		Sessions: NewSessions([]string{secretA}, sessions.store, false, w.Now), Logins: w, Directory: operator.Directory{Ledger: w}, Limits: NewLimits(w.counters(t)), Now: w.Now,
	})
	ask := func(s *Service) error {
		_, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig})
		return err
	}
	if err := errors.Join(ask(here), ask(there)); err != nil {
		t.Fatal(err)
	}
	signed, _ := sessions.Read(uid, sig)
	if err := sessions.End(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	if err := ask(here); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("on the replica that ended it: %v", err)
	}
	w.now = w.now.Add(10 * time.Second)
	if err := ask(there); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("on another replica 10 s later: %v", err)
	}
}

func TestActiveSessionIsReadOncePerFiveSeconds(t *testing.T) {
	t.Parallel()
	w, s, sessions := newWorld(t)
	store := sessions.store.(*storedSessions)
	uid, sig := start(t, sessions, "u1", 3)
	for range 20 {
		if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig}); err != nil {
			t.Fatal(err)
		}
	}
	if store.reads != 1 {
		t.Errorf("%d reads of the store, want 1", store.reads)
	}
	w.now = w.now.Add(sessionCache)
	if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig}); err != nil || store.reads != 2 {
		t.Errorf("after %v: %d reads, %v", sessionCache, store.reads, err)
	}
}

func TestSessionWithoutRowIsRefused(t *testing.T) {
	t.Parallel()
	w, s, sessions := newWorld(t)
	uid, sig := sessions.issue("u1", 3, w.now)
	if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig}); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("signed but not stored: %v", err)
	}
}

func TestSessionStoreFailureIsNotARefusal(t *testing.T) {
	t.Parallel()
	_, s, sessions := newWorld(t)
	uid, sig := start(t, sessions, "u1", 3)
	store := sessions.store.(*storedSessions)
	store.fails = apperr.New(apperr.Unavailable, "db_unavailable", "")
	if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig}); !errors.Is(err, store.fails) {
		t.Errorf("required session: %v", err)
	}
	c, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession | AcceptNone, UID: uid, Sig: sig})
	if err != nil || c.Kind != Anonymous || !errors.Is(c.SessionErr, store.fails) {
		t.Errorf("optional session: %+v, %v", c, err)
	}
}

func TestSessionsOfOneSecondAreDistinct(t *testing.T) {
	t.Parallel()
	_, s, sessions := newWorld(t)
	first, firstSig := start(t, sessions, "u1", 3)
	second, secondSig := start(t, sessions, "u1", 3)
	if first == second {
		t.Fatal("two sign-ins of one second have the same cookie")
	}
	signed, _ := sessions.Read(first, firstSig)
	if err := sessions.End(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: second, Sig: secondSig}); err != nil {
		t.Errorf("the other session: %v", err)
	}
}

func TestBoundSessionNeedsItsCookie(t *testing.T) {
	t.Parallel()
	w, _, _ := newWorld(t)
	store := &storedSessions{}
	bound, unbound := NewSessions([]string{secretA}, store, true, w.Now), NewSessions([]string{secretA}, store, false, w.Now)
	op := operator.Operator{ID: "u1", SessionVersion: 3}
	mine, err := bound.Start(t.Context(), op, noon, Device{}, "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := bound.Start(t.Context(), op, noon, Device{}, "")
	if err != nil || mine.Bind == "" || mine.Bind == other.Bind {
		t.Fatalf("binding values %q and %q: %v", mine.Bind, other.Bind, err)
	}
	without, err := unbound.Start(t.Context(), op, noon, Device{}, "")
	if err != nil || without.Bind != "" {
		t.Fatal(without, err)
	}
	for name, c := range map[string]struct {
		sessions *Sessions
		cookies  SessionCookies
		bind     string
		want     error
	}{
		"its own":                                {bound, mine, mine.Bind, nil},
		"none":                                   {bound, mine, "", ErrUnauthenticated},
		"that of another session":                {bound, mine, other.Bind, ErrUnauthenticated},
		"none where sessions are not bound":      {unbound, mine, "", ErrUnauthenticated},
		"an unbound session where all are bound": {bound, without, "", ErrUnauthenticated},
		"an unbound session":                     {unbound, without, "", nil},
	} {
		s := New(Deps{Sessions: c.sessions, Logins: w, Directory: operator.Directory{Ledger: w}, Limits: NewLimits(w.counters(t)), Now: w.Now})
		_, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: c.cookies.UID, Sig: c.cookies.Sig, Bind: c.bind})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
