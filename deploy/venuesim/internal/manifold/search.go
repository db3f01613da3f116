package manifold

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	mostRows   = 1000
	usualRows  = 100
	mostOffset = 1000
)

// row is a market's place in a listing.
type row struct {
	key float64
	at  int64 // creation
	id  int64
}

// orders are the words of the sort parameter; the highest comes first.
var orders = map[string]func(*world.Market) float64{
	"newest":    func(m *world.Market) float64 { return float64(created(m)) },
	"score":     func(m *world.Market) float64 { return m.Volume24h },
	"liquidity": func(m *world.Market) float64 { return m.Liquidity },
}

var (
	filters = []string{"open", "closed", "resolved", "all"}
	kinds   = []string{"ALL", "BINARY", "MULTIPLE_CHOICE", "POLL", "PSEUDO_NUMERIC", "STONK", "BOUNTIED_QUESTION", "NUMBER", "MULTI_NUMERIC", "DATE"}
)

// choice reads a parameter that takes one of some words.
func choice(w http.ResponseWriter, v url.Values, name, usual string, words []string) (string, bool) {
	word := v.Get(name)
	if word == "" {
		word = usual
	}
	if !slices.Contains(words, word) {
		refuse(w, name, "Invalid enum value. Expected '"+strings.Join(words, "' | '")+"', received '"+word+"'")
		return "", false
	}
	return word, true
}

// whole reads a parameter that takes a number from 0 up.
func whole(w http.ResponseWriter, v url.Values, name string, usual, most int64) (int64, bool) {
	if !v.Has(name) {
		return usual, true
	}
	n, err := strconv.ParseInt(v.Get(name), 10, 64)
	switch {
	case err != nil:
		refuse(w, name, "Expected number, received nan")
	case n < 0:
		refuse(w, name, "Number must be greater than or equal to 0")
	case n > most:
		refuse(w, name, "Number must be less than or equal to "+strconv.FormatInt(most, 10))
	default:
		return n, true
	}
	return 0, false
}

// search lists short records. A text is matched word by word.
func (s *Service) search(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	if unknown(w, v, "term", "filter", "contractType", "sort", "limit", "offset", "beforeTime", "topicSlug", "creatorId") {
		return
	}
	filter, ok1 := choice(w, v, "filter", "all", filters)
	if !ok1 {
		return
	}
	contractType, ok2 := choice(w, v, "contractType", "ALL", kinds)
	if !ok2 {
		return
	}
	sort, ok3 := choice(w, v, "sort", "score", []string{"newest", "score", "liquidity"})
	if !ok3 {
		return
	}
	limit, ok := whole(w, v, "limit", usualRows, mostRows)
	if !ok {
		return
	}
	offset, ok := whole(w, v, "offset", 0, mostOffset)
	if !ok {
		return
	}
	before, ok := whole(w, v, "beforeTime", 1<<62, 1<<62)
	if !ok {
		return
	}
	rows := s.kept.Get(s.world, strings.Join([]string{filter, contractType, sort}, " "), func() []row { return s.rows(filter, contractType, sort) })
	term, topic := strings.Fields(strings.ToLower(v.Get("term"))), v.Get("topicSlug")
	out := []any{}
	for _, r := range rows {
		if int64(len(out)) == limit {
			break
		}
		if r.at >= before {
			continue
		}
		m, found := s.world.Get(r.id)
		if !found || !says(&m, term) || topic != "" && !tagged(&m, topic) {
			continue
		}
		if offset > 0 {
			offset--
			continue
		}
		out = append(out, s.list(&m))
	}
	reply.JSON(w, http.StatusOK, out)
}

func says(m *world.Market, words []string) bool {
	question := strings.ToLower(m.Question)
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(question, word) })
}

func tagged(m *world.Market, topic string) bool {
	return slices.ContainsFunc(m.Tags, func(t world.Tag) bool { return t.Slug == topic || t.Slug+"-default" == topic })
}

func (s *Service) rows(filter, contractType, sort string) (out []row) {
	now, order := s.world.Now(), orders[sort]
	s.world.Range(func(m world.Market) bool {
		if contractType != "ALL" && contractType != kind(&m) {
			return true
		}
		fits := true
		switch filter {
		case "open":
			fits = open(&m, now)
		case "closed":
			fits = !open(&m, now) && !resolved(&m)
		case "resolved":
			fits = resolved(&m)
		}
		if fits {
			out = append(out, row{order(&m), created(&m), m.ID})
		}
		return true
	})
	slices.SortFunc(out, func(a, b row) int { return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(b.id, a.id)) })
	return out
}
