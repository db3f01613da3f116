package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Expected failures.
var (
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "a valid operator key is required")
	ErrNotFound        = apperr.New(apperr.NotFound, "not_found", "no such operator")
	ErrKeyNotFound     = apperr.New(apperr.NotFound, "not_found", "no such key")
	ErrKeyLimit        = apperr.New(apperr.Conflict, "key_limit_reached", "an operator holds at most ten active keys").With("limit", MaxKeys)
	ErrLabel           = apperr.New(apperr.Invalid, "invalid_label", "label must be 1 to 64 characters on one line").With("field", "label")
	ErrPermissions     = apperr.New(apperr.Invalid, "invalid_permissions", "permissions are read, signal and broadcast").With("field", "permissions")
	ErrType            = apperr.New(apperr.Invalid, "invalid_operator_type", "operatorType must be human, ai_agent or system_bot").With("field", "operatorType")
)

// MaxKeys is the most active keys of one operator.
const MaxKeys = 10

// Operator is one user of the service.
type Operator struct {
	ID             string // uuid v7, the denpaId
	Issuer         string
	ProviderID     string // raw subject at the provider
	PublicID       string // op_<hmac16>
	Handle         string
	DisplayName    string
	AvatarURL      *string
	Type           protocol.OperatorType
	Tier           protocol.Tier
	SessionVersion int64
	CreatedAt      time.Time
	Bio            *string
	Links          []string
	PayoutAddress  *string
}

// Identity is what a verified token says of its subject.
type Identity struct {
	Issuer   string
	Subject  string
	Primary  bool // issued by the primary provider
	Username string
	Name     string
}

// Key is an operator key without its secret.
type Key struct {
	ID          string
	Label       string
	Tier        string
	Permissions []string
	Active      bool
	LastUsedAt  *time.Time
	CreatedAt   time.Time
	Prefix      string
	Last4       string
	Strict      bool // held to its permissions on every route
}

// Prefixes of the one key family.
const (
	PrefixKey   = protocol.KeyPrefix
	PrefixAgent = protocol.AgentKeyPrefix
)

// newKey returns a new plaintext key: the prefix and 32 random bytes in base64url.
func newKey(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash returns the SHA-256 of a plaintext key, the only form in which keys are stored.
func Hash(plaintext string) []byte {
	h := sha256.Sum256([]byte(plaintext))
	return h[:]
}

// Change is a text that may be left out, set, or cleared.
type Change struct {
	Given bool
	Text  *string // nil: cleared
}

// Profile is the profile that an operator sets with a signed message. The hub has checked its form. Nil members are not changed.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// Automated declares a human operator an ai_agent. Only an administrator undoes it.
	Automated bool
}
