package career

// Verdict is how a question ended.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "YES"
	No      Verdict = "NO"
	Invalid Verdict = "INVALID" // annulled: every call on it is void
)

// Side is one of the two sides of a question.
type Side string

// The sides.
const (
	CallYes Side = "YES"
	CallNo  Side = "NO"
)

// Question is one question with the price it had and the answer it got.
type Question struct {
	Source  string
	ID      string
	Text    string
	YesBps  int // market's YES price, 0 to 10000
	Verdict Verdict
}

// full is the price of a certainty in basis points.
const full = 10000

// Price is what a side of the question costs.
func (q Question) Price(s Side) int {
	if s == CallNo {
		return full - q.YesBps
	}
	return q.YesBps
}

// Favourite is the dearer side; YES at even odds.
func (q Question) Favourite() Side {
	if q.YesBps < full/2 {
		return CallNo
	}
	return CallYes
}

// Other is the opposite side.
func (s Side) Other() Side {
	if s == CallYes {
		return CallNo
	}
	return CallYes
}
