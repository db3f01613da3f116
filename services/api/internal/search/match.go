package search

import (
	"cmp"
	"slices"
	"strings"
)

// class states how well a market matches a query. A smaller value is a better match. The class of a market is the class of the
// query word that matches worst.
type class int

const (
	whole      class = iota + 1 // the word of the query is a word of the market
	beginning                   // it is the beginning of a word of the market
	inside                      // it is a part of a word of the market
	misspelled                  // it is one typing error away from a word of the market
)

// Nothing is a tsquery (PostgreSQL search expression) that matches no market, because '=' is never an indexed word.
const Nothing = "'='"

// Match selects the markets of one class. Near, All and Better are tsqueries.
type Match struct {
	Near        string   // a tsquery
	All         string   // a tsquery that the index answers quickly; it selects at least the markets of Near
	Parts       []string // LIKE patterns that the indexed words of a market must also match
	Better      string   // the tsquery of the better class, whose markets are excluded; BetterParts are its patterns
	BetterParts []string
	Every       bool // every market matches, and no index is needed
	Unread      bool // few markets match, so that the index is faster than reading markets in their order
}

const (
	// minInside is the length, in bytes, from which a word is also searched inside of other words. A letter of a script
	// without spaces has three bytes.
	minInside = 3
	// mostAround is the largest number of indexed words to which a part of a word is expanded. If more words contain the
	// part, it is compared with the words of each market instead.
	mostAround = 1000
	// minRead is the share of the markets that must contain each word of a query, so that markets are read in their sort
	// order. For a rarer word, many markets would be read until a page is full.
	minRead = 0.01
	// maxIndexed is the share of the markets above which a word is not searched in the index, if the query has another
	// search term.
	maxIndexed = 0.2
	// mostIndexed is the largest number of words of a query that are searched in the index, the rarest first. The markets
	// found are then compared with the other words.
	mostIndexed = 3
	// mostCompared is the largest number of alternatives of a word that are compared with each market when the markets
	// are read in their order.
	mostCompared = 50
)

// Word is one word of a query and its matches in the search index.
type Word struct {
	Text       string
	Whole      bool     // at least one market has the word
	Beginning  bool     // at least one market has a word that begins with Text
	Share      float64  // estimated share of the markets that have the word; 0 for a rare word
	PartShare  float64  // estimated share of the markets with a word that contains Text
	around     []string // indexed words that contain Text; nil if there are more than mostAround
	misspelled []string
}

// precedes reports whether other text precedes the text of w in word. word must contain the text of w.
func (w *Word) precedes(word string) bool { return !strings.HasPrefix(word, w.Text) }

// filters returns the index terms for the status, provider and lane filters of a query. closed is a value of the index column
// closed.
func (q *Query) filters(closed bool) []string {
	terms := []string{"'=OPEN'"}
	if closed {
		terms[0] = "'=CLOSED'"
	}
	switch q.Status {
	case StatusClosed:
		terms = append(terms, "!'=RESOLVED'")
	case StatusResolved:
		terms = append(terms, "'=RESOLVED'")
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

// label returns the index term for a provider or a lane.
func label(name string) string { return "'=" + quoted.Replace(strings.ToUpper(name)) + "'" }

// anyOf returns a tsquery term that matches a market with any of the words.
func anyOf(words []string) string { return "('" + strings.Join(words, "'|'") + "')" }

// match returns the Match that selects the markets of class c with a value of the index column closed. It returns false if the
// class has no markets, or if it has the same markets as the next better class.
func (q *Query) match(c class, closed bool, words []Word) (Match, bool) {
	near := q.filters(closed)
	m := Match{Parts: []string{}, BetterParts: []string{}, Every: len(words) == 0 && len(near) == 1 && q.Filter.any()}
	filters := len(near)
	var terms []indexTerm
	differs := c == whole // true if the selection differs from that of the better class
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
		if t.share <= maxIndexed || i == 0 && filters == 1 && closed {
			all = append(all, t.text)
		}
	}
	m.Near, m.All = strings.Join(near, "&"), strings.Join(all, "&")
	return m, differs
}

// indexTerm is a term of a tsquery and the share of the markets that match it.
type indexTerm struct {
	text  string
	share float64
}

// term returns how the class c selects markets by the word w. The result is a tsquery term, or a LIKE pattern (part) with a
// tsquery term that matches at least the same markets. The term is empty if the index cannot help. Both are empty if no market
// matches. other reports whether the selection differs from that of the next better class.
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

// pairs returns a tsquery that matches every title whose Similarity to words is at least 0.2, and further titles. For at most
// five words, it matches each title with one of them. For more words, it matches each title with two of them. Without words,
// it matches no title.
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
