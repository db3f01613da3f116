package caller

import (
	"crypto/sha256"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Kind is the kind of credential with which a request was authenticated.
type Kind uint8

// Kinds of credentials of a request.
const (
	Anonymous Kind = iota
	Key            // operator key, dk_ or db_live_
	Session        // first-party cookie pair
	Login          // JWT of an identity provider
	Token          // app token, dat_; accepted on the protocol routes only
	Client         // an app with its client credentials, which the handler reads
	Consent        // session of a browser on the consent page of an authorization
	Admin          // x-admin-secret
	Cron           // x-cron-secret, or ?secret=
)

// Accepted is the set of credentials that a route accepts.
type Accepted uint8

// Credentials that a route can accept, as members of an Accepted set.
const (
	AcceptNone    Accepted = 1 << iota // no credential is required
	AcceptKey                          // operator key
	AcceptSession                      // first-party session
	AcceptLogin                        // JWT of an identity provider
	AcceptAdmin                        // admin secret
	AcceptCron                         // cron secret
	AcceptToken                        // app token
	AcceptClient                       // client credentials of an app
)

// Has reports whether the set contains all of members.
func (t Accepted) Has(members Accepted) bool { return t&members == members }

// KeyHash is the SHA-256 hash of an operator key.
type KeyHash [sha256.Size]byte

// bearer is the parsed credential of an Authorization header.
type bearer struct {
	kind Kind
	hash KeyHash // hash of an operator key
	raw  string  // text of a login or an app token
}

// parseBearer parses the Authorization headers of a request. Without a header, the kind is Anonymous. If there is not exactly one
// well-formed bearer credential, it returns ErrUnauthenticated, so an invalid credential never counts as anonymous.
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
