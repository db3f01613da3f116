package attention

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// MostRows is the maximum number of markets in a list that is sorted by attention score or by number of takes.
const MostRows = 100

// Row is an open market with its attention score and its rank by that score.
type Row struct {
	*Fact
	Score      int
	Rank       int // position among all open markets by descending score, from 1
	Percentile int // share of all open markets with a lower score, in percent
	Delta      int // change of the score within an hour; 0 if the earlier score is unknown or the market is in no list
	Parts      Components
}

// state is the computed result of one reading of the open markets. It does not change after the method compare has run.
type state struct {
	at         time.Time
	rows       []Row // in ascending order of rank
	indexes    map[protocol.MarketID]int
	tops       map[protocol.Lane][]int // indexes of the MostRows best rows of each lane; the empty lane is all lanes
	taken      []Row                   // the MostRows markets with the most takes in 24 hours; a market without takes is omitted
	heatmap    heatmap
	moves      [len(protocol.Windows)][]movement.Move
	situations [len(protocol.Windows)][]movement.Situation
	seen       map[Sighting]time.Time // times at which these moves and situations were first seen
	stored     map[Sighting]time.Time // the same times for the sightings in the store
}

func newState(facts []Fact, stored map[Sighting]time.Time, before *state, now time.Time) *state {
	st := &state{at: now, stored: stored}
	st.rankMarkets(facts)
	st.listTaken()
	st.heatmap = newHeatmap(st.rows, now)
	st.findMoves(before)
	return st
}

// rankMarkets computes the attention score of each market, and fills rows, indexes and tops. Rows are sorted by descending
// score, then by descending volume in 24 hours, then by id.
func (st *state) rankMarkets(facts []Fact) {
	st.rows = make([]Row, len(facts))
	lower := [101 + 1]int{} // lower[s+1]: first the number of markets with score s, later with a score up to s
	for i := range facts {
		f := &facts[i]
		move, _ := f.Delta(protocol.Window24h, st.at)
		parts := Weigh(volume24h(f), move, f.Signals24h, f.Viewers, f.Takes24h)
		st.rows[i] = Row{Fact: f, Score: parts.Score(), Parts: parts}
		lower[st.rows[i].Score+1]++
	}
	for s := 1; s < len(lower); s++ {
		lower[s] += lower[s-1]
	}
	slices.SortFunc(st.rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(volume24h(b.Fact), volume24h(a.Fact)), strings.Compare(string(a.ID), string(b.ID)))
	})
	st.indexes = make(map[protocol.MarketID]int, len(st.rows))
	st.tops = make(map[protocol.Lane][]int)
	for i := range st.rows {
		r := &st.rows[i]
		r.Rank = i + 1
		r.Percentile = int(math.Round(100 * float64(lower[r.Score]) / float64(len(st.rows))))
		st.indexes[r.ID] = i
		for _, lane := range [...]protocol.Lane{"", r.Lane} {
			if top := st.tops[lane]; len(top) < MostRows {
				st.tops[lane] = append(top, i)
			}
		}
	}
}

// listTaken fills taken with at most MostRows markets that have takes in the last 24 hours, by descending number of takes,
// then by descending score.
func (st *state) listTaken() {
	for _, r := range st.rows {
		if r.Takes24h > 0 {
			st.taken = append(st.taken, r)
		}
	}
	slices.SortStableFunc(st.taken, func(a, b Row) int { return cmp.Compare(b.Takes24h, a.Takes24h) })
	st.taken = slices.Clip(st.taken[:min(len(st.taken), MostRows)])
}

// findMoves finds the moves and situations of each window and the time at which each was first seen. This time comes from
// the store, or else from the previous result. For a new move or situation it is the time of this reading.
func (st *state) findMoves(before *state) {
	st.seen = make(map[Sighting]time.Time)
	since := func(s Sighting) time.Time {
		at, known := st.stored[s]
		if !known && before != nil {
			at, known = before.seen[s]
		}
		if !known {
			at = st.at
		}
		st.seen[s] = at
		return at
	}
	list := make([]*movement.Market, len(st.rows))
	for i := range st.rows {
		list[i] = &st.rows[i].Market
	}
	for i, w := range protocol.Windows {
		moves := movement.Moves(list, w, st.at)
		for j := range moves {
			moves[j].DetectedAt = since(Sighting{OfMove, w, string(moves[j].Market.ID)})
		}
		st.moves[i] = moves
		st.situations[i] = movement.Situations(moves)
		for j := range st.situations[i] {
			s := &st.situations[i][j]
			s.DetectedAt = since(Sighting{OfSituation, w, s.Key()})
		}
	}
}

// shown returns the ids of the markets in the lists of tops, each id once.
func (st *state) shown() []protocol.MarketID {
	places := make(map[int]bool)
	var out []protocol.MarketID
	for _, top := range st.tops {
		for _, i := range top {
			if !places[i] {
				places[i] = true
				out = append(out, st.rows[i].ID)
			}
		}
	}
	return out
}

// compare sets Delta of the given markets: the present score minus the earlier score in scores.
func (st *state) compare(scores map[protocol.MarketID]int) {
	for id, score := range scores {
		if i, known := st.indexes[id]; known {
			st.rows[i].Delta = st.rows[i].Score - score
		}
	}
}

// sightings returns the sightings of this reading that are not stored yet, and the stored sightings that this reading does not
// contain.
func (st *state) sightings() (added map[Sighting]time.Time, ended []Sighting) {
	added = make(map[Sighting]time.Time)
	for s, at := range st.seen {
		if _, known := st.stored[s]; !known {
			added[s] = at
		}
	}
	for s := range st.stored {
		if _, moves := st.seen[s]; !moves {
			ended = append(ended, s)
		}
	}
	return added, ended
}
