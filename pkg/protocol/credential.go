package protocol

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
)

// Prefixes of credentials that the service issues. Each is followed by 32 bytes in base64url.
const (
	KeyPrefix      = "dk_"      // operator key
	AgentKeyPrefix = "db_live_" // operator key of the older route for agents
	AppPrefix      = "dat_"     // access token of an app
	RefreshPrefix  = "drt_"     // refresh token of an app
)

const (
	secretBody = 43 // length of 32 bytes in base64url
	maxJWT     = 8 << 10
)

// Bearer returns the token in lines, the Authorization headers of a request. It returns false unless there is exactly one header,
// with the scheme Bearer and a token.
func Bearer(lines []string) (token string, ok bool) {
	if len(lines) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(lines[0], " ")
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// HasCredentialPrefix reports whether a text begins with the prefix of a credential that the service issues.
func HasCredentialPrefix(s string) bool {
	for _, prefix := range [...]string{KeyPrefix, AgentKeyPrefix, AppPrefix, RefreshPrefix} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// IsKey reports whether a text has the form of an operator key: one of the two prefixes and 43 characters of base64url.
func IsKey(s string) bool { return isSecret(s, KeyPrefix) || isSecret(s, AgentKeyPrefix) }

// CredentialKind is the kind of a bearer credential.
type CredentialKind uint8

// Kinds of bearer credentials.
const (
	NoCredential CredentialKind = iota // the text has not the form of a credential
	OperatorKey
	AppToken     // access token of an app
	RefreshToken // refresh token of an app; it authenticates no request
	LoginToken   // access token of an identity provider
)

// KindOf returns the kind of a bearer credential by its form. Only its issuer decides whether a credential is valid. An access
// token of an app is the prefix dat_ and 43 characters of base64url.
func KindOf(token string) CredentialKind {
	switch {
	case IsKey(token):
		return OperatorKey
	case isSecret(token, AppPrefix):
		return AppToken
	case strings.HasPrefix(token, RefreshPrefix):
		return RefreshToken
	case IsJWT(token) && !HasCredentialPrefix(token):
		return LoginToken
	}
	return NoCredential
}

// IsJWT reports whether a text has the form of a signed token (RFC 7515, 7.1) and at most 8 KiB.
func IsJWT(s string) bool {
	parts := strings.Split(s, ".")
	return len(s) <= maxJWT && len(parts) == 3 && isBase64URL(parts[0]) && isBase64URL(parts[1]) && isBase64URL(parts[2])
}

func isSecret(s, prefix string) bool {
	body, ok := strings.CutPrefix(s, prefix)
	return ok && len(body) == secretBody && isBase64URL(body)
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// Secret is a shared secret that can only be compared. The zero Secret is not set and matches no text, including the
// empty text.
type Secret struct {
	sum [sha256.Size]byte
	set bool
}

// NewSecret returns the secret with the given text. For the empty text the secret is not set.
func NewSecret(text string) Secret {
	return Secret{sum: sha256.Sum256([]byte(text)), set: text != ""}
}

// IsSet reports whether the secret was created from a text that is not empty.
func (s *Secret) IsSet() bool { return s.set }

// Match reports whether text is the secret. Its duration depends only on the length of text and not on the secret.
func (s *Secret) Match(text string) bool {
	sum := sha256.Sum256([]byte(text))
	same := subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1
	return same && s.set
}
