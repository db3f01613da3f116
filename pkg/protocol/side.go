package protocol

// Side is the direction of a call.
type Side string

// The two sides.
const (
	Yes Side = "YES"
	No  Side = "NO"
)

// ParseSide reads a side exactly.
func ParseSide(s string) (Side, bool) { return oneOf(s, Yes, No) }

// SideOf returns the side of a stored call, YES or NO.
func SideOf(yes bool) Side {
	if yes {
		return Yes
	}
	return No
}

// String implements fmt.Stringer.
func (s Side) String() string { return string(s) }

// Verdict is a claimed outcome of a market.
type Verdict string

// The verdicts.
const (
	VerdictYes     Verdict = "YES"
	VerdictNo      Verdict = "NO"
	VerdictInvalid Verdict = "INVALID"
)

// ParseVerdict reads a verdict exactly.
func ParseVerdict(s string) (Verdict, bool) { return oneOf(s, VerdictYes, VerdictNo, VerdictInvalid) }

// Side is the side that the verdict pays; none for INVALID.
func (v Verdict) Side() (Side, bool) { return ParseSide(string(v)) }

// String implements fmt.Stringer.
func (v Verdict) String() string { return string(v) }
