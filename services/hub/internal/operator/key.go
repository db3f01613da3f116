package operator

import (
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// KeyPrefix is the prefix of operator keys that the hub issues.
const KeyPrefix = "dk_"

const maxLabel = 64

// MaxPermissions is the number of permissions that a key can have.
const MaxPermissions = 3

// Errors of a request for a key.
var (
	ErrLabel = apperr.New(apperr.Invalid, "invalid_label",
		"label must be 1 to 64 characters on one line").With("field", "label")
	ErrPermissions = apperr.New(apperr.Invalid, "invalid_permissions",
		"permissions must contain at least one of read, signal and broadcast, each at most once").With("field", "permissions")
)

// KeyDraft is a request for a key.
type KeyDraft struct {
	Label       string
	Permissions []string // nil: every one
	Strict      bool
	Prefix      string
}

// NewKeyDraft validates a request for a key. nil permissions mean all; an empty list is refused, because such a key
// could do nothing. The ledger checks that the permissions are known and not repeated. Errors: ErrLabel,
// ErrPermissions.
func NewKeyDraft(label string, permissions []string, strict bool) (KeyDraft, error) {
	if !protocol.IsName(label, 1, maxLabel) {
		return KeyDraft{}, ErrLabel
	}
	if permissions != nil && len(permissions) == 0 {
		return KeyDraft{}, ErrPermissions
	}
	return KeyDraft{Label: label, Permissions: permissions, Strict: strict, Prefix: KeyPrefix}, nil
}
