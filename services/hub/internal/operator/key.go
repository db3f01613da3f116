package operator

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/fault"
)

// KeyPrefix is what the front door's keys begin with.
const KeyPrefix = "dk_"

const maxLabel = 64

// Permissions lists everything that a key may carry, in the order shown.
var Permissions = [...]string{"read", "signal", "broadcast"}

// Faults of a key request.
var (
	ErrLabel       = fault.New(fault.Invalid, "invalid_label", "label must be 1 to 64 characters").With("field", "label")
	ErrPermissions = fault.New(fault.Invalid, "invalid_permissions",
		"permissions must be some of read, signal, broadcast").With("field", "permissions")
)

// Key is an operator key without its plaintext, which nobody keeps.
type Key struct {
	ID          string
	Label       string
	Tier        string
	Permissions []string
	Active      bool
	LastUsedAt  time.Time // zero: never
	CreatedAt   time.Time
}

// KeyDraft asks for a key.
type KeyDraft struct {
	Label       string
	Permissions []string // in the order of Permissions
	Prefix      string
}

// NewKeyDraft checks a request for a key. A nil list means every permission;
// an empty one is refused, because such a key could do nothing.
// Faults: ErrLabel, ErrPermissions.
func NewKeyDraft(label string, permissions []string) (KeyDraft, error) {
	if n := utf8.RuneCountInString(label); n < 1 || n > maxLabel {
		return KeyDraft{}, ErrLabel
	}
	if permissions == nil {
		permissions = Permissions[:]
	}
	for _, p := range permissions {
		if !slices.Contains(Permissions[:], p) {
			return KeyDraft{}, ErrPermissions
		}
	}
	draft := KeyDraft{Label: label, Prefix: KeyPrefix}
	for _, p := range Permissions {
		if slices.Contains(permissions, p) {
			draft.Permissions = append(draft.Permissions, p)
		}
	}
	if len(draft.Permissions) == 0 || len(draft.Permissions) != len(permissions) {
		return KeyDraft{}, ErrPermissions
	}
	return draft, nil
}
