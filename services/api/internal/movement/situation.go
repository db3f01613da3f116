package movement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// MostMarkets is the largest number of markets that a situation contains.
const MostMarkets = 12

// Criticality is the severity of a situation.
type Criticality string

// Criticalities, each with its smallest change in bps.
const (
	Critical Criticality = "Critical" // 2000
	Elevated Criticality = "Elevated" // 800
	Routine  Criticality = "Routine"
)

// CriticalityOf returns the criticality of a change in bps of either sign.
func CriticalityOf(peak int) Criticality {
	switch peak = abs(peak); {
	case peak >= 2000:
		return Critical
	case peak >= 800:
		return Elevated
	}
	return Routine
}

// Situation is the moving markets of one event of a provider, or one moving market without an event.
type Situation struct {
	Moves      []Move // at most MostMarkets, the largest change (the lead) first
	Count      int    // number of all moving markets
	Volume     float64
	Score      int       // 0-100
	DetectedAt time.Time // when the situation was first seen; set by the caller
	key        string
}

// Lead returns the market with the largest change.
func (s *Situation) Lead() *Market { return s.Moves[0].Market }

// Peak returns the signed change of the lead in bps.
func (s *Situation) Peak() int { return s.Moves[0].Delta() }

// Criticality returns the criticality of the peak.
func (s *Situation) Criticality() Criticality { return CriticalityOf(s.Peak()) }

// Key returns an id of the situation that is unique within its window.
func (s *Situation) Key() string { return s.key }

// situationKey returns the key that is equal for all markets of one situation.
func (m *Market) situationKey() string {
	if m.EventKey == "" {
		return string(m.Provider) + ":market:" + string(m.ID)
	}
	return string(m.Provider) + ":event:" + m.EventKey
}

// Headline returns "<title> <rises|falls> <n> points" with the title of the event, or of the market if the venue names
// no event.
func (s *Situation) Headline() string {
	verb, peak := "rises", s.Peak()
	if peak < 0 {
		verb = "falls"
	}
	return fmt.Sprintf("%s %s %d points", cmp.Or(s.Lead().EventTitle, s.Lead().Title), verb, (abs(peak)+50)/100)
}

// Situations groups moves, which must be in the order of Moves, into situations. The order is by descending score, then
// by descending change, then by descending volume.
func Situations(moves []Move) []Situation {
	indexes := make(map[string]int)
	var out []Situation
	for _, m := range moves {
		key := m.Market.situationKey()
		at, known := indexes[key]
		if !known {
			at = len(out)
			indexes[key] = at
			out = append(out, Situation{key: key})
		}
		s := &out[at]
		s.Count++
		s.Volume += *m.Market.Volume
		if len(s.Moves) < MostMarkets {
			s.Moves = append(s.Moves, m)
		}
	}
	for i := range out {
		out[i].Score = Score(out[i].Peak(), out[i].Volume, out[i].Count)
	}
	slices.SortFunc(out, func(a, b Situation) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(abs(b.Peak()), abs(a.Peak())), cmp.Compare(b.Volume, a.Volume),
			strings.Compare(a.key, b.key))
	})
	return out
}

// Score returns the score of a situation, 0 to 100, from its peak in bps, its volume in USD and the number of its
// moving markets.
func Score(peak int, volume float64, markets int) int {
	points := float64(abs(peak)) / 100
	weight := 0.6 + float64(0.4*min(1, math.Log10(1+max(volume, 0))/7))
	return min(100, int(math.Round(points*weight))+min(10, 2*(markets-1)))
}

// InLane returns the items of a lane, at most limit. The empty lane selects all.
func InLane[T any](list []T, lane protocol.Lane, of func(*T) protocol.Lane, limit int) []T {
	limit = max(limit, 0)
	out := make([]T, 0, min(limit, len(list)))
	for i := range list {
		if len(out) == limit {
			break
		}
		if lane == "" || of(&list[i]) == lane {
			out = append(out, list[i])
		}
	}
	return out
}
