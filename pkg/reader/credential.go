package reader

import (
	"crypto/sha256"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Kind is the kind of a credential.
type Kind uint8

// Kinds of credentials that public reads accept.
const (
	Key   Kind = iota + 1 // operator key
	Token                 // access token of an app
	Login                 // access token of an identity provider
)

// Credential is a bearer credential of a valid form. Only a Verify function decides whether it is valid.
type Credential struct {
	Kind Kind
	Hash [sha256.Size]byte // SHA-256 of the credential
	Raw  string            // text of a Login; empty for the other kinds, of which only the hash is used
}

var errWrongKind = apperr.ErrCredentialWrongKind.WithText("this route accepts an operator key, an app token or " +
	"an access token of the identity provider; omit the header Authorization or send one of them")

// Parse returns the credential in lines, the Authorization headers of a request. Error: unauthenticated unless there is exactly
// one header, with a credential of a valid form.
func Parse(lines []string) (Credential, error) {
	token, ok := protocol.Bearer(lines)
	if !ok {
		return Credential{}, apperr.ErrCredentialMalformed
	}
	c := Credential{Hash: sha256.Sum256([]byte(token))}
	switch protocol.KindOf(token) {
	case protocol.OperatorKey:
		c.Kind = Key
	case protocol.AppToken:
		c.Kind = Token
	case protocol.RefreshToken:
		return Credential{}, errWrongKind
	case protocol.LoginToken:
		c.Kind, c.Raw = Login, token
	default:
		return Credential{}, apperr.ErrCredentialUnknown
	}
	return c, nil
}
