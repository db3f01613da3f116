package operator

import (
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// KeyPrefix is what the front door's keys begin with.
const KeyPrefix = "dk_"

const maxLabel = 64

// MaxPermissions is the length of the longest list that can be right.
const MaxPermissions = 3

// Faults of a key request.
var (
	ErrLabel       = apperr.New(apperr.Invalid, "invalid_label", "label must be 1 to 64 characters on one line").With("field", "label")
	ErrPermissions = apperr.New(apperr.Invalid, "invalid_permissions",
		"permissions are read, signal and broadcast, each at most once and at least one").With("field", "permissions")
)

// KeyDraft asks for a key.
type KeyDraft struct {
	Label       string
	Permissions []string // nil: every one
	Strict      bool
	Prefix      string
}

// NewKeyDraft checks a request for a key. A nil list means every permission;
// an empty one is refused, because such a key could do nothing. Which words there
// are, and that each comes once, is the ledger's rule, the same for every route that
// mints. Errors: ErrLabel, ErrPermissions.
func NewKeyDraft(label string, permissions []string, strict bool) (KeyDraft, error) {
	if !protocol.IsName(label, 1, maxLabel) {
		return KeyDraft{}, ErrLabel
	}
	if permissions != nil && len(permissions) == 0 {
		return KeyDraft{}, ErrPermissions
	}
	return KeyDraft{Label: label, Permissions: permissions, Strict: strict, Prefix: KeyPrefix}, nil
}
