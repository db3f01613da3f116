package program

import (
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Lane is the key of a programme lane, such as "sports". The category of a market in the programme is a Lane.
type Lane string

// laneTable lists the programme lanes in display order, each with its label and its content lane. A content lane is a topic of
// markets and can contain several programme lanes.
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

// Lanes returns all programme lanes in display order.
func Lanes() []Lane {
	out := make([]Lane, len(laneTable))
	for i, row := range laneTable {
		out[i] = row.lane
	}
	return out
}

// DefaultLanes returns the lanes of the default channel for an installation that does not configure lanes.
func DefaultLanes() []Lane {
	return []Lane{"sports", "music", "film", "tv", "fashion", "crypto"}
}

// ParseLane returns the lane with the key s and reports whether it exists. Keys are in lower case and must match exactly.
func ParseLane(s string) (Lane, bool) {
	i := Lane(s).index()
	return Lane(s), i >= 0
}

// ParseLanes returns the lane with the key s. If there is none, it returns all lanes of the content lane s, whose name may be in
// any case. For a name of both kinds, such as culture, lower case selects the single lane. It returns nil for any other text.
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

// Label returns the display name of the lane. For an unknown lane, it returns the key in upper case.
func (l Lane) Label() string {
	if i := l.index(); i >= 0 {
		return laneTable[i].label
	}
	return strings.ToUpper(string(l))
}

// index returns the index of the lane in laneTable, or -1 for an unknown lane.
func (l Lane) index() int {
	for i := range laneTable {
		if laneTable[i].lane == l {
			return i
		}
	}
	return -1
}

// laneSet is a bit set of lanes by their index in laneTable. The zero value is empty.
type laneSet uint16

func (s laneSet) with(l Lane) laneSet {
	if i := l.index(); i >= 0 {
		s |= 1 << i
	}
	return s
}

func (s laneSet) has(index int) bool { return index >= 0 && s&(1<<index) != 0 }

// lanes returns the lanes of the set in the order of laneTable.
func (s laneSet) lanes() []Lane {
	var out []Lane
	for i := range laneTable {
		if s.has(i) {
			out = append(out, laneTable[i].lane)
		}
	}
	return out
}
