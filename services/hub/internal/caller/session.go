package caller

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// SessionLife is the lifetime of the session cookies. Use of the session renews it. SessionIdle is the time without use after
// which a session ends. maxSessionAge is the maximum age of a session: browsers limit the lifetime of cookies to it.
const (
	SessionLife   = 30 * 24 * time.Hour
	SessionIdle   = 14 * 24 * time.Hour
	maxSessionAge = 400 * 24 * time.Hour
)

// clockSkew is the maximum time by which the clock of another hub may be ahead.
const clockSkew = time.Minute

// Signed is the content of session cookies with a valid signature. The stored session, its last use and the session version must
// still be checked.
type Signed struct {
	Operator operator.ID
	IssuedAt time.Time
	Version  int64
}

// Sessions creates and verifies browser sessions. The first secret signs sessions, and every secret verifies them, so that a
// secret can be replaced without ending sessions.
type Sessions struct {
	secrets [][]byte
	store   Store
	bound   bool
	active  *generations[sessionKey, cachedSession]
	now     func() time.Time
}

// NewSessions builds Sessions; it requires at least one secret. If bound is true, a session is valid only together with a third
// cookie, which requires https.
func NewSessions(secrets []string, store Store, bound bool, now func() time.Time) *Sessions {
	s := &Sessions{store: store, bound: bound, active: newGenerations[sessionKey, cachedSession](maxKnown), now: now}
	for _, secret := range secrets {
		s.secrets = append(s.secrets, []byte(secret))
	}
	return s
}

// issue returns the two values of the session cookies. uid is base64url(operator id), the issue time in Unix seconds and the
// session version, joined by dots. sig is the signature of uid.
func (s *Sessions) issue(id operator.ID, version int64, at time.Time) (uid, sig string) {
	uid = base64.RawURLEncoding.EncodeToString([]byte(id)) +
		"." + strconv.FormatInt(at.Unix(), 10) +
		"." + strconv.FormatInt(version, 10)
	return uid, s.signature(uid)
}

// signature signs a text with the newest secret. Each session has two cookies: its id, and the signature of the id.
func (s *Sessions) signature(text string) string {
	return base64.RawURLEncoding.EncodeToString(sign(s.secrets[0], text))
}

// Read verifies the signature of session cookies and then their age. Errors: unauthenticated with the reason expired for an
// expired session, and with the reason unknown if the signature or the format is invalid, or if the issue time is more than
// clockSkew in the future.
func (s *Sessions) Read(uid, sig string) (Signed, error) {
	mac, err := base64.RawURLEncoding.Strict().DecodeString(sig)
	if err != nil || !s.signed(uid, mac) {
		return Signed{}, errUnknownSession
	}
	parts := strings.Split(uid, ".")
	if len(parts) != 3 {
		return Signed{}, errUnknownSession
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(parts[0])
	if err != nil || len(id) == 0 {
		return Signed{}, errUnknownSession
	}
	issued, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return Signed{}, errUnknownSession
	}
	version, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return Signed{}, errUnknownSession
	}
	at := time.Unix(issued, 0)
	switch age := s.now().Sub(at); {
	case age > maxSessionAge:
		return Signed{}, errExpiredSession
	case age < -clockSkew:
		return Signed{}, errUnknownSession
	}
	return Signed{Operator: operator.ID(id), IssuedAt: at, Version: version}, nil
}

// signed reports whether mac is the signature of text with one of the secrets. It compares with every secret, also after a
// match, so that the duration does not reveal which one matched.
func (s *Sessions) signed(text string, mac []byte) bool {
	ok := false
	for _, secret := range s.secrets {
		if hmac.Equal(sign(secret, text), mac) {
			ok = true
		}
	}
	return ok
}

// FormToken returns a token that the forms of a session carry. A page of another site cannot read it. uid is the session cookie
// that names the stored session.
//
// Each token is a new random mask followed by the masked signature. The length of a compressed page with text of an attacker
// therefore reveals nothing about the signature (BREACH).
func (s *Sessions) FormToken(uid string) string {
	token := make([]byte, 2*sha256.Size)
	_, _ = rand.Read(token[:sha256.Size]) // does not fail
	subtle.XORBytes(token[sha256.Size:], token, sign(s.secrets[0], formToken+uid))
	return base64.RawURLEncoding.EncodeToString(token)
}

// IsFormToken reports whether token is the form token of the session that uid names.
func (s *Sessions) IsFormToken(uid, token string) bool {
	masked, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(masked) != 2*sha256.Size || uid == "" {
		return false
	}
	mac := make([]byte, sha256.Size)
	subtle.XORBytes(mac, masked, masked[sha256.Size:])
	return s.signed(formToken+uid, mac)
}

// formToken separates form tokens from the signatures of sessions, because a session cookie has no space.
const formToken = "form "

func sign(secret []byte, text string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
