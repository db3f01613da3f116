package caller

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
)

// Kind is a kind of credential.
type Kind uint8

// The kinds.
const (
	Anonymous Kind = iota
	Key            // operator key, dk_ or db_live_
	Session        // first-party cookie pair
	Login          // identity-provider JWT
	Token          // app token, dat_; taken under the protocol routes alone
	Client         // an app that speaks for itself; its handler reads what it brings
	Consent        // a session before the page that asks for a grant
	Admin          // x-admin-secret
	Cron           // x-cron-secret, or ?secret=
)

// Take is the set of credentials that a route takes.
type Take uint8

// The members of a Take.
const (
	TakeNone    Take = 1 << iota // may be asked by anybody
	TakeKey                      // operator key
	TakeSession                  // first-party session
	TakeLogin                    // identity-provider JWT
	TakeAdmin                    // admin secret
	TakeCron                     // cron secret
	TakeToken                    // app token
	TakeClient                   // an app that speaks for itself
)

// Has reports whether all of the members are taken.
func (t Take) Has(members Take) bool { return t&members == members }

// KeyHash is the SHA-256 of a key's plaintext: all that leaves this package.
type KeyHash [sha256.Size]byte

const (
	keyPrefix       = "dk_"
	legacyKeyPrefix = "db_live_"
	appPrefix       = "dat_"
	keyBody         = 43 // base64url of 32 bytes
	maxLogin        = 8 << 10
)

// bearer is a parsed Authorization header.
type bearer struct {
	kind Kind
	hash KeyHash // of a key
	raw  string  // of a login or an app token
}

// parseBearer reads the Authorization values of a request. None at all is
// Anonymous; anything that is not exactly one well-formed bearer credential
// is unauthenticated, and never anonymous.
func parseBearer(values []string) (bearer, error) {
	if len(values) == 0 {
		return bearer{}, nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") {
		return bearer{}, ErrUnauthenticated
	}
	for _, prefix := range [...]string{keyPrefix, legacyKeyPrefix} {
		body, found := strings.CutPrefix(token, prefix)
		if !found {
			continue
		}
		if len(body) != keyBody || !isBase64URL(body) {
			return bearer{}, ErrUnauthenticated
		}
		return bearer{kind: Key, hash: sha256.Sum256([]byte(token))}, nil
	}
	if body, found := strings.CutPrefix(token, appPrefix); found {
		if len(body) != keyBody || !isBase64URL(body) {
			return bearer{}, ErrUnauthenticated
		}
		return bearer{kind: Token, raw: token}, nil
	}
	if isCompactJWT(token) {
		return bearer{kind: Login, raw: token}, nil
	}
	return bearer{}, ErrUnauthenticated
}

func isCompactJWT(s string) bool {
	if len(s) > maxLogin {
		return false
	}
	parts := strings.Split(s, ".")
	return len(parts) == 3 && isBase64URL(parts[0]) && isBase64URL(parts[1]) && isBase64URL(parts[2])
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// Secret is a shared secret that can only be compared. The zero Secret is
// unset and matches nothing, not even the empty text.
type Secret struct {
	sum [sha256.Size]byte
	set bool
}

// NewSecret keeps the hash of the text; the empty text is unset.
func NewSecret(text string) Secret {
	return Secret{sum: sha256.Sum256([]byte(text)), set: text != ""}
}

// Match compares in constant time, whatever the lengths are.
func (s *Secret) Match(text string) bool {
	sum := sha256.Sum256([]byte(text))
	same := subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1
	return same && s.set
}
