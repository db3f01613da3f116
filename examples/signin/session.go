package main

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	sessionsMost = 10_000
	signInWithin = 10 * time.Minute // from the first click to the answer
	sessionFor   = 12 * time.Hour
)

// session is a sign-in that waits for its answer, or somebody who is signed in. The browser holds its random name and
// nothing else: tokens stay here.
type session struct {
	id      string
	expires time.Time

	state, verifier string // of a sign-in that waits for its answer, which has to fit them

	mu    sync.Mutex // one renewal at a time
	user  string
	token *oauth2.Token
}

func (s *session) name() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user
}

type sessions struct {
	name   string // of the cookie
	secure bool   // cookies travel over https alone

	mu  sync.Mutex
	all map[string]*session
}

// newSessions has a prefix in the name of its cookie over https, by which browsers refuse
// one that another host or a plain connection has set.
func newSessions(name string, secure bool) *sessions {
	if secure {
		name = "__Host-" + name
	}
	return &sessions{name: name, secure: secure, all: map[string]*session{}}
}

// random is a name that nobody guesses: 26 letters hold 130 bits.
func random() string { return rand.Text() }

// start makes a session and sets its cookie; nil when there are too many.
func (k *sessions) start(w http.ResponseWriter, s *session, lasts time.Duration) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for id, old := range k.all {
		if now.After(old.expires) {
			delete(k.all, id)
		}
	}
	if len(k.all) >= sessionsMost {
		return nil
	}
	s.id, s.expires = random(), now.Add(lasts)
	k.all[s.id] = s
	http.SetCookie(w, k.cookie(s.id, int(lasts.Seconds())))
	return s
}

// cookie cannot be read by a script. Lax, because the browser comes back from the hub by
// a link of another site; Strict would lose the session on the way.
func (k *sessions) cookie(id string, seconds int) *http.Cookie {
	return &http.Cookie{Name: k.name, Value: id, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: k.secure, SameSite: http.SameSiteLaxMode}
}

// of finds the session of a request; nil: there is none.
func (k *sessions) of(r *http.Request) *session {
	c, err := r.Cookie(k.name)
	if err != nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.all[c.Value]
	if s == nil || time.Now().After(s.expires) {
		return nil
	}
	return s
}

// end forgets a session and its cookie; false: it was forgotten before.
func (k *sessions) end(w http.ResponseWriter, s *session) bool {
	http.SetCookie(w, k.cookie("", -1))
	if s == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.all[s.id] == s
	delete(k.all, s.id)
	return known
}
