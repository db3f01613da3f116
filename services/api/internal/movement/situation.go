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

// MostMarkets is the largest number of markets that are listed in one situation.
const MostMarkets = 12

// Criticality is the severity of a situation, by its largest price change.
type Criticality string

// Values of Criticality, with the smallest absolute price change of each in bps.
const (
	Critical Criticality = "Critical" // from 2000
	Elevated Criticality = "Elevated" // from 800
	Routine  Criticality = "Routine"
)

// CriticalityOf returns the criticality of a price change in bps. The sign of the change has no effect.
func CriticalityOf(peak int) Criticality {
	switch peak = abs(peak); {
	case peak >= 2000:
		return Critical
	case peak >= 800:
		return Elevated
	}
	return Routine
}

// Situation is the group of moves of all markets of one event at one provider, or the move of one market without an event.
type Situation struct {
	Moves      []Move // at most MostMarkets moves, the largest change (the lead) first
	Count      int    // number of all moves, also beyond MostMarkets
	Volume     float64
	Score      int       // 0-100
	DetectedAt time.Time // time at which the situation was first seen; set by the caller of Situations
	key        string
}

// Lead returns the market with the largest price change in the situation.
func (s *Situation) Lead() *Market { return s.Moves[0].Market }

// Peak returns the signed price change of the lead market in bps.
func (s *Situation) Peak() int { return s.Moves[0].Delta() }

// Criticality returns the criticality of the situation, which follows from its peak.
func (s *Situation) Criticality() Criticality { return CriticalityOf(s.Peak()) }

// Key returns an id of the situation that is unique among the situations of one window.
func (s *Situation) Key() string { return s.key }

// situationKey returns the key of the market's situation: the event at the provider, or the market itself if it has no
// event.
func (m *Market) situationKey() string {
	if m.EventKey == "" {
		return string(m.Provider) + ":market:" + string(m.ID)
	}
	return string(m.Provider) + ":event:" + m.EventKey
}

// Headline returns "<title> <rises|falls> <n> points", where n is the peak in percentage points. The title is the event title
// of the lead market, or the title of the lead market if it has no event title.
func (s *Situation) Headline() string {
	verb, peak := "rises", s.Peak()
	if peak < 0 {
		verb = "falls"
	}
	return fmt.Sprintf("%s %s %d points", cmp.Or(s.Lead().EventTitle, s.Lead().Title), verb, (abs(peak)+50)/100)
}

// Situations groups moves into situations. The moves must have the order in which the function Moves returns them. The result
// is sorted by descending score, then by descending absolute peak, then by descending volume.
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

// Score returns the score of a situation, 0 to 100. peak is its price change in bps, volume is its volume in USD, and
// markets is the number of its moving markets.
func Score(peak int, volume float64, markets int) int {
	points := float64(abs(peak)) / 100
	weight := 0.6 + float64(0.4*min(1, math.Log10(1+max(volume, 0))/7))
	return min(100, int(math.Round(points*weight))+min(10, 2*(markets-1)))
}

// InLane returns the items of list in the given lane, in order, at most limit. The function of returns the lane of an item. An
// empty lane selects all items.
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
