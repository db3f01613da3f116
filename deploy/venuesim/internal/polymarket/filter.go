package polymarket

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const maxLookups = 100

// conditions turns the filter parameters into tests. Parameters that the venue
// does not know are ignored without a word, as it does.
func (q *query) conditions(v url.Values) error {
	for _, name := range []string{"id", "slug", "condition_ids", "clob_token_ids"} {
		if err := q.lookups(v, name); err != nil {
			return err
		}
	}
	q.add(func(m *world.Market) bool { return !m.Finished() }) // unless closed=true is asked for
	if err := flag(v, "closed", func(want bool) {
		q.filters[len(q.filters)-1] = func(m *world.Market) bool { return m.Finished() == want }
	}); err != nil {
		return err
	}
	if err := flag(v, "active", func(want bool) {
		q.add(func(m *world.Market) bool { return m.Placeholder != want })
	}); err != nil {
		return err
	}
	if err := flag(v, "archived", func(want bool) {
		q.add(func(*world.Market) bool { return !want })
	}); err != nil {
		return err
	}
	if id := v.Get("tag_id"); id != "" {
		q.add(func(m *world.Market) bool {
			return slices.ContainsFunc(m.Tags, func(t world.Tag) bool { return t.ID == id })
		})
	}
	if word := v.Get("uma_resolution_status"); word != "" {
		q.add(func(m *world.Market) bool {
			return string(m.State) == word && m.State != world.Open && m.State != world.Closed
		})
	}
	if err := q.ranges(v); err != nil {
		return err
	}
	q.cacheKey = cacheKey(v)
	return nil
}

func (q *query) add(f func(*world.Market) bool) { q.filters = append(q.filters, f) }

func (q *query) lookups(v url.Values, name string) error {
	var list []string
	for _, value := range v[name] {
		list = append(list, strings.Split(value, ",")...)
	}
	if len(list) == 0 {
		return nil
	}
	if len(list) > maxLookups {
		return errors.New(name + " has too many values")
	}
	if name == "id" && slices.ContainsFunc(list, func(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err != nil }) {
		return errors.New("id is invalid")
	}
	if !q.hasDirect {
		q.direct, q.hasDirect = list, true
		return nil
	}
	q.add(func(m *world.Market) bool {
		return slices.ContainsFunc(list, func(s string) bool {
			return s == strconv.FormatInt(m.ID, 10) || s == m.Slug || s == m.ConditionID || slices.Contains(m.Tokens, s)
		})
	})
	return nil
}

// ranges reads the paired limits on money and dates.
func (q *query) ranges(v url.Values) error {
	for prefix, get := range map[string]func(*world.Market) float64{
		"volume_num": orders["volumeNum"], "liquidity_num": orders["liquidityNum"],
		"start_date": orders["startDate"], "end_date": orders["endDate"],
	} {
		for _, end := range []string{"_min", "_max"} {
			text := v.Get(prefix + end)
			if text == "" {
				continue
			}
			bound, ok := bound(text, strings.HasSuffix(prefix, "date"))
			if !ok {
				return errors.New(prefix + end + " is invalid")
			}
			q.add(func(m *world.Market) bool {
				if end == "_min" {
					return get(m) >= bound
				}
				return get(m) <= bound && (get(m) > 0 || !strings.HasSuffix(prefix, "date"))
			})
		}
	}
	return nil
}

func bound(text string, date bool) (float64, bool) {
	if !date {
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Unix()), true
		}
	}
	return 0, false
}

// cacheKey is the request without its position.
func cacheKey(v url.Values) string {
	c := url.Values{}
	for name, values := range v {
		if name != "after_cursor" && name != "offset" && name != "limit" {
			c[name] = values
		}
	}
	return c.Encode()
}
