package search

import (
	"cmp"
	"slices"
	"strings"
)

// class is how well a market matches a query, the best first. It is the class of the worst matching word.
type class int

const (
	whole      class = iota + 1 // a whole word of the market
	beginning                   // the beginning of a word
	inside                      // a part of a word
	misspelled                  // one typing error away from a word
)

// Nothing is a tsquery that matches no market: '=' is never an indexed word.
const Nothing = "'='"

// Match selects the markets of one class.
type Match struct {
	Near        string   // a tsquery
	All         string   // a tsquery that the index answers quickly; it selects at least the markets of Near
	Parts       []string // LIKE patterns that the words must also match
	Better      string   // the tsquery of the better class, whose markets are excluded; BetterParts are its patterns
	BetterParts []string
	Every       bool // every market matches
	Unread      bool // few markets match, so that the index is faster than reading markets in their order
}

const (
	// minInside is the shortest word, in bytes, that is searched inside of words. Letters of scripts without spaces
	// have three bytes.
	minInside = 3
	// mostAround is the largest number of indexed words that a part of a word expands to. A more frequent part is
	// compared with the words of each market.
	mostAround = 1000
	// minRead is the share of the markets that must have each word of a query for a search in the order of the markets.
	// With a rarer word, such a search would read many markets until a page is full.
	minRead = 0.01
	// maxIndexed is the share of the markets above which a word is not searched in the index, if the query has another
	// term.
	maxIndexed = 0.2
	// mostIndexed is the number of words that are searched in the index, the rarest first. The results are then
	// compared with the other words.
	mostIndexed = 3
	// mostCompared is the largest number of alternatives of a word that are compared with each market when the markets
	// are read in their order.
	mostCompared = 50
)

// Word is one word of a query with its matches in the index.
type Word struct {
	Text       string
	Whole      bool     // some market has the word
	Beginning  bool     // some market has a word that begins with it
	Share      float64  // estimated share of the markets that have the word; 0 for a rare word
	PartShare  float64  // share of the markets with a word that contains it
	around     []string // indexed words that contain it; nil if there are more than mostAround
	misspelled []string
}

// precedes reports whether w occurs in word other than at its beginning. The caller passes a word that contains w.
func (w *Word) precedes(word string) bool { return !strings.HasPrefix(word, w.Text) }

// filters returns the index terms of the filters of a query.
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

// label returns the index term of a provider or lane.
func label(name string) string { return "'=" + quoted.Replace(strings.ToUpper(name)) + "'" }

// anyOf returns a term that matches any of the words.
func anyOf(words []string) string { return "('" + strings.Join(words, "'|'") + "')" }

// match returns the selection of the markets of a class. It returns false if the class has no markets, or the same
// markets as the class before it.
func (q *Query) match(c class, words []Word) (Match, bool) {
	near := q.filters()
	m := Match{Parts: []string{}, BetterParts: []string{}, Every: len(words) == 0 && len(near) == 1}
	filters := len(near)
	var terms []indexTerm
	differs := c == whole // from the class before it
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

// term returns the selection of the markets with a word in a class. It is a term of a tsquery, or a LIKE pattern with a
// term that selects at least the same markets. The term is empty when the index does not help. other reports whether
// the selection differs from that of the class before.
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

// pairs returns a tsquery for titles that share at least a fifth of the words. With at most five words it matches any
// one word, else any pair of words.
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
