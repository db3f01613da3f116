package kalshi

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	mostMarkets = 1000
	mostEvents  = 200
	usualLimit  = 100
	mostTickers = 1000
)

// queryWords are the words of the status filter, which are not those of the
// field, and the field's words that each covers.
var queryWords = map[string][]string{
	"unopened": {wordInitialized}, "open": {wordActive}, "paused": {wordInactive},
	"closed": {wordClosed, wordDetermined, wordDisputed, wordAmended}, "settled": {wordFinalized},
}

// wanted reads the status filter; nil is no filter.
func wanted(v url.Values) (words []string, fault string) {
	text := v.Get("status")
	if text == "" {
		return nil, ""
	}
	for _, one := range strings.Split(text, ",") {
		covered, known := queryWords[one]
		if !known {
			return nil, "status: unsupported value"
		}
		words = append(words, covered...)
	}
	return words, ""
}

// place reads where a page begins and how long it is.
func place(v url.Values, most int) (after int64, limit int, fault string) {
	after, limit = 1<<62, usualLimit
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, 0, "limit: must be between 1 and " + strconv.Itoa(most)
		}
		limit = n
	}
	if text := v.Get("cursor"); text != "" {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil {
			after, err = strconv.ParseInt(string(raw), 10, 64)
		}
		if err != nil {
			return 0, 0, "cursor: invalid"
		}
	}
	return after, limit, ""
}

func cursor(last int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(last, 10)))
}

// cut takes a page of a falling list; next is empty on the last one.
func cut(ids []int64, after int64, limit int) (page []int64, next string) {
	from := slices.IndexFunc(ids, func(id int64) bool { return id < after })
	if from < 0 {
		return nil, ""
	}
	to := min(from+limit, len(ids))
	page = ids[from:to]
	if to < len(ids) {
		next = cursor(page[len(page)-1])
	}
	return page, next
}

// listEvents leaves combinations out, as the venue does.
func (s *Service) listEvents(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	words, text := wanted(v)
	after, limit, text2 := place(v, mostEvents)
	if text+text2 != "" {
		refuse(w, text+text2)
		return
	}
	heads := s.events.Get(s.world, v.Get("status")+" "+v.Get("series_ticker"), func() []int64 { return s.heads(words, v.Get("series_ticker")) })
	page, next := cut(heads, after, limit)
	out := make([]event, 0, len(page))
	for _, head := range page {
		list := s.world.Members(head)
		if len(list) == 0 {
			continue
		}
		e := s.event(list)
		if nested(r) {
			e.Markets = s.all(list)
		}
		out = append(out, e)
	}
	reply.JSON(w, http.StatusOK, struct {
		Events []event `json:"events"`
		Cursor string  `json:"cursor"`
	}{out, next})
}

// heads are the first markets of the events in which one is in a wanted state.
func (s *Service) heads(words []string, series string) []int64 {
	now, seen := s.world.Now(), map[int64]bool{}
	s.world.Range(func(m world.Market) bool {
		if (words == nil || slices.Contains(words, word(&m, now))) && (series == "" || seriesTicker(&m) == series) && !s.archived(&m) {
			seen[m.Event.Head] = true
		}
		return true
	})
	out := make([]int64, 0, len(seen))
	for head := range seen {
		out = append(out, head)
	}
	slices.SortFunc(out, func(a, b int64) int { return int(b - a) })
	return out
}

func (s *Service) listMarkets(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	words, text := wanted(v)
	after, limit, text2 := place(v, mostMarkets)
	if text+text2 != "" {
		refuse(w, text+text2)
		return
	}
	ids, text := s.selected(v, words)
	if text != "" {
		refuse(w, text)
		return
	}
	page, next := cut(ids, after, limit)
	out := make([]any, 0, len(page))
	for _, id := range page {
		if id < 0 {
			out = append(out, s.combo(-id))
		} else if m, ok := s.world.Get(id); ok {
			out = append(out, s.render(&m))
		}
	}
	reply.JSON(w, http.StatusOK, struct {
		Markets []any  `json:"markets"`
		Cursor  string `json:"cursor"`
	}{out, next})
}

// selected gives the numbers of the markets that a list request means.
func (s *Service) selected(v url.Values, words []string) (ids []int64, fault string) {
	if text := v.Get("tickers"); text != "" {
		return s.named(strings.Split(text, ","), words)
	}
	eventKey, seriesKey, plain := v.Get("event_ticker"), v.Get("series_ticker"), v.Get("mve_filter") == "exclude"
	key := strings.Join([]string{v.Get("status"), eventKey, seriesKey, v.Get("mve_filter")}, " ")
	// Newest first; combinations, whose numbers are below zero, last.
	return s.kept.Get(s.world, key, func() (out []int64) {
		now := s.world.Now()
		s.world.Range(func(m world.Market) bool {
			if (words == nil || slices.Contains(words, word(&m, now))) && (eventKey == "" || eventTicker(&m) == eventKey) &&
				(seriesKey == "" || seriesTicker(&m) == seriesKey) && !s.archived(&m) {
				out = append(out, m.ID)
			}
			return true
		})
		if !plain && eventKey == "" && seriesKey == "" && (words == nil || slices.Contains(words, wordActive)) {
			for i := range int64(combos) {
				out = append(out, -i-1)
			}
		}
		slices.SortFunc(out, func(a, b int64) int { return int(b - a) })
		return out
	}), ""
}

// named finds markets by their tickers; those that are not live are left out.
func (s *Service) named(tickers, words []string) (ids []int64, fault string) {
	if len(tickers) > mostTickers {
		return nil, "tickers: too many"
	}
	now := s.world.Now()
	for _, key := range tickers {
		if n, ok := s.combinationNumber(key); ok && (words == nil || slices.Contains(words, wordActive)) {
			ids = append(ids, -n)
		} else if m, ok := s.Find(key); ok && !s.archived(&m) && (words == nil || slices.Contains(words, word(&m, now))) {
			ids = append(ids, m.ID)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int { return int(b - a) })
	return slices.Compact(ids), ""
}
