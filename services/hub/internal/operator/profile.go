package operator

import "github.com/signalcast/signalcast/pkg/apperr"

// ErrSession refuses a change of the payout address that does not come from a session with
// a recent sign-in.
var ErrSession = apperr.New(apperr.Forbidden, "session_required",
	"payoutAddress is changed in a session only, at most 15 minutes after its sign-in: sign in again").With("field", "payoutAddress")

// Change is a text that may be left out, set, or cleared.
type Change struct {
	Given bool
	Text  *string // nil: cleared
}

// Profile is what an operator says of itself in a signed message. Nil members stay
// as they are.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// Automated declares a human operator an ai_agent. Only an administrator undoes it.
	Automated bool
}
