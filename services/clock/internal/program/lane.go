package program

import (
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Lane is the key of a programme lane; a market's clock category is one.
type Lane string

// laneTable is the one table of programme lanes, in the order in which they
// are shown, with the content lane that each belongs to.
var laneTable = [...]struct {
	lane    Lane
	label   string
	content protocol.Lane
}{
	{"sports", "SPORTS", protocol.LaneSport},
	{"music", "MUSIC", protocol.LaneMusic},
	{"film", "FILM", protocol.LaneEntertainment},
	{"tv", "TV", protocol.LaneEntertainment},
	{"fashion", "FASHION", protocol.LaneCulture},
	{"culture", "CULTURE", protocol.LaneCulture},
	{"crypto", "CRYPTO", protocol.LaneCrypto},
	{"politics", "POLITICS", protocol.LanePolitics},
	{"news", "NEWS", protocol.LaneWorld},
	{"science", "SCIENCE", protocol.LaneScience},
	{"tech", "TECH", protocol.LaneTech},
	{"economy", "ECONOMY", protocol.LaneEconomy},
}

// Lanes lists every programme lane in the order in which they are shown.
func Lanes() []Lane {
	out := make([]Lane, len(laneTable))
	for i, row := range laneTable {
		out[i] = row.lane
	}
	return out
}

// DefaultLanes are the lanes of the default channel where nothing else is set.
func DefaultLanes() []Lane {
	return []Lane{"sports", "music", "film", "tv", "fashion", "crypto"}
}

// ParseLane reads a lane key exactly.
func ParseLane(s string) (Lane, bool) {
	i := Lane(s).index()
	return Lane(s), i >= 0
}

// ParseLanes reads a lane key, or the name of a content lane in any case,
// which stands for every lane under it. A text that is both (culture) is the
// key in lower case and the content lane otherwise. Anything else is no lane.
func ParseLanes(s string) []Lane {
	if l, ok := ParseLane(s); ok {
		return []Lane{l}
	}
	if len(s) > len(protocol.LaneEntertainment) {
		return nil
	}
	content := protocol.Lane(strings.ToUpper(s))
	var out []Lane
	for _, row := range laneTable {
		if row.content == content {
			out = append(out, row.lane)
		}
	}
	return out
}

// Label is how the lane is shown.
func (l Lane) Label() string {
	if i := l.index(); i >= 0 {
		return laneTable[i].label
	}
	return strings.ToUpper(string(l))
}

// index is the place in the table, -1 for what is no lane.
func (l Lane) index() int {
	for i := range laneTable {
		if laneTable[i].lane == l {
			return i
		}
	}
	return -1
}

// laneSet is a set of lanes; the zero set is empty.
type laneSet uint16

func (s laneSet) with(l Lane) laneSet {
	if i := l.index(); i >= 0 {
		s |= 1 << i
	}
	return s
}

func (s laneSet) has(index int) bool { return index >= 0 && s&(1<<index) != 0 }

// lanes lists the members in table order.
func (s laneSet) lanes() []Lane {
	var out []Lane
	for i := range laneTable {
		if s.has(i) {
			out = append(out, laneTable[i].lane)
		}
	}
	return out
}
