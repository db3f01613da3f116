package syntax

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/signalcast/signalcast/pkg/fault"
)

// OperatorType tells who or what files the calls.
type OperatorType string

// The operator types.
const (
	Human     OperatorType = "human"
	AIAgent   OperatorType = "ai_agent"
	SystemBot OperatorType = "system_bot"
)

// ParseOperatorType reads an operator type exactly.
func ParseOperatorType(s string) (OperatorType, bool) {
	switch OperatorType(s) {
	case Human, AIAgent, SystemBot:
		return OperatorType(s), true
	}
	return "", false
}

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
func ParseTier(s string) (Tier, bool) {
	switch Tier(s) {
	case Independent, House, Automated:
		return Tier(s), true
	}
	return "", false
}

// TierOf gives the tier: automated for machines and seeded profiles, house for
// the service's own logins, independent for everybody else.
func TierOf(t OperatorType, seeded, house bool) Tier {
	switch {
	case t != Human || seeded:
		return Automated
	case house:
		return House
	}
	return Independent
}

// Ranked reports whether the tier takes part in rankings.
func (t Tier) Ranked() bool { return t == Independent || t == House }

const publicPrefix = "op_"

// PublicID is the masked id of an operator, `op_` and 16 hex digits.
type PublicID string

// NewPublicID masks a provider id. It is stable for the life of the secret.
func NewPublicID(secret, providerID string) PublicID {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(providerID))
	return PublicID(publicPrefix + hex.EncodeToString(mac.Sum(nil)[:8]))
}

// ParsePublicID checks the form.
func ParsePublicID(s string) (PublicID, bool) {
	digits, ok := strings.CutPrefix(s, publicPrefix)
	if !ok || len(digits) != 16 {
		return "", false
	}
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return PublicID(s), true
}

// String implements fmt.Stringer.
func (p PublicID) String() string { return string(p) }

// ErrHandle refuses a handle that is not 2 to 32 characters of a-z, 0-9 and underscore.
var ErrHandle = fault.New(fault.Invalid, "invalid_handle", "handle must be 2 to 32 of a-z, 0-9 and _").With("field", "handle")

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
