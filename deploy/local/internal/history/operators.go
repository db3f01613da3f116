package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Operator is an operator that files calls in the history. Type is empty for a person.
type Operator struct {
	Issuer      string `json:"issuer"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type,omitempty"`
	House       bool   `json:"house,omitempty"`
}

// member is an operator and the rules by which the generator chooses its calls.
type member struct {
	name     string
	kind     string // operator type; empty: a person
	house    bool
	habit    habit
	skill    float64 // share of the markets whose outcome the operator knows
	activity float64 // relative number of calls
}

// habit is the rule by which an operator chooses a side when it does not know the outcome.
type habit int

const (
	byPrice    habit = iota // YES with the probability of the price
	favourites              // the side with the higher price
	longShots               // the side with the lower price
	alwaysNo
)

// newCast returns n operators. The first operator is a house account, and one in twelve is a bot. About one in four operators
// has skill.
func newCast(seed uint64, n int) []member {
	out := make([]member, n)
	for i := range out {
		r := newRand(seed, streamOperator, i)
		m := member{name: name(i), activity: 0.4 + 1.2*r.Float64()}
		switch roll := r.Float64(); {
		case i == 0:
			m.name, m.house, m.skill = "night_desk", true, 0.08
		case i%12 == 5:
			m.kind, m.activity, m.habit = "ai_agent", 2.4, alwaysNo
			if i%24 == 5 {
				m.habit, m.skill = byPrice, 0.10
			}
		case roll < 0.20:
			m.habit = favourites
		case roll < 0.35:
			m.habit = longShots
		case roll < 0.60:
			m.skill = 0.04 + 0.22*r.Float64()
		}
		out[i] = m
	}
	return out
}

// side returns the side that the operator calls. The parameter p is the YES price from 0 to 1. The parameter verdict is the
// outcome of the market, which a skilled operator sometimes knows.
func (m member) side(r *rand.Rand, p float64, verdict string) string {
	if r.Float64() < m.skill {
		return verdict
	}
	yes := r.Float64() < p
	switch m.habit {
	case favourites:
		yes = p >= 0.5
	case longShots:
		yes = p < 0.5
	case alwaysNo:
		yes = false
	}
	if yes {
		return "YES"
	}
	return "NO"
}

// pick returns the index of a random operator in cast. The probability of each operator is proportional to its activity.
func pick(r *rand.Rand, cast []member) int {
	sum := 0.0
	for _, m := range cast {
		sum += m.activity
	}
	at := r.Float64() * sum
	for i, m := range cast {
		if at -= m.activity; at < 0 {
			return i
		}
	}
	return len(cast) - 1
}

// title returns the display name of an operator: its words, each with a capital.
func title(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

var (
	adjectives = []string{
		"amber", "quiet", "northern", "copper", "early", "silver", "patient", "harbour", "winter", "lucid", "plain", "velvet",
		"distant", "steady", "hollow", "bright", "salt", "narrow", "green", "old", "brisk", "paper", "wander", "second", "upper",
	}
	nouns = []string{
		"heron", "ledger", "lantern", "compass", "otter", "signal", "meridian", "sparrow", "anchor", "cinder", "fathom", "kestrel",
		"orchard", "pilot", "quarry", "ripple", "summit", "thistle", "umbra", "vesper", "willow", "yarrow", "zephyr", "beacon",
	}
)

// name returns the user name of the i-th operator: an adjective and a noun. After all pairs are used, it also contains a
// number.
func name(i int) string {
	s := adjectives[i%len(adjectives)] + "_" + nouns[(i%len(adjectives)*7+i/len(adjectives))%len(nouns)]
	if round := i / (len(adjectives) * len(nouns)); round > 0 {
		return fmt.Sprintf("%s_%d", s, round+1)
	}
	return s
}
