package search

import (
	"math"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sort is the sort order of markets that match a query equally well.
type Sort string

// Values of Sort. ByVolume is the default. Volumes are sorted in descending order.
const (
	ByVolume    Sort = "volume"
	ByVolume24h Sort = "volume24h"
	ByEndDate   Sort = "endDate" // earliest end date first
)

// ParseSort parses the query parameter sort. An unknown value means ByVolume.
func ParseSort(raw string) Sort {
	switch s := Sort(raw); s {
	case ByVolume24h, ByEndDate:
		return s
	}
	return ByVolume
}

// Most is the largest number of markets on a page. Default is the number of markets on a page if the client states none.
const (
	Most    = 100
	Default = 100
)

// Query is a search for markets. A Text that contains only white space matches every market.
type Query struct {
	Text     string
	Provider protocol.Provider // empty: every provider
	Lane     protocol.Lane     // empty: every lane
	Closed   bool              // select closed and resolved markets instead of open markets
	Sort     Sort
	Limit    int    // 1 to Most; a smaller number means Default, a greater number means Most
	Cursor   string // from the previous page; a cursor of another sort order is ignored
}

// MaxWords is the largest number of words of a query that are searched. maxQuery is the largest number of bytes of its text.
const (
	MaxWords = 12
	maxQuery = 400
)

// text returns the search text as valid UTF-8 without zero bytes. It truncates a text longer than maxQuery, at the last word
// boundary if there is one.
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

// rank is the position of a market in a search result. Smaller classes come first, then smaller values.
type rank struct {
	class class
	Found
}

// cursorKeys is the number of keys in a cursor: sort order, class and value.
const cursorKeys = 3

func (q *Query) cursor(r rank) string {
	return protocol.NewCursor(string(r.ID), string(q.Sort), strconv.Itoa(int(r.class)),
		strconv.FormatFloat(r.Value, 'g', -1, 64)).Encode()
}

// after returns the position of the last market of the previous page. Without a valid cursor of the same sort order, it
// returns a position before all markets.
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
