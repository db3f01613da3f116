package syntax

// Side is the direction of a call.
type Side string

// The two sides.
const (
	Yes Side = "YES"
	No  Side = "NO"
)

// ParseSide reads a side exactly.
func ParseSide(s string) (Side, bool) {
	switch Side(s) {
	case Yes, No:
		return Side(s), true
	}
	return "", false
}

// Opposite is the other side.
func (s Side) Opposite() Side {
	if s == Yes {
		return No
	}
	return Yes
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
func ParseVerdict(s string) (Verdict, bool) {
	switch Verdict(s) {
	case VerdictYes, VerdictNo, VerdictInvalid:
		return Verdict(s), true
	}
	return "", false
}

// Side is the side that the verdict pays; none for INVALID.
func (v Verdict) Side() (Side, bool) { return ParseSide(string(v)) }

// String implements fmt.Stringer.
func (v Verdict) String() string { return string(v) }
