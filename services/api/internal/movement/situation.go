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

// MostMarkets is how many of its markets a situation shows.
const MostMarkets = 12

// Criticality says how far a situation went.
type Criticality string

// The criticalities and the change that each begins at, bps.
const (
	Critical Criticality = "Critical" // 2000
	Elevated Criticality = "Elevated" // 800
	Routine  Criticality = "Routine"
)

// CriticalityOf ranks a change in bps of either sign.
func CriticalityOf(peak int) Criticality {
	switch peak = abs(peak); {
	case peak >= 2000:
		return Critical
	case peak >= 800:
		return Elevated
	}
	return Routine
}

// Situation is the moving markets of one event of a provider, or one moving
// market without an event.
type Situation struct {
	Moves      []Move // at most MostMarkets, the largest change first: the lead
	Count      int    // all that move
	Volume     float64
	Score      int       // 0-100
	DetectedAt time.Time // since when it is seen; set by the caller
	key        string
}

// Lead is the market that moved most.
func (s *Situation) Lead() *Market { return s.Moves[0].Market }

// Peak is the signed change of the lead.
func (s *Situation) Peak() int { return s.Moves[0].Delta() }

// Criticality is that of the peak.
func (s *Situation) Criticality() Criticality { return CriticalityOf(s.Peak()) }

// Key tells a situation from the others of its window.
func (s *Situation) Key() string { return s.key }

// story is what markets of one situation have in common.
func (m *Market) story() string {
	if m.EventKey == "" {
		return string(m.Provider) + ":market:" + string(m.ID)
	}
	return string(m.Provider) + ":event:" + m.EventKey
}

// Headline says what happened to the event, or to the market where the venue names
// no event: "<title> <rises|falls> <n> points".
func (s *Situation) Headline() string {
	verb, peak := "rises", s.Peak()
	if peak < 0 {
		verb = "falls"
	}
	return fmt.Sprintf("%s %s %d points", cmp.Or(s.Lead().EventTitle, s.Lead().Title), verb, (abs(peak)+50)/100)
}

// Situations makes stories of moves, which come in the order of Moves: the highest
// score first, of equal ones the larger change, then the larger volume.
func Situations(moves []Move) []Situation {
	places := make(map[string]int)
	var out []Situation
	for _, m := range moves {
		key := m.Market.story()
		at, known := places[key]
		if !known {
			at = len(out)
			places[key] = at
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

// Score weighs a situation, 0 to 100: its peak in bps, its volume in USD and how
// many markets move.
func Score(peak int, volume float64, markets int) int {
	points := float64(abs(peak)) / 100
	weight := 0.6 + float64(0.4*min(1, math.Log10(1+max(volume, 0))/7))
	return min(100, int(math.Round(points*weight))+min(10, 2*(markets-1)))
}

// InLane keeps what a lane filter lets through, at most limit; the empty lane is
// all.
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
