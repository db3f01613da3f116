package caller

import (
	"crypto/sha256"

	"github.com/signalcast/signalcast/pkg/protocol"
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
	token, ok := protocol.Bearer(values)
	switch {
	case !ok:
	case protocol.IsKey(token):
		return bearer{kind: Key, hash: sha256.Sum256([]byte(token))}, nil
	case protocol.IsAppToken(token):
		return bearer{kind: Token, raw: token}, nil
	case protocol.IsJWT(token) && !protocol.HasCredentialPrefix(token):
		return bearer{kind: Login, raw: token}, nil
	}
	return bearer{}, ErrUnauthenticated
}
