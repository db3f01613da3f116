package search

import (
	"math"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sort is the order of markets that match equally well.
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
	Provider protocol.Provider // empty: every one
	Lane     protocol.Lane     // empty: every lane
	Closed   bool              // those that are closed or resolved; else the open ones
	Sort     Sort
	Limit    int    // 1 to Most; outside of it Default and Most
	Cursor   string // of a page before; one of another order starts from the beginning
}

// MaxWords is the number of words of a query that are searched; maxQuery the number of its bytes.
const (
	MaxWords = 12
	maxQuery = 400
)

// text returns the text to search, valid for the database. The last word of a text that is too long is not a whole one.
func (q *Query) text() string {
	s := q.Text
	if len(s) > maxQuery {
		s = s[:maxQuery]
		if at := strings.LastIndexAny(s, " -+_/"); at > 0 {
			s = s[:at]
		}
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, " "), "\x00", " ")
}

// rank is the place of a market in an answer: the lower class comes first, then the lower value.
type rank struct {
	class class
	Found
}

// cursorKeys is the number of keys of a cursor: sort, class, value.
const cursorKeys = 3

func (q *Query) cursor(r rank) string {
	return protocol.NewCursor(string(r.ID), string(q.Sort), strconv.Itoa(int(r.class)),
		strconv.FormatFloat(r.Value, 'g', -1, 64)).Encode()
}

// after returns the last market of the page before, which precedes all markets for the first page.
func (q *Query) after() rank {
	first := rank{class: whole, Found: Found{Value: math.Inf(-1)}}
	c, ok := protocol.DecodeCursor(q.Cursor, cursorKeys)
	if !ok || c.Keys[0] != string(q.Sort) {
		return first
	}
	fit, ok := c.Int(1)
	value, err := strconv.ParseFloat(c.Keys[2], 64)
	if !ok || fit < int64(whole) || fit > int64(misspelled) || err != nil || math.IsNaN(value) {
		return first
	}
	return rank{class(fit), Found{protocol.MarketID(c.ID), value}}
}
