package caller

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestSession(t *testing.T) {
	t.Parallel()
	w, s, sessions := newWorld(t)
	uid, sig := start(t, sessions, "u1", 3)
	ask := func(accept Accepted, uid, sig string, unsafe, same bool) (Caller, error) {
		c, _, err := s.Resolve(t.Context(), Request{Accept: accept, UID: uid, Sig: sig, Unsafe: unsafe, SameOrigin: same})
		return c, err
	}
	if c, err := ask(AcceptSession, uid, sig, true, true); err != nil || c.Kind != Session || c.Actor().ID != "u1" {
		t.Errorf("valid session: %+v, %v", c, err)
	}
	if _, err := ask(AcceptSession, uid, sig, true, false); !errors.Is(err, ErrForbidden) {
		t.Errorf("foreign origin: %v", err)
	}
	if _, err := ask(AcceptSession, uid, sig, false, false); err != nil {
		t.Errorf("a read without an origin: %v", err)
	}
	if _, err := ask(AcceptNone, uid, sig, false, false); err != nil {
		t.Errorf("a public read with an invalid cookie: %v", err)
	}
	old, oldSig := start(t, sessions, "u1", 2)
	if _, err := ask(AcceptSession, old, oldSig, false, true); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("older version: %v", err)
	}
	unknown, unknownSig := start(t, sessions, "u9", 3)
	if _, err := ask(AcceptSession, unknown, unknownSig, false, true); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("unknown operator: %v", err)
	}
	for range 4 {
		w.now = w.now.Add(SessionIdle)
		if c, err := ask(AcceptSession, uid, sig, false, true); err != nil || !c.Renewed {
			t.Errorf("after 14 days without use: %+v, %v", c, err)
		}
		if c, err := ask(AcceptSession, uid, sig, false, true); err != nil || c.Renewed {
			t.Errorf("at once after a renewal: %+v, %v", c, err)
		}
	}
	w.now = w.now.Add(SessionIdle + time.Second)
	if _, err := ask(AcceptSession, uid, sig, false, true); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("after more than 14 days without use: %v", err)
	}
}

func TestForgedSessions(t *testing.T) {
	t.Parallel()
	_, _, sessions := newWorld(t)
	uid, sig := start(t, sessions, "u1", 3)
	forged := 0
	flip := func(text string, bit int) string {
		b := []byte(text)
		b[bit/8] ^= 1 << (bit % 8)
		return string(b)
	}
	for bit := range 8 * len(uid) {
		if _, err := sessions.Read(flip(uid, bit), sig); err == nil {
			forged++
		}
	}
	for bit := range 8 * len(sig) {
		if _, err := sessions.Read(uid, flip(sig, bit)); err == nil {
			forged++
		}
	}
	_, other := start(t, sessions, "u2", 3)
	for _, pair := range [][2]string{{uid, other}, {uid, sig + "="}, {uid + ".0", sig}, {sig, uid}, {uid, uid}} {
		if _, err := sessions.Read(pair[0], pair[1]); err == nil {
			forged++
		}
	}
	for n := range len(sig) {
		if _, err := sessions.Read(uid, sig[:n]); err == nil {
			forged++
		}
	}
	for _, secret := range []string{"", strings.Repeat("a", 32)} {
		if _, err := sessions.Read(uid, base64.RawURLEncoding.EncodeToString(sign([]byte(secret), uid))); err == nil {
			forged++
		}
	}
	if forged != 0 {
		t.Errorf("%d forged sessions are accepted", forged)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	before := NewSessions([]string{secretB}, &storedSessions{}, false, now)
	after := NewSessions([]string{secretA, secretB}, &storedSessions{}, false, now)
	uid, sig := start(t, before, "u1", 0)
	if _, err := after.Read(uid, sig); err != nil {
		t.Error("a session is invalid after a new secret was added")
	}
	uid, sig = start(t, after, "u1", 0)
	if _, err := before.Read(uid, sig); err == nil {
		t.Error("a new session is not signed with the first secret")
	}
	alone := NewSessions([]string{secretA}, &storedSessions{}, false, now)
	if _, err := alone.Read(uid, sig); err != nil {
		t.Error("a session of the new secret is invalid after the old one was removed")
	}
	uid, sig = start(t, before, "u1", 0)
	if _, err := alone.Read(uid, sig); err == nil {
		t.Error("a session of a removed secret is accepted")
	}
	renewed := after.Renewed(uid, "")
	if _, err := alone.Read(renewed.UID, renewed.Sig); err != nil {
		t.Error("a renewed session is not signed with the first secret")
	}
}

// TestFormToken checks that the token of a form is valid for one session only, and that the signature in a session cookie is not
// accepted as such a token.
func TestFormToken(t *testing.T) {
	t.Parallel()
	_, _, sessions := newWorld(t)
	uid, sig := start(t, sessions, "u1", 3)
	token := sessions.FormToken(uid)
	if other := sessions.FormToken(uid); other[:43] == token[:43] || other[43:] == token[43:] {
		t.Errorf("two tokens of a session have a part in common: %s and %s", token, other)
	}
	for name, c := range map[string]struct {
		uid, token string
		valid      bool
	}{
		"own":                {uid, token, true},
		"of another session": {uid, sessions.FormToken(uid + "x"), false},
		"a signature":        {uid, sig, false},
		"none":               {uid, "", false},
		"without a session":  {"", sessions.FormToken(""), false},
		"not base64url":      {uid, token + "=", false},
		"again":              {uid, sessions.FormToken(uid), true},
		"half":               {uid, token[:43], false},
	} {
		if sessions.IsFormToken(c.uid, c.token) != c.valid {
			t.Errorf("%s: valid is %t, want %t", name, !c.valid, c.valid)
		}
	}
}
