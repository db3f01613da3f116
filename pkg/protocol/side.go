package protocol

// Side is the outcome of a market that a call predicts: YES or NO.
type Side string

// Sides of a market.
const (
	Yes Side = "YES"
	No  Side = "NO"
)

// ParseSide returns the side s, or false for any other text.
func ParseSide(s string) (Side, bool) { return oneOf(s, Yes, No) }

// SideOf returns Yes if yes is true, and No otherwise.
func SideOf(yes bool) Side {
	if yes {
		return Yes
	}
	return No
}

// String implements fmt.Stringer.
func (s Side) String() string { return string(s) }

// Verdict is an outcome that a resolution claims for a market.
type Verdict string

// Verdicts of a resolution.
const (
	VerdictYes     Verdict = "YES"
	VerdictNo      Verdict = "NO"
	VerdictInvalid Verdict = "INVALID"
)

// ParseVerdict returns the verdict s, or false for any other text.
func ParseVerdict(s string) (Verdict, bool) { return oneOf(s, VerdictYes, VerdictNo, VerdictInvalid) }

// Side returns the side that wins with the verdict. It returns false for INVALID.
func (v Verdict) Side() (Side, bool) { return ParseSide(string(v)) }

// String implements fmt.Stringer.
func (v Verdict) String() string { return string(v) }
