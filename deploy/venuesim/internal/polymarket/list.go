package polymarket

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	keysetLimit = 100
	eventLimit  = 500
	legacyLimit = 500
	usualLimit  = 20
	maxOffset   = 2000
)

// orders are the words of the order parameter and what each sorts by.
var orders = map[string]func(*world.Market) float64{
	"id":           func(m *world.Market) float64 { return float64(m.ID) },
	"volumeNum":    func(m *world.Market) float64 { return m.Volume },
	"volume":       func(m *world.Market) float64 { return m.Volume },
	"volume24hr":   func(m *world.Market) float64 { return m.Volume24h },
	"liquidityNum": func(m *world.Market) float64 { return m.Liquidity },
	"liquidity":    func(m *world.Market) float64 { return m.Liquidity },
	"endDate":      func(m *world.Market) float64 { return seconds(m.End) },
	"startDate":    func(m *world.Market) float64 { return seconds(m.Start) },
	"createdAt":    func(m *world.Market) float64 { return seconds(m.Start) },
	"closedTime":   func(m *world.Market) float64 { return seconds(m.Ended()) },
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

// row is a market's place in a sorted listing.
type row struct {
	key float64
	id  int64
}

// query is a list request after its parameters were read.
type query struct {
	filters   []func(*world.Market) bool
	direct    []string // look-up keys that replace a walk over everything
	hasDirect bool
	order     string
	ascending bool
	limit     int
	offset    int
	after     *row
	withTags  bool
	cacheKey  string
}

func (q query) less(a, b row) int {
	c := cmp.Compare(a.key, b.key)
	if c == 0 {
		c = cmp.Compare(a.id, b.id)
	}
	if !q.ascending {
		c = -c
	}
	return c
}

func (q query) match(m *world.Market) bool {
	for _, f := range q.filters {
		if !f(m) {
			return false
		}
	}
	return true
}

// parse reads the parameters of a list; the error text is the venue's.
func parse(v url.Values, most int) (query, error) {
	q := query{order: "id", ascending: true, limit: usualLimit}
	var err error
	if o := v.Get("order"); o != "" {
		if _, known := orders[o]; !known {
			return q, errors.New("order fields are not valid")
		}
		q.order, q.ascending = o, false
	}
	if err = flag(v, "ascending", func(b bool) { q.ascending = b }); err != nil {
		return q, err
	}
	if err = flag(v, "include_tag", func(b bool) { q.withTags = b }); err != nil {
		return q, err
	}
	if q.limit, err = whole(v, "limit", usualLimit); err != nil {
		return q, err
	}
	q.limit = min(q.limit, most)
	if q.offset, err = whole(v, "offset", 0); err != nil {
		return q, err
	}
	if c := v.Get("after_cursor"); c != "" {
		if q.after, err = readCursor(c, q); err != nil {
			return q, err
		}
	}
	return q, q.conditions(v)
}

func flag(v url.Values, name string, set func(bool)) error {
	switch v.Get(name) {
	case "":
	case "true":
		set(true)
	case "false":
		set(false)
	default:
		return errors.New(name + " is invalid")
	}
	return nil
}

func whole(v url.Values, name string, usual int) (int, error) {
	if v.Get(name) == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(v.Get(name))
	if err != nil || n < 0 {
		return 0, errors.New(name + " is invalid")
	}
	return n, nil
}

// A cursor holds the last row that was given out.
func writeCursor(r row, q query) string {
	text := fmt.Sprintf("%s|%t|%s|%d", q.order, q.ascending, strconv.FormatFloat(r.key, 'g', -1, 64), r.id)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func readCursor(c string, q query) (*row, error) {
	bad := errors.New("after_cursor is invalid")
	raw, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil {
		return nil, bad
	}
	parts := strings.Split(string(raw), "|")
	if len(parts) != 4 || parts[0] != q.order || parts[1] != strconv.FormatBool(q.ascending) {
		return nil, bad
	}
	key, err1 := strconv.ParseFloat(parts[2], 64)
	id, err2 := strconv.ParseInt(parts[3], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, bad
	}
	return &row{key, id}, nil
}

// listing sorts what a query matches.
func (s *Service) listing(q query) []row {
	return s.kept.Get(s.world, q.cacheKey, func() (rows []row) {
		key := orders[q.order]
		take := func(m world.Market) bool {
			if q.match(&m) {
				rows = append(rows, row{key(&m), m.ID})
			}
			return true
		}
		if q.hasDirect {
			for _, k := range q.direct {
				if m, found := s.lookUp(k); found {
					take(m)
				}
			}
		} else {
			s.world.Range(take)
		}
		slices.SortFunc(rows, q.less)
		return slices.Compact(rows)
	})
}

// page cuts one answer out of a listing; next is empty on the last one.
func page(rows []row, q query) (out []row, next string) {
	from := q.offset
	if q.after != nil {
		at, exact := slices.BinarySearchFunc(rows, *q.after, q.less)
		if exact {
			at++
		}
		from = at
	}
	from = min(from, len(rows))
	to := min(from+q.limit, len(rows))
	out = rows[from:to]
	if to < len(rows) && len(out) > 0 {
		next = writeCursor(out[len(out)-1], q)
	}
	return out, next
}

// Key is the venue's own key of a market.
func (s *Service) Key(m *world.Market) string { return strconv.FormatInt(m.ID, 10) }

// Find finds a market by its number.
func (s *Service) Find(key string) (world.Market, bool) {
	id, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return world.Market{}, false
	}
	return s.world.Get(id)
}

// lookUp finds by number, condition id, token or slug.
func (s *Service) lookUp(key string) (world.Market, bool) {
	if id, err := strconv.ParseInt(key, 10, 64); err == nil {
		return s.world.Get(id)
	}
	return s.world.Find(key)
}
