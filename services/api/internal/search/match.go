package search

import (
	"cmp"
	"slices"
	"strings"
)

// class says how well a market matches a query, the best first: as well as the worst of the words.
type class int

const (
	whole      class = iota + 1 // a word of the market
	beginning                   // the beginning of one
	inside                      // a part of one
	misspelled                  // one typing error away from one
)

// Nothing is a tsquery that no market matches: '=' is no word.
const Nothing = "'='"

// Match selects the markets of one class.
type Match struct {
	Near        string   // a tsquery
	All         string   // a tsquery that the index answers quickly; it selects the same or more
	Parts       []string // LIKE patterns that the words must match, too
	Better      string   // the tsquery and the patterns of the better class, which are left out
	BetterParts []string
	Every       bool // every market of the order matches
	Unread      bool // few markets match: the order is not read
}

const (
	// minInside is the length in bytes of a word that is searched inside of words. A script without spaces has three bytes a letter.
	minInside = 3
	// mostAround is the number of words that one part is searched as; a part of more is compared with the words of each market.
	mostAround = 1000
	// minRead is the share of the markets that have each word of a query for which their order is read. Where fewer have
	// one, a page is not found in it soon.
	minRead = 0.01
	// maxIndexed is the share of the markets above which a word is not searched in the index, if the query has another term.
	maxIndexed = 0.2
	// mostIndexed is the number of words that are searched in the index: the rarest. The others are compared in what it finds.
	mostIndexed = 3
	// mostCompared is the number of words one of which is searched in each market of an order.
	mostCompared = 50
)

// Word is one word of a query, as it is searched.
type Word struct {
	Text       string
	Whole      bool     // a market has it
	Beginning  bool     // a market has a word that begins with it
	Share      float64  // of the markets that have it, an estimate; 0 for a rare word
	PartShare  float64  // of those with a word that contains it
	around     []string // words that contain it; nil: more than mostAround
	misspelled []string
}

// precedes reports whether a word that contains w does not begin with it.
func (w *Word) precedes(word string) bool { return !strings.HasPrefix(word, w.Text) }

// filters returns the terms of the filters of a query.
func (q *Query) filters() []string {
	terms := []string{"'=OPEN'"}
	if q.Closed {
		terms[0] = "'=CLOSED'"
	}
	if q.Provider != "" {
		terms = append(terms, label(string(q.Provider)))
	}
	if q.Lane != "" {
		terms = append(terms, label(string(q.Lane)))
	}
	return terms
}

var quoted = strings.NewReplacer("'", "''", `\`, `\\`)

// label returns the term of a provider or lane.
func label(name string) string { return "'=" + quoted.Replace(strings.ToUpper(name)) + "'" }

// anyOf returns a term that matches each of some words.
func anyOf(words []string) string { return "('" + strings.Join(words, "'|'") + "')" }

// match returns what selects the markets of a class; false: there are none.
func (q *Query) match(c class, words []Word) (Match, bool) {
	near := q.filters()
	m := Match{Parts: []string{}, BetterParts: []string{}, Every: len(words) == 0 && len(near) == 1}
	filters := len(near)
	var terms []indexTerm
	differs := c == whole // from the class before
	for i := range words {
		w := &words[i]
		term, part, other := w.term(c)
		if term == "" && part == "" {
			return m, false
		}
		differs = differs || other
		share := w.Share
		if c > whole {
			share = w.PartShare
		}
		m.Unread = m.Unread || share < minRead || part == "" && c == misspelled && len(w.around)+len(w.misspelled) > mostCompared
		if part != "" {
			m.Parts = append(m.Parts, part)
		} else {
			near = append(near, term)
		}
		if term != "" {
			terms = append(terms, indexTerm{term, share})
		}
	}
	slices.SortStableFunc(terms, func(a, b indexTerm) int { return cmp.Compare(a.share, b.share) })
	all := slices.Clone(near[:filters])
	for i, t := range terms[:min(len(terms), mostIndexed)] {
		if t.share <= maxIndexed || i == 0 && filters == 1 && q.Closed {
			all = append(all, t.text)
		}
	}
	m.Near, m.All = strings.Join(near, "&"), strings.Join(all, "&")
	return m, differs
}

// indexTerm is a term of a tsquery with the share of the markets that it matches.
type indexTerm struct {
	text  string
	share float64
}

// term returns what selects the markets with a word in a class: a term of a tsquery, or a LIKE pattern with a term that selects the
// same or more and is empty where the index does not help. other reports whether it differs from that of the class before.
func (w *Word) term(c class) (term, part string, other bool) {
	switch {
	case c == misspelled && len(w.misspelled) > 0 && w.around != nil:
		return anyOf(append(slices.Clone(w.around), w.misspelled...)), "", true
	case c >= inside && len(w.Text) >= minInside:
		if w.around == nil {
			return "", "%" + w.Text + "%", c == inside
		}
		if len(w.around) == 0 {
			return "", "", false
		}
		return anyOf(w.around), "%" + w.Text + "%", c == inside && slices.ContainsFunc(w.around, w.precedes)
	case c >= beginning && (w.Beginning || w.Whole):
		return "'" + w.Text + "':*", "", c == beginning && w.Beginning
	case c == whole && w.Whole:
		return "'" + w.Text + "'", "", false
	}
	return "", "", false
}

// pairs returns a tsquery for titles that share at least a fifth of some words: each word where one is enough, else each pair.
func pairs(words []string) string {
	var terms []string
	for i, a := range words {
		if len(words) <= 5 {
			terms = append(terms, "'"+a+"'")
			continue
		}
		for _, b := range words[:i] {
			terms = append(terms, "'"+a+"'&'"+b+"'")
		}
	}
	return cmp.Or(strings.Join(terms, "|"), Nothing)
}
