package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Relation says why a market belongs with another one.
type Relation string

// The relations, the closest first.
const (
	SameEvent Relation = "same_event"
	Similar   Relation = "similar"
	SameLane  Relation = "same_lane"
)

const (
	// MostRelated is the size of the list of related markets.
	MostRelated = 12
	// minSimilar is the least similarity of titles that counts.
	minSimilar = 0.2
)

// Related is one market that belongs with another one.
type Related struct {
	ID         syntax.MarketID
	Relation   Relation
	Similarity float64 // of the titles, 0 to 1, two decimals
}

// stopWords say nothing about what a market is about.
var stopWords = wordSet("a an and are as at be before by end for from has have he her his if in into is it its of on or " +
	"over she than that the their they this to under up was what when which who will with")

func wordSet(list string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range tokens(list) {
		out[w] = true
	}
	return out
}

// candidate is a market with what its place in the list goes by.
type candidate struct {
	Related
	order  int // of the relation
	closed bool
	volume float64
}

func (a candidate) compare(b candidate) int {
	if c := cmp.Compare(a.order, b.order); c != 0 {
		return c
	}
	if a.closed != b.closed {
		if a.closed {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(b.volume, a.volume), strings.Compare(string(a.ID), string(b.ID)))
}

// Related finds what belongs with a market, which need not be in the index: the
// same event, a similar title, the same lane; within each open markets before the
// others, the largest first. Markets of unknown status are left out.
func (x *Index) Related(d Doc) []Related {
	x.mu.RLock()
	defer x.mu.RUnlock()
	shared, own := x.shared(d.Title)
	var best []candidate
	take := func(place int32, order int, relation Relation) {
		e := &x.docs[place]
		if e.ID == d.ID || e.Status == syntax.MarketUnknown {
			return
		}
		c := candidate{order: order, closed: e.Status != syntax.MarketOpen, volume: math.Inf(-1)}
		c.Related = Related{e.ID, relation, hundredths(jaccard(shared[place], own, len(e.title)))}
		if e.Volume != nil {
			c.volume = *e.Volume
		}
		at, _ := slices.BinarySearchFunc(best, c, candidate.compare)
		if at < MostRelated {
			best = slices.Insert(best, at, c)
			best = best[:min(len(best), MostRelated)]
		}
	}
	done := make(map[int32]bool)
	if d.EventKey != "" {
		for _, place := range x.events[d.EventKey] {
			if x.docs[place].Provider == d.Provider { // two venues may use one word
				done[place] = true
				take(place, 0, SameEvent)
			}
		}
	}
	for place, n := range shared {
		if !done[place] && jaccard(n, own, len(x.docs[place].title)) >= minSimilar {
			done[place] = true
			take(place, 1, Similar)
		}
	}
	// OTHER is where markets are that have no lane.
	if len(best) < MostRelated && d.Lane.Filterable() {
		for place := range x.docs {
			if x.docs[place].Lane == d.Lane && !done[int32(place)] {
				take(int32(place), 2, SameLane)
			}
		}
	}
	out := make([]Related, len(best))
	for i := range best {
		out[i] = best[i].Related
	}
	return out
}

// shared counts for each market how many words of a title its own title has, and
// the words of the title.
func (x *Index) shared(title string) (counts map[int32]int, own int) {
	counts = make(map[int32]int)
	for _, text := range tokens(title) {
		if stopWords[text] {
			continue
		}
		own++
		id, known := x.ids[text]
		if !known {
			continue
		}
		for _, place := range x.words[id].docs {
			// A word of the slug alone does not count.
			if _, in := slices.BinarySearch(x.docs[place].title, id); in {
				counts[place]++
			}
		}
	}
	return counts, own
}

// jaccard is the share of the words of both that both have.
func jaccard(shared, a, b int) float64 {
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(a+b-shared)
}

func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

// Related finds what belongs with a market. Fault: db_unavailable while the
// catalogue has not been read.
func (s *Service) Related(ctx context.Context, d Doc) ([]Related, error) {
	if err := s.await(ctx); err != nil {
		return nil, err
	}
	return s.index.Related(d), nil
}
