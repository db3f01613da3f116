package main

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	sessionsMost = 10_000
	sessionFor   = 12 * time.Hour
)

// session is somebody who is signed in. The browser holds its random name and nothing
// else: tokens stay here.
type session struct {
	id      string
	user    string
	expires time.Time

	mu    sync.Mutex    // one renewal at a time
	token *oauth2.Token // nil when it has ended
}

func (s *session) name() string {
	if s == nil {
		return ""
	}
	return s.user
}

// close takes the tokens out of memory and gives them. It waits for a renewal that is
// under way, and none begins after it.
func (s *session) close() *oauth2.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.token
	s.token = nil
	return token
}

// sessions holds so many and no more, each for so long: when there is no room the oldest
// goes, since whoever came first has had most of theirs.
type sessions struct {
	cookies cookies
	most    int
	lasts   time.Duration

	mu  sync.Mutex
	all map[string]*session
}

func newSessions(secure bool) *sessions {
	return &sessions{cookies: newCookies("session", secure), most: sessionsMost, lasts: sessionFor, all: map[string]*session{}}
}

// start begins a session under a new name, so that one from before the sign-in is worth
// nothing after it. It gives the session that had to go for it; nil: none.
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
	if len(k.all) < k.most {
		oldest = nil
	} else {
		delete(k.all, oldest.id)
	}
	s := &session{id: random(), user: user, expires: now.Add(k.lasts), token: token}
	k.all[s.id] = s
	http.SetCookie(w, k.cookies.make(s.id, k.lasts))
	return oldest
}

// of finds the session of a request; nil: there is none.
func (k *sessions) of(r *http.Request) *session {
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

// forget takes a session out; false: it was out before.
func (k *sessions) forget(s *session) bool {
	if s == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.all[s.id] == s
	delete(k.all, s.id)
	return known
}

// end forgets a session and its cookie; false: it was forgotten before, and the browser may
// have the cookie of another one by now.
func (k *sessions) end(w http.ResponseWriter, s *session) bool {
	known := k.forget(s)
	if known {
		http.SetCookie(w, k.cookies.drop())
	}
	return known
}
