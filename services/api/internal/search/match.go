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
	Near        string   // a tsquery that is fast for one market
	All         string   // a tsquery that is fast for the index; it selects the same or more
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
	// mostNear is the number of words of a tsquery that is fast for one market.
	mostNear = 50
)

// Word is one word of a query, as it is searched.
type Word struct {
	Text       string
	Whole      bool     // a market has it
	Beginning  bool     // a market has a word that begins with it
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
	m := Match{Parts: []string{}, BetterParts: []string{}}
	near := q.filters()
	m.Every = len(words) == 0 && len(near) == 1
	all := slices.Clone(near)
	differs := c == whole // from the class before
	for _, w := range words {
		switch part := len(w.Text) >= minInside; {
		case c == misspelled && len(w.misspelled) > 0 && w.around != nil:
			term := anyOf(append(slices.Clone(w.around), w.misspelled...))
			near, all, differs = append(near, term), append(all, term), true
			m.Unread = m.Unread || len(w.around)+len(w.misspelled) > mostNear
		case c >= inside && part:
			m.Parts = append(m.Parts, "%"+w.Text+"%")
			if w.around != nil {
				if len(w.around) == 0 {
					return m, false
				}
				all = append(all, anyOf(w.around))
			}
			differs = differs || c == inside && (w.around == nil || slices.ContainsFunc(w.around, w.precedes))
		case c >= beginning:
			if !w.Beginning && !w.Whole {
				return m, false
			}
			near, all = append(near, "'"+w.Text+"':*"), append(all, "'"+w.Text+"':*")
			differs = differs || c == beginning && w.Beginning
		default:
			if !w.Whole {
				return m, false
			}
			near, all = append(near, "'"+w.Text+"'"), append(all, "'"+w.Text+"'")
		}
	}
	m.Near, m.All = strings.Join(near, "&"), strings.Join(all, "&")
	return m, differs
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
