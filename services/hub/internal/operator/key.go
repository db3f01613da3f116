package operator

import (
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// KeyPrefix is the prefix of the operator keys that the hub issues.
const KeyPrefix = "dk_"

const maxLabel = 64

// MaxPermissions is the maximum number of permissions of an operator key.
const MaxPermissions = 3

// Errors of a request to create an operator key.
var (
	ErrLabel = apperr.New(apperr.Invalid, "invalid_label",
		"label must be 1 to 64 visible characters on one line, without format characters").With("field", "label")
	ErrPermissions = apperr.New(apperr.Invalid, "invalid_permissions",
		"permissions must contain at least one of read, signal and broadcast, each at most once").With("field", "permissions")
)

// KeyDraft is a valid request to create an operator key.
type KeyDraft struct {
	Label       string
	Permissions []string // nil: all permissions
	Strict      bool
	Prefix      string
}

// NewKeyDraft validates a request to create an operator key. Nil permissions mean all permissions. An empty list is refused,
// because such a key could do nothing. The ledger checks that the permissions are known and not repeated. Errors: ErrLabel,
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
