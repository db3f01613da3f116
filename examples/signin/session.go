package main

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	maxSessions     = 10_000
	sessionLifetime = 12 * time.Hour
)

// session is the session of a signed-in person. The browser stores only its random id. The tokens stay in the app.
type session struct {
	id      string
	user    string
	expires time.Time

	mu    sync.Mutex    // one renewal at a time
	token *oauth2.Token // nil after the session has ended
}

// name returns the user name, or an empty text if s is nil.
func (s *session) name() string {
	if s == nil {
		return ""
	}
	return s.user
}

// close removes the tokens from the session and returns them, or nil if they were already removed. It waits for a running renewal
// and prevents later renewals.
func (s *session) close() *oauth2.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.token
	s.token = nil
	return token
}

// sessions stores at most max sessions in memory. When it is full, a new session replaces the oldest one.
type sessions struct {
	cookies  cookies
	max      int
	lifetime time.Duration

	mu  sync.Mutex
	all map[string]*session
}

func newSessions(secure bool) *sessions {
	return &sessions{cookies: newCookies("session", secure), max: maxSessions, lifetime: sessionLifetime, all: map[string]*session{}}
}

// start starts a session with a new id, so that an id from before the sign-in is useless. It returns the session that the new
// one has replaced, or nil if the maximum number was not reached.
func (k *sessions) start(w http.ResponseWriter, user string, token *oauth2.Token) (oldest *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for id, s := range k.all {
		if !now.Before(s.expires) {
			delete(k.all, id)
		} else if oldest == nil || s.expires.Before(oldest.expires) {
			oldest = s
		}
	}
	if len(k.all) < k.max {
		oldest = nil
	} else {
		delete(k.all, oldest.id)
	}
	s := &session{id: random(), user: user, expires: now.Add(k.lifetime), token: token}
	k.all[s.id] = s
	http.SetCookie(w, k.cookies.create(s.id, k.lifetime))
	return oldest
}

// find returns the session of a request, or nil if there is none or it has expired.
func (k *sessions) find(r *http.Request) *session {
	c, err := r.Cookie(k.cookies.name)
	if err != nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.all[c.Value]
	if s != nil && !time.Now().Before(s.expires) {
		delete(k.all, s.id)
		return nil
	}
	return s
}

// remove removes a session. It reports whether the session was stored.
func (k *sessions) remove(s *session) bool {
	if s == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.all[s.id] == s
	delete(k.all, s.id)
	return known
}

// end removes a session and deletes its cookie. If the session was already removed, end returns false and does not delete the
// cookie, because the browser may have the cookie of a newer session.
func (k *sessions) end(w http.ResponseWriter, s *session) bool {
	known := k.remove(s)
	if known {
		http.SetCookie(w, k.cookies.expired())
	}
	return known
}
