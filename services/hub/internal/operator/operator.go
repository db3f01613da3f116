package operator

import (
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// ID is the id of an operator in the ledger: a UUID. The protocol calls it denpaId.
type ID string

// Operator is an account that files calls.
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
	SessionVersion int64     // sessions of another version are invalid
	ClosingAt      time.Time // the operator requested the deletion of the account; zero: the account is open
	// HandleChosenAt is the time at which the operator chose the first handle or kept the derived one, and HandleChangedAt that
	// of the last change after it. Zero: never.
	HandleChosenAt, HandleChangedAt time.Time
}

// ErrClosing is the error of a write with a closed account.
var ErrClosing = apperr.New(apperr.Forbidden, "account_closing",
	"The account is closed, because its deletion was requested. Cancel the deletion in the settings to write again.")

// ChoosesHandle reports whether the operator can choose the first handle at a time.
func (o Operator) ChoosesHandle(now time.Time) bool {
	return o.HandleChosenAt.IsZero() && now.Sub(o.CreatedAt) <= protocol.HandleChoice
}

// IsAI reports whether the operator is an AI agent.
func (o Operator) IsAI() bool { return o.Type == protocol.AIAgent }

// Actor identifies the operator of a write. It contains the hash of an operator key, which the ledger verifies together with the
// write, or the id of an authenticated operator.
type Actor struct {
	KeyHash []byte // SHA-256 hash of the operator key; nil: ID is used
	ID      ID
}

// Identity holds verified data about a user from an identity provider.
type Identity struct {
	Issuer   string
	Subject  string
	Primary  bool   // the issuer is the first configured provider
	Username string // may be empty
	Name     string
	Email    string // address that the provider has verified; may be empty
	// SignedInAt is the time of the sign-in at the identity provider.
	SignedInAt time.Time
}

// Class is a change of an operator's type, House tier, seeded flag or key tier by an administrator. A nil field leaves the value
// unchanged.
type Class struct {
	Handle  protocol.Handle
	Type    *protocol.OperatorType
	House   *bool
	Actor   string
	Seeded  *bool
	KeyTier *string
	// Create requests a new seeded profile if the handle is free. DisplayName is its name; empty: the handle.
	Create      bool
	DisplayName string
}

// FreshSignIn is the time after a sign-in during which a session may change the payout address, create keys on the pages, export
// the data of the account and delete the account.
const FreshSignIn = 15 * time.Minute

// IsFresh reports whether the user signed in within FreshSignIn before the time now. For the zero time, it returns false.
func IsFresh(signedInAt, now time.Time) bool { return now.Sub(signedInAt) <= FreshSignIn }

// ErrUnknown is the error of a request for an unknown operator or key.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "there is no such operator or key")
