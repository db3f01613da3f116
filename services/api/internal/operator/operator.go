package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors about operators and operator keys. Clients receive the codes and texts.
var (
	ErrUnauthenticated = apperr.ErrCredentialUnknown.WithText("the operator key is unknown; check that it is complete")
	ErrRevoked         = apperr.ErrCredentialRevoked.WithText("the operator key was revoked; create another one")
	ErrNotFound        = apperr.New(apperr.NotFound, "not_found", "no such operator")
	ErrKeyNotFound     = apperr.New(apperr.NotFound, "not_found", "no such key")
	ErrKeyLimit        = apperr.New(apperr.Conflict, "key_limit_reached", "limit of 10 active keys reached; revoke one first").With("limit", MaxKeys)
	ErrLabel           = apperr.New(apperr.Invalid, "invalid_label",
		"label must be 1 to 64 visible characters on one line, without format characters").With("field", "label")
	ErrPermissions = apperr.New(apperr.Invalid, "invalid_permissions",
		"permissions must contain at least one of read, signal and broadcast, each at most once").With("field", "permissions")
	ErrType = apperr.New(apperr.Invalid, "invalid_operator_type",
		"operatorType must be human, ai_agent or system_bot").With("field", "operatorType")
	ErrSeededType = apperr.New(apperr.Invalid, "invalid_operator_type",
		"operatorType of a seeded profile must be system_bot; send seeded false to change it").With("field", "operatorType")
	ErrKeyTier = apperr.New(apperr.Invalid, "invalid_key_tier",
		"keyTier must be free, builder, pro or enterprise").With("field", "keyTier")
	ErrHandleTaken = apperr.New(apperr.Conflict, "handle_taken", "the handle is reserved or belongs to an operator; choose another one")
	// ErrHandleChanged gets the member possibleAt, the time from which the next change is possible.
	ErrHandleChanged = apperr.New(apperr.Conflict, "handle_changed", "a handle can be changed once in 365 days")
	ErrHandleChosen  = apperr.New(apperr.Conflict, "handle_chosen",
		"the first handle can be chosen once, within 24 hours of the first sign-in; change the handle instead")
)

// MaxKeys is the maximum number of active keys of one operator.
const MaxKeys = 10

// Operator is an account that can file calls.
type Operator struct {
	ID             string // UUIDv7; the API shows it as denpaId
	Issuer         string
	ProviderID     string // subject of the token of the identity provider
	PublicID       string // "op_" and an HMAC of the subject
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
	ClosingAt      *time.Time // the owner requested the deletion; nil: the account is open
	ChosenAt       *time.Time // the owner chose the first handle, or kept the derived one; nil: neither
	ChangedAt      *time.Time // last change of the handle; nil: none
	Seeded         bool       // the profile was filled by an administrator
	KeyTier        string     // tier of the keys of the operator
	Former         []string   // of a new operator: ids of the accounts of the same person that were deleted within FormerPeriod
}

// FormerPeriod is the time after the deletion of an account during which a new account of the same person cannot call the markets
// that the deleted account called.
const FormerPeriod = 400 * 24 * time.Hour

// FormerHandlePeriod is the time after a change during which a former handle leads to its operator and is given to no other one.
const FormerHandlePeriod = 400 * 24 * time.Hour

// NoticeLife is the age at which notices are deleted.
const NoticeLife = 90 * 24 * time.Hour

// Notice is a private fact about an operator, of which the operator is notified.
type Notice struct {
	ID         int64 // ascends in the order of the commits
	OperatorID string
	Kind       string // skill_confirmed or webhook_deactivated
	Key        string // identifies the fact among those of its operator and kind
	Text       string // for the operator; may be empty
	At         time.Time
}

// Erased is a deleted account. Its public id is the keyed hash by which a later sign-in of the same person finds it.
type Erased struct {
	ID string
	At time.Time
}

// KeyTiers contains the tiers of operator keys, the default first. The tier of a key changes no limit and no permission.
var KeyTiers = []string{"free", "builder", "pro", "enterprise"}

// seededIssuer is the issuer in the identity of a profile that an administrator created. No identity provider has this issuer, so
// the profile cannot sign in.
const seededIssuer = "signalcast:seeded"

// Class is a change of an operator by an administrator. A nil field leaves its property unchanged.
type Class struct {
	Handle  string
	Type    *protocol.OperatorType
	House   *bool   // the operator belongs to the service
	Seeded  *bool   // if true, Type must be nil or system_bot
	KeyTier *string // tier of the active keys and of later ones
	Actor   string  // the administrator, for the audit log
	Create  bool    // create the operator as a seeded profile if the handle is free
	// DisplayName is the name of a created profile. If it is empty or not a valid name, the profile is named by its handle.
	DisplayName string
}

// Identity contains the claims of a verified token of an identity provider.
type Identity struct {
	Issuer   string
	Subject  string
	Primary  bool // the issuer is the primary identity provider
	Username string
	Name     string
}

// Key is the stored data of an operator key, which does not include the plaintext.
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
	Strict      bool // every route checks the permissions of the key; if false, some routes do not
}

// Prefixes of operator keys. Keys of both kinds have the same rights.
const (
	PrefixKey   = protocol.KeyPrefix
	PrefixAgent = protocol.AgentKeyPrefix
)

// newKey returns a new operator key in plaintext: the prefix and 32 random bytes in base64url.
func newKey(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash returns the SHA-256 of a plaintext key. The plaintext itself is not stored.
func Hash(plaintext string) []byte {
	h := sha256.Sum256([]byte(plaintext))
	return h[:]
}

// Change is a change of an optional text of a profile. The zero value leaves the text unchanged.
type Change struct {
	Given bool    // the text changes
	Text  *string // the new text; nil clears it
}

// Profile is the change of an operator's profile in a signed message. The hub has checked the texts. A nil member leaves its
// part of the profile unchanged.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// Automated sets the type of a human operator to ai_agent. Only an administrator can undo it.
	Automated bool
}
