package protocol

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// OperatorType is the kind of an operator: a person, an agent, or a bot of the service.
type OperatorType string

// Types of operators.
const (
	Human     OperatorType = "human"
	AIAgent   OperatorType = "ai_agent"
	SystemBot OperatorType = "system_bot"
)

// ParseOperatorType returns the operator type s, or false for any other text.
func ParseOperatorType(s string) (OperatorType, bool) { return oneOf(s, Human, AIAgent, SystemBot) }

// Crowd reports whether calls of operators of this type count for the crowd price.
func (t OperatorType) Crowd() bool { return t == Human || t == AIAgent }

// Tier is the group of an operator, which determines whether rankings include the operator.
type Tier string

// Tiers of operators.
const (
	Independent Tier = "independent"
	House       Tier = "house"
	Automated   Tier = "automated"
)

// ParseTier returns the tier s, or false for any other text.
func ParseTier(s string) (Tier, bool) { return oneOf(s, Independent, House, Automated) }

// Ranked reports whether operators of the tier appear in rankings.
func (t Tier) Ranked() bool { return t == Independent || t == House }

const publicPrefix = "op_"

// PublicID is the masked id of an operator: op_ and 16 hexadecimal digits.
type PublicID string

// NewPublicID returns the public id of the user whose id at the identity provider is providerID. The result depends
// only on secret and providerID.
func NewPublicID(secret, providerID string) PublicID {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(providerID))
	return PublicID(publicPrefix + hex.EncodeToString(mac.Sum(nil)[:8]))
}

// String implements fmt.Stringer.
func (p PublicID) String() string { return string(p) }

// ErrHandle is the error of a handle that is not 2 to 32 characters of a-z, 0-9 and underscore.
var ErrHandle = apperr.New(apperr.Invalid, "invalid_handle",
	"handle must be 2 to 32 characters of a-z, 0-9 and _").With("field", "handle")

// Handle is the public name of an operator in lower case.
type Handle string

// ParseHandle returns s as a handle, with ASCII letters converted to lower case. Letters of other scripts are
// invalid, so that a similar letter does not select the handle of another operator. It returns ErrHandle for an
// invalid handle.
func ParseHandle(s string) (Handle, error) {
	if Handle(s).IsDeleted() {
		return Handle(s), nil
	}
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

// IsDeleted reports whether h is the handle of a deleted account: deleted- and the first 12 characters of its public id.
func (h Handle) IsDeleted() bool {
	id, ok := strings.CutPrefix(string(h), "deleted-op_")
	return ok && len(id) == 9 && strings.Trim(id, "0123456789abcdef") == ""
}

// String implements fmt.Stringer.
func (h Handle) String() string { return string(h) }
