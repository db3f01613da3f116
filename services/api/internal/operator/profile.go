package operator

// Change is a text that may be left out, set, or cleared.
type Change struct {
	Given bool
	Text  *string // nil: cleared
}

// Profile is what an operator says of itself with a signed message; the front
// door has checked its form. Nil members stay as they are.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Change
	Links         []string
	PayoutAddress Change
	// Automated declares a human operator an ai_agent. Only an administrator undoes it.
	Automated bool
}
