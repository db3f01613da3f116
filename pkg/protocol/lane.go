package protocol

import "strings"

// Lane is the topic of a market.
type Lane string

// Lanes of markets. LaneOther is for markets without a topic; lists cannot be filtered by it.
const (
	LanePolitics      Lane = "POLITICS"
	LaneCrypto        Lane = "CRYPTO"
	LaneSport         Lane = "SPORT"
	LaneCulture       Lane = "CULTURE"
	LaneMusic         Lane = "MUSIC"
	LaneTech          Lane = "TECH"
	LaneEconomy       Lane = "ECONOMY"
	LaneScience       Lane = "SCIENCE"
	LaneWorld         Lane = "WORLD"
	LaneEntertainment Lane = "ENTERTAINMENT"
	LaneOther         Lane = "OTHER"
)

// Lanes contains all lanes, in the order in which the protocol lists them.
var Lanes = [...]Lane{
	LanePolitics, LaneCrypto, LaneSport, LaneCulture, LaneMusic, LaneTech,
	LaneEconomy, LaneScience, LaneWorld, LaneEntertainment, LaneOther,
}

// LaneNames returns the names of content lanes or programme lanes, separated by commas, for error texts.
func LaneNames[L ~string](lanes []L) string {
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = string(l)
	}
	return strings.Join(names, ", ")
}

// ParseLane returns the lane s, including OTHER, or false for any other text.
func ParseLane(s string) (Lane, bool) { return oneOf(s, Lanes[:]...) }

// LaneFilter parses the query parameter lane, in upper or lower case. For an unknown lane and for OTHER it returns
// "", which means no filter.
func LaneFilter(raw string) Lane {
	if len(raw) > len(LaneEntertainment) {
		return ""
	}
	l, ok := ParseLane(strings.ToUpper(raw))
	if !ok || !l.Filterable() {
		return ""
	}
	return l
}

// Filterable reports whether lists can be filtered by the lane. It is false for LaneOther and the empty lane.
func (l Lane) Filterable() bool { return l != "" && l != LaneOther }

// String implements fmt.Stringer.
func (l Lane) String() string { return string(l) }
