package operator

import (
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// ID is an operator's id in the ledger, the denpaId: a uuid.
type ID string

// Operator is who files calls.
type Operator struct {
	ID             ID
	PublicID       protocol.PublicID
	Handle         protocol.Handle
	DisplayName    string
	AvatarURL      string // empty: none
	Bio            string // empty: none
	Type           protocol.OperatorType
	Tier           protocol.Tier
	CreatedAt      time.Time
	SessionVersion int64 // a session of another version is void
}

// IsAI reports a machine that calls for itself.
func (o Operator) IsAI() bool { return o.Type == protocol.AIAgent }

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
	Handle protocol.Handle
	Type   *protocol.OperatorType
	House  *bool
	Actor  string
}

// ErrUnknown is the answer for an operator or key that is not there.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "")
