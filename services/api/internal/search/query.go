package search

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Sort is the sort order of markets that match a query equally well.
type Sort string

// Values of Sort. ByVolume is the default. Volumes are sorted in descending order.
const (
	ByVolume    Sort = "volume"
	ByVolume24h Sort = "volume24h"
	ByEndDate   Sort = "endDate" // earliest end date first
	ByNewest    Sort = "newest"  // latest stored market first
	ByCalls     Sort = "calls"   // largest number of calls first
	ByMove      Sort = "move"    // largest change of the YES price in 24 hours first, of either sign
)

// ParseSort parses the name of a sort order. An unknown name means ByVolume.
func ParseSort(raw string) Sort {
	switch s := Sort(raw); s {
	case ByVolume24h, ByEndDate, ByNewest, ByCalls, ByMove:
		return s
	}
	return ByVolume
}

// Most is the largest number of markets on a page. Default is the number of markets on a page if the client states none.
const (
	Most    = 100
	Default = 100
)

// Status selects markets by their status.
type Status string

// Values of Status. No value selects markets with an unknown status.
const (
	StatusOpen     Status = "open"
	StatusClosed   Status = "closed" // without resolved markets
	StatusResolved Status = "resolved"
	StatusEnded    Status = "ended" // closed or resolved
	StatusAny      Status = "any"
)

// closed returns the values of the index column closed that the status selects.
func (s Status) closed() []bool {
	switch s {
	case StatusAny:
		return []bool{false, true}
	case StatusClosed, StatusResolved, StatusEnded:
		return []bool{true}
	}
	return []bool{false}
}

// Filter limits the markets of a query by values that have no words. Its zero value selects every market. A market without an
// end date is not selected if EndAfter or EndBefore is set, and one without a volume not if MinVolume is positive.
type Filter struct {
	EndAfter, EndBefore time.Time           // the end date is later, or earlier; zero: any
	MinVolume           float64             // in USD
	IDs                 []protocol.MarketID // only these markets; empty: any
}

// any reports whether the filter selects every market.
func (f *Filter) any() bool {
	return f.EndAfter.IsZero() && f.EndBefore.IsZero() && f.MinVolume <= 0 && len(f.IDs) == 0
}

// Query is a search for markets. A Text that contains only white space matches every market.
type Query struct {
	Text     string
	Provider protocol.Provider // empty: every provider
	Lane     protocol.Lane     // empty: every lane
	Status   Status            // empty: StatusOpen
	Filter   Filter
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
