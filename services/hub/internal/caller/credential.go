package caller

import (
	"crypto/sha256"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
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
	Reader         // a valid bearer credential on a public read; it identifies no operator
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

// acceptedTexts has the names of credentials for error texts, in the order of the texts.
var acceptedTexts = [...]struct {
	accept Accepted
	text   string
}{
	{AcceptKey, "an operator key (Authorization: Bearer dk_...)"},
	{AcceptToken, "an app token (Authorization: Bearer dat_...)"},
	{AcceptLogin, "an access token of the identity provider (Authorization: Bearer <JWT>)"},
	{AcceptSession, "a session of the hub (sign in)"},
	{AcceptAdmin, "the admin secret (header x-admin-secret)"},
	{AcceptCron, "the cron secret (header x-cron-secret)"},
}

// text returns the credentials of the set for an error text, joined by "or". It is empty if the set requires none of them.
func (t Accepted) text() string {
	var out []string
	for _, a := range acceptedTexts {
		if t.Has(a.accept) {
			out = append(out, a.text)
		}
	}
	return strings.Join(out, " or ")
}

// missing returns the error of a request without a credential, with the credentials that the route accepts.
func (t Accepted) missing() error {
	return apperr.ErrCredentialMissing.WithText("this route requires a credential: %s", t.text())
}

// wrongKind returns the error of a bearer credential that the route does not accept, with the credentials that it accepts.
func (t Accepted) wrongKind(kind Kind) error {
	given := map[Kind]string{Key: "an operator key", Token: "an app token", Login: "a token of the identity provider"}[kind]
	if text := t.text(); text != "" {
		return apperr.ErrCredentialWrongKind.WithText("this route does not accept %s; send %s", given, text)
	}
	return apperr.ErrCredentialWrongKind.WithText("this route accepts no credential; omit the header Authorization")
}

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
// well-formed bearer credential, it returns unauthenticated, so an invalid credential never counts as anonymous.
func parseBearer(values []string) (bearer, error) {
	if len(values) == 0 {
		return bearer{}, nil
	}
	token, ok := protocol.Bearer(values)
	if !ok {
		return bearer{}, apperr.ErrCredentialMalformed
	}
	switch protocol.KindOf(token) {
	case protocol.OperatorKey:
		return bearer{kind: Key, hash: sha256.Sum256([]byte(token))}, nil
	case protocol.AppToken:
		return bearer{kind: Token, raw: token}, nil
	case protocol.RefreshToken:
		return bearer{}, errRefreshToken
	case protocol.LoginToken:
		return bearer{kind: Login, raw: token}, nil
	}
	return bearer{}, ErrUnauthenticated
}

var errRefreshToken = apperr.ErrCredentialWrongKind.WithText(
	"a refresh token authenticates no request; exchange it at the token endpoint")
