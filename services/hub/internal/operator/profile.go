package operator

import "github.com/signalcast/signalcast/pkg/apperr"

// ErrSession is the error of a change of the payout address without a session that has a recent sign-in.
var ErrSession = apperr.New(apperr.Forbidden, "session_required",
	"payoutAddress can be changed only in a session that is at most 15 minutes after its sign-in; sign in again").With("field", "payoutAddress")

// Change is a change of a text: absent, a new value, or cleared.
type Change struct {
	Given bool
	Text  *string // nil: clear
}

// Profile is a change of an operator's profile; nil members keep their value.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// Automated changes a human operator to ai_agent. Only an administrator can revert it.
	Automated bool
}
