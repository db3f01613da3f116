package search

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Sort is the order of markets that fit equally well.
type Sort string

// The orders. ByVolume is the default.
const (
	ByVolume    Sort = "volume"
	ByVolume24h Sort = "volume24h"
	ByEndDate   Sort = "endDate" // the soonest first
)

// ParseSort reads a `sort` query parameter; anything unknown is the default.
func ParseSort(raw string) Sort {
	switch s := Sort(raw); s {
	case ByVolume24h, ByEndDate:
		return s
	}
	return ByVolume
}

// Most and Default are the sizes of a page.
const (
	Most    = 100
	Default = 100
)

// Query is a search. A blank Text is every market.
type Query struct {
	Text     string
	Provider syntax.Provider // empty: every one
	Lane     syntax.Lane     // empty: every lane
	Closed   bool            // those that are closed or resolved; else the open ones
	Sort     Sort
	Limit    int    // 1 to Most; outside of it Default and Most
	Cursor   string // of a page before; one of another order starts from the beginning
}

// rank is the place of a market in an answer: the lower comes first.
type rank struct {
	class class
	value float64 // rises; unknown is +Inf
	id    syntax.MarketID
}

func (r rank) before(o rank) bool {
	switch {
	case r.class != o.class:
		return r.class < o.class
	case r.value != o.value:
		return r.value < o.value
	}
	return r.id < o.id
}

// value is what the order goes by.
func (s Sort) value(d *Doc) float64 {
	var v *float64
	switch s {
	case ByEndDate:
		if d.EndDate == nil {
			return math.Inf(1)
		}
		return float64(d.EndDate.UnixMicro())
	case ByVolume24h:
		v = d.Volume24h
	default:
		v = d.Volume
	}
	if v == nil || math.IsNaN(*v) {
		return math.Inf(1)
	}
	return -*v
}

// cursorKeys is the number of keys of a cursor: sort, class, value.
const cursorKeys = 3

func (q *Query) cursor(r rank) string {
	return syntax.NewCursor(string(r.id), string(q.Sort), strconv.Itoa(int(r.class)),
		strconv.FormatFloat(r.value, 'g', -1, 64)).Encode()
}

// after reads the cursor; false is the beginning.
func (q *Query) after() (rank, bool) {
	c, ok := syntax.DecodeCursor(q.Cursor, cursorKeys)
	if !ok || c.Keys[0] != string(q.Sort) {
		return rank{}, false
	}
	fit, ok := c.Int(1)
	value, err := strconv.ParseFloat(c.Keys[2], 64)
	if !ok || fit < 0 || fit > int64(typo) || err != nil || math.IsNaN(value) {
		return rank{}, false
	}
	return rank{class(fit), value, syntax.MarketID(c.ID)}, true
}

// takes tells whether the filters let a market pass. One of unknown status is
// neither open nor closed.
func (q *Query) takes(d *Doc) bool {
	switch d.Status {
	case syntax.MarketOpen:
		if q.Closed {
			return false
		}
	case syntax.MarketClosed, syntax.MarketResolved:
		if !q.Closed {
			return false
		}
	default:
		return false
	}
	return (q.Provider == "" || d.Provider == q.Provider) && (q.Lane == "" || d.Lane == q.Lane)
}

// scratch is the memory of one search: how well each market fits, 0 not at all.
type scratch struct{ fits, now []class }

func (s *scratch) size(n int) {
	s.fits = slices.Grow(s.fits[:0], n)[:n]
	s.now = slices.Grow(s.now[:0], n)[:n]
}

// Find gives the markets whose name and slug have every word of the text, the
// beginnings and insides of words included: those that have the words
// themselves first, then by the order. Only where no market has them all are
// words taken that differ by one letter. next is empty behind the last page.
func (x *Index) Find(q Query) (ids []syntax.MarketID, next string) {
	q.Sort = ParseSort(string(q.Sort))
	if q.Limit < 1 {
		q.Limit = Default
	}
	q.Limit = min(q.Limit, Most)
	words := queryTokens(q.Text)
	if len(words) == 0 && strings.TrimSpace(q.Text) != "" {
		return nil, "" // signs alone are in no name
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	mem := x.spare.Get().(*scratch)
	defer x.spare.Put(mem)
	mem.size(len(x.docs))
	for _, tolerant := range [...]bool{false, true} {
		x.weigh(mem, words, tolerant)
		if page, next, any := x.page(&q, mem); any || len(words) == 0 {
			return page, next
		}
	}
	return nil, ""
}

// weigh notes how well each market fits: as well as the worst of the words.
func (x *Index) weigh(mem *scratch, words []string, tolerant bool) {
	for i := range mem.fits {
		mem.fits[i] = exact
	}
	for _, text := range words {
		clear(mem.now)
		t := newToken(text, tolerant)
		for i := range x.words {
			w := &x.words[i]
			fit := t.fit(w)
			if fit == 0 {
				continue
			}
			for _, d := range w.docs {
				if mem.now[d] == 0 || fit < mem.now[d] {
					mem.now[d] = fit
				}
			}
		}
		for d, fit := range mem.now {
			if fit == 0 || mem.fits[d] == 0 {
				mem.fits[d] = 0
			} else if fit > mem.fits[d] {
				mem.fits[d] = fit
			}
		}
	}
}

// page takes the best markets behind the cursor. any tells whether there is a
// market at all, before or behind it.
func (x *Index) page(q *Query, mem *scratch) (ids []syntax.MarketID, next string, any bool) {
	after, some := q.after()
	best := make([]rank, 0, q.Limit+2)
	for d, fit := range mem.fits {
		if fit == 0 || !q.takes(&x.docs[d].Doc) {
			continue
		}
		any = true
		r := rank{fit, q.Sort.value(&x.docs[d].Doc), x.docs[d].ID}
		if some && !after.before(r) || len(best) > q.Limit && !r.before(best[q.Limit]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, func(a, b rank) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, r)
		best = best[:min(len(best), q.Limit+1)]
	}
	if len(best) > q.Limit {
		best = best[:q.Limit]
		next = q.cursor(best[q.Limit-1])
	}
	ids = make([]syntax.MarketID, len(best))
	for i := range best {
		ids[i] = best[i].id
	}
	return ids, next, any
}
