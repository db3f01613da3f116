package operator

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// ID is an operator's id in the ledger, the denpaId: a uuid.
type ID string

// Operator is who files calls.
type Operator struct {
	ID             ID
	PublicID       syntax.PublicID
	Handle         syntax.Handle
	DisplayName    string
	AvatarURL      string // empty: none
	Bio            string // empty: none
	Type           syntax.OperatorType
	Tier           syntax.Tier
	CreatedAt      time.Time
	SessionVersion int64 // a session of another version is void
}

// IsAI reports a machine that calls for itself.
func (o Operator) IsAI() bool { return o.Type == syntax.AIAgent }

// Actor is for whom the ledger acts: the owner of a key, which the ledger
// checks in the same statement, or an operator whose session was verified.
type Actor struct {
	KeyHash []byte // SHA-256 of the plaintext; nil: ID speaks
	ID      ID
}

// Identity is what the identity provider vouches for.
type Identity struct {
	Issuer   string
	Subject  string
	Primary  bool   // the issuer is the first configured one
	Username string // verified claims, may be empty
	Name     string
	// SignedInAt is when the person proved who they are to the provider.
	SignedInAt time.Time
}

// Class is what an admin may say about an operator; nil members stay.
type Class struct {
	Handle syntax.Handle
	Type   *syntax.OperatorType
	House  *bool
	Actor  string
}

// Directory reads operators. Faults: not_found.
type Directory interface {
	OperatorByID(ctx context.Context, id ID) (Operator, error)
	OperatorByHandle(ctx context.Context, handle syntax.Handle) (Operator, error)
}

// ErrUnknown is the answer for an operator or key that is not there.
var ErrUnknown = fault.New(fault.NotFound, "not_found", "")

// Ledger is the owner of operators and keys.
type Ledger interface {
	// SignIn finds or creates the operator of a verified identity; the
	// boolean tells that it is new.
	SignIn(ctx context.Context, who Identity) (Operator, bool, error)
	// MintKey faults with invalid_permissions for a word that is none or comes
	// twice, and with key_limit_reached beyond ten active keys.
	MintKey(ctx context.Context, owner ID, draft KeyDraft) (plaintext string, key Key, err error)
	// ListKeys gives the owner's keys, newest first.
	ListKeys(ctx context.Context, owner ID) ([]Key, error)
	// RevokeKey revokes a key, deactivates the webhooks that were made with it and returns
	// their ids; repeated it has the same answer. It faults with not_found when the key is
	// unknown or not the owner's.
	RevokeKey(ctx context.Context, owner ID, keyID string) (k Key, webhooks []string, err error)
	// EndSessions ends all sessions of an operator. Fault: not_found.
	EndSessions(ctx context.Context, id ID) error
	// Classify faults with not_found for an unknown handle.
	Classify(ctx context.Context, class Class) (Operator, error)
}
