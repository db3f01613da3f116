package protocol

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// OperatorType is the kind of an operator: a person, an agent or a bot of the service.
type OperatorType string

// The operator types.
const (
	Human     OperatorType = "human"
	AIAgent   OperatorType = "ai_agent"
	SystemBot OperatorType = "system_bot"
)

// ParseOperatorType reads an operator type exactly.
func ParseOperatorType(s string) (OperatorType, bool) { return oneOf(s, Human, AIAgent, SystemBot) }

// Crowd reports whether calls of this type count as crowd.
func (t OperatorType) Crowd() bool { return t == Human || t == AIAgent }

// Tier groups operators for counting and ranking.
type Tier string

// The tiers.
const (
	Independent Tier = "independent"
	House       Tier = "house"
	Automated   Tier = "automated"
)

// ParseTier reads a tier exactly.
func ParseTier(s string) (Tier, bool) { return oneOf(s, Independent, House, Automated) }

// Ranked reports whether the tier takes part in rankings.
func (t Tier) Ranked() bool { return t == Independent || t == House }

const publicPrefix = "op_"

// PublicID is the masked id of an operator, `op_` and 16 hex digits.
type PublicID string

// NewPublicID returns the public id for an id of the identity provider. It is the same as long as the secret is the same.
func NewPublicID(secret, providerID string) PublicID {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(providerID))
	return PublicID(publicPrefix + hex.EncodeToString(mac.Sum(nil)[:8]))
}

// String implements fmt.Stringer.
func (p PublicID) String() string { return string(p) }

// ErrHandle refuses a handle that is not 2 to 32 characters of a-z, 0-9 and underscore.
var ErrHandle = apperr.New(apperr.Invalid, "invalid_handle", "handle must be 2 to 32 of a-z, 0-9 and _").With("field", "handle")

// Handle is an operator's public name, always lower case.
type Handle string

// ParseHandle converts ASCII letters to lower case and checks the form. Letters of other scripts are refused and never
// converted, so that a look-alike letter does not select the handle of another operator. Fault: ErrHandle (a read answers
// not_found instead).
func ParseHandle(s string) (Handle, error) {
	if len(s) < 2 || len(s) > 32 {
		return "", ErrHandle
	}
	b := make([]byte, len(s))
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if !isAlnum(c) && c != '_' {
			return "", ErrHandle
		}
		b[i] = c
	}
	return Handle(b), nil
}

// String implements fmt.Stringer.
func (h Handle) String() string { return string(h) }
