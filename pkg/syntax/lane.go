package syntax

import "strings"

// Lane is a content lane.
type Lane string

// The eleven lanes. OTHER is the unclassified fallback and no filter option.
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

// Lanes lists all lanes in the order of the protocol.
var Lanes = [...]Lane{
	LanePolitics, LaneCrypto, LaneSport, LaneCulture, LaneMusic, LaneTech,
	LaneEconomy, LaneScience, LaneWorld, LaneEntertainment, LaneOther,
}

// ParseLane reads a lane exactly, OTHER too.
func ParseLane(s string) (Lane, bool) {
	for _, l := range Lanes {
		if string(l) == s {
			return l, true
		}
	}
	return "", false
}

// LaneFilter reads a `lane` query parameter in any case. An unknown value and
// OTHER give the empty lane: no filter.
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

// Filterable reports whether the lane may be asked for.
func (l Lane) Filterable() bool { return l != "" && l != LaneOther }

// String implements fmt.Stringer.
func (l Lane) String() string { return string(l) }
