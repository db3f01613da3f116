package operator

import "github.com/signalcast/signalcast/pkg/apperr"

// ErrSession is the error of a change of the payout address without a session, or in a session whose sign-in is not recent.
var ErrSession = apperr.New(apperr.Forbidden, "session_required",
	"payoutAddress can be changed only with a session, within 15 minutes of signing in; sign in again").
	With("field", "payoutAddress")

// Change is the change of one text of a profile: no change, a new text, or deletion.
type Change struct {
	Given bool
	Text  *string // new value; nil: clear the text
}

// Profile is a change of an operator's profile. A nil field and a Change that is not given keep the stored value.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// OwnPicture means that Avatar is the address of the picture that this hub stores. It can be an http address in development.
	OwnPicture bool
	// Automated changes the type of a human operator to ai_agent. Only an administrator can reverse this.
	Automated bool
}
